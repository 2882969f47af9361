/* SPDX-License-Identifier: MIT */
/* Fires every event of forms.tp into the sinks of the environment, and counts what the callbacks and conditions do. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include <tp/tp.h>

DECLARE_TRACEPOINT(forms_event);
static int early(void)
{
	return tracepoint_enabled(forms_event);
}

#define CREATE_TRACE_POINTS
#include "forms.h"

DEFINE_TRACE(forms_bare);

static int users, failing, hits;

int forms_reg(void)
{
	if (failing)
		return -EBUSY;
	users++;
	return 0;
}

void forms_unreg(void)
{
	users--;
}

void forms_called(void)
{
}

static void count(void *data, int n)
{
	(void)data;
	hits += n;
}

static void count_fn(void *data)
{
	(void)data;
	hits++;
}

static void widen(void *data, struct pair *pair)
{
	(void)data;
	pair->left = 100;
}

static void expect(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "not so: %s\n", what);
		exit(1);
	}
}
#define EXPECT(condition) expect(condition, #condition)

static void fields(const char *format, ...)
{
	const unsigned long bits[2] = {0x8000000000000005, 0x21};
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(0x0a000001)};
	cpu_set_t cpus;
	va_list ap;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	va_start(ap, format);
	trace_forms_fields("text", 3, bits, &cpus, &address, format, &ap);
	va_end(ap);
}

static void all(void)
{
	struct pair pair = {1, 2};

	trace_forms_event(3);
	trace_forms_condition(0);
	trace_forms_condition(4);
	trace_forms_fn(5);
	trace_forms_print(5);
	trace_forms_event_condition(&pair);
	pair.left = 3;
	trace_forms_event_condition(&pair);
	trace_forms_fn_cond(6);
	trace_forms_fn_cond(7);
	trace_forms_syscall(8);
	trace_forms_nop(9);
	trace_forms_writable(&pair);
	trace_9forms(&pair);
	fields("%d-%s", 42, "v");
	trace_forms_twins("twin", 3);
	trace_forms_empty();
	trace_forms_ends(5);
	trace_forms_helpers(5, (1ULL << 40) + 1);
}

static void callbacks(void)
{
	struct pair pair = {1, 2};
	int before = users;

	EXPECT(!trace_forms_nop_enabled());
	EXPECT(!register_trace_forms_bare(count, NULL));
	trace_forms_bare(0);
	trace_forms_bare(3);
	EXPECT(hits == 3);
	EXPECT(!unregister_trace_forms_bare(count, NULL));
	EXPECT(!register_trace_forms_bare_event(count, NULL));
	trace_forms_bare_event(0);
	EXPECT(!unregister_trace_forms_bare_event(count, NULL));

	failing = 1;
	EXPECT(register_trace_forms_bare_fn(count_fn, NULL) == -EBUSY);
	trace_forms_bare_fn();
	EXPECT(hits == 3 && users == before);
	failing = 0;
	EXPECT(!register_trace_forms_bare_fn(count_fn, NULL));
	EXPECT(!register_trace_forms_bare_fn(count_fn, &hits));
	EXPECT(users == before + 1);
	trace_forms_bare_fn();
	EXPECT(hits == 5);
	EXPECT(!unregister_trace_forms_bare_fn(count_fn, NULL));
	EXPECT(users == before + 1);
	EXPECT(!unregister_trace_forms_bare_fn(count_fn, &hits));
	EXPECT(users == before);
	EXPECT(!register_trace_forms_bare_syscall(count_fn, NULL));
	EXPECT(users == before + 1);
	EXPECT(!unregister_trace_forms_bare_syscall(count_fn, NULL));
	EXPECT(users == before);

	EXPECT(!register_trace_forms_writable(widen, NULL));
	trace_forms_writable(&pair);
	EXPECT(pair.left == 100);
	EXPECT(!unregister_trace_forms_writable(widen, NULL));
	tracepoint_synchronize_unregister();
}

static void print_format(const struct tp_event *event, void *priv)
{
	char text[8192];
	struct trace_seq s;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s-%s", (const char *)priv, event->system, event->name);
	trace_seq_init(&s, text, sizeof(text));
	EXPECT(!tp_event_format(event, &s));
	FILE *file = fopen(path, "w");
	EXPECT(file && fputs(text, file) >= 0 && !fclose(file));
}

int main(int argc, char **argv)
{
	EXPECT(early() == trace_forms_event_enabled());
	all();
	if (argc > 1) {
		callbacks();
		tp_for_each_event(print_format, argv[1]);
	}
	return 0;
}
