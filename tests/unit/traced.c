/* SPDX-License-Identifier: MIT */
/*
 * traced.c - see traced.h.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"
#include "traced.h"
#include "util.h"

/* ---- The traced program ---- */

static bool traced;

void begin_traced(void)
{
	traced = true;
	puts("the program's own output");
	trace_sample_int(1);
	trace_sample_text("hello");
	fflush(stdout);
}

static void __attribute__((destructor)) last_words(void)
{
	if (traced)
		trace_sample_text("last words");
}

/* ---- Starting it ---- */

char dir[128];
char *out_text, *err_text;
static char out[160], err[160];

void setup_traced(void)
{
	snprintf(dir, sizeof(dir), "%s", temp_dir());
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(err, sizeof(err), "%s/err", dir);
}

int start(const char *what, const char *enable, const char *output)
{
	char value[512];
	int status;
	pid_t child = fork();

	if (child == 0) {
		ck_assert_ptr_nonnull(freopen(out, "w", stdout));
		ck_assert_ptr_nonnull(freopen(err, "w", stderr));
		unsetenv("TP_ENABLE");
		unsetenv("TP_OUTPUT");
		unsetenv("CK_TAP_LOG_FILE_NAME");
		if (enable)
			setenv("TP_ENABLE", enable, 1);
		if (output) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(value, sizeof(value), output, dir);
#pragma GCC diagnostic pop
			setenv("TP_OUTPUT", value, 1);
		}
		execl("/proc/self/exe", "traced", what, (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	free(out_text);
	free(err_text);
	out_text = read_file(out);
	err_text = read_file(err);
	/* Whatever happens to the tracing, the program does its work. */
	ck_assert_contains(out_text, "the program's own output");
	return status;
}

char *trace_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_file(path);
}
