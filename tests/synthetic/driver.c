/* SPDX-License-Identifier: MIT */
/*
 * driver.c - defines synthetic events while sinks are open, and makes records of them.
 *
 *	driver DIRECTORY    into DIRECTORY/trace; and a text of the same to standard output
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tp/tp.h>

#include "events/synthetic.h"

#define WORD(text) ((uint64_t)(uintptr_t)(text))

static void hit(const char *name, const uint64_t *words)
{
	struct tp_synthetic *synthetic = tp_synthetic_hold(name);

	if (!synthetic)
		return;
	tp_synthetic_hit(synthetic, words);
	tp_synthetic_let_go(synthetic);
}

static void define(const char *definition)
{
	char *error;

	if (tp_synthetic_event(definition, &error))
		fprintf(stderr, "%s\n", error);
}

int main(int argc, char **argv)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/trace", argc > 1 ? argv[1] : ".");
	define("before u64 lat; pid_t pid; char comm[16]; char peer[]");
	struct tp_sink *trace = tp_ctf_sink(path, NULL), *text = tp_text_sink(stdout);
	if (!trace || !text)
		return 1;
	tp_enable(trace, "synthetic:*");
	tp_enable(text, "synthetic:*");
	define("behind s8 a; char[] one; unsigned long[] stack; u16 b; char[] two");
	hit("before", (uint64_t[]){1ull << 63, 42, WORD("a rather long name"), WORD("10.0.0.1")});
	hit("behind", (uint64_t[]){-5ull, WORD("first"), WORD(((const uint64_t[]){1, 2, 3, 0})), 65535, WORD("second")});
	hit("behind", (uint64_t[]){5, WORD(""), 0, 0, 0});
	/* Another layout of one name, as long as nobody uses it. */
	tp_disable(trace, "*:before");
	tp_disable(text, "*:before");
	define("!before");
	define("before char[] name; u64 lat");
	tp_enable(trace, "synthetic:before");
	tp_enable(text, "synthetic:before");
	hit("before", (uint64_t[]){WORD("again"), 2});
	tp_sink_close(trace);
	tp_sink_close(text);
	return 0;
}
