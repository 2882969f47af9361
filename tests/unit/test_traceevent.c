/* SPDX-License-Identifier: MIT */
/*
 * test_traceevent.c - libtraceevent reads our records by tp_event_format()'s
 * text, and prints them as we do.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <tp/assign.h>
#include <tp/print.h>
#include <tp/sink.h>
#include <tp/tp.h>

#include "describe.h"
#include "language.h"
#include "traceevent.h"
#include "util.h"

/* ---- A record ---- */

struct copy_sink {
	struct tp_sink head;
	size_t size;
	char record[4096] __attribute__((aligned(8)));
};

static struct copy_sink sink;

static bool copy_reserve(struct tp_record *rec)
{
	rec->entry = (struct trace_entry *)(void *)sink.record;
	sink.size = rec->size;
	return rec->size <= sizeof(sink.record);
}

static void copy_commit(struct tp_record *rec)
{
	(void)rec;
}

static int copy_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

static const struct tp_sink_ops copy_ops = {
	.name = "copy", .reserve = copy_reserve, .commit = copy_commit, .close = copy_close,
};

static const unsigned char address_v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

static void make_record(void)
{
	static const unsigned long bits[] = {0x89abcdef, 6};
	static const uint32_t words[] = {0x01020aff, 0xffffffff, 0x12345678, 0x9abcdef0};
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(8080)};
	struct language_values v = {
		.pair = {.a = -2, .b = 3}, .text = "text", .part = "partial", .part_len = 4, .bits = bits, .nr_bits = 68,
		.address = &address, .address_len = sizeof(address), .words = words, .nr_words = 4,
		.last = 12000000345,
	};
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	v.cpus = &cpus;
	memcpy(&address.sin6_addr, address_v6, sizeof(address_v6));
	tp_module_load(&language_module);
	ck_assert_int_eq(tp_sink_open(&sink.head, &copy_ops), 0);
	ck_assert_int_eq(tp_enable(&sink.head, "language:*"), 1);
	trace_language(&v, "%s %d", "message", 5);
	tp_sink_close(&sink.head);
	ck_assert_uint_gt(sink.size, sizeof(struct trace_event_raw_language));
}

/* ---- The ways to print it ---- */

/*
 * One text of TP_printk twice, as tpgen makes it: in C, where REC is the
 * record, and as a print format.
 */
#define CASE(name, fmt, ...) REWRITTEN(name, fmt, (__VA_ARGS__), fmt, #__VA_ARGS__)

/* The same where tpgen writes other C than the text says. */
#define ARGUMENTS(...) __VA_ARGS__
#define REWRITTEN(name, c_fmt, c_args, fmt, args)                                     \
	static void print_##name(struct trace_seq *p, const void *entry)              \
	{                                                                             \
		const struct trace_event_raw_language *__entry TP_UNUSED = entry;     \
		const size_t __start = p->len;                                        \
                                                                                      \
		tp_printk(p, __start, c_fmt, ARGUMENTS c_args);                       \
	}                                                                             \
	static const char fmt_##name[] = "\"" fmt "\", " args;

#define REC __entry
#define ENUM_LAST (__SIZEOF_LONG__ == 8 ? 12000000345 : 345)
typedef uint32_t u32;

#include "traceevent_cases.h"

#undef CASE
#undef REWRITTEN
#define CASE(name, ...) {#name, print_##name, fmt_##name},
#define REWRITTEN(name, ...) {#name, print_##name, fmt_##name},

static const struct {
	const char *name;
	void (*print)(struct trace_seq *p, const void *entry);
	const char *print_fmt;
} cases[] = {
#include "traceevent_cases.h"
};

static const struct part_eval evals[] = {{"ENUM_LAST", ENUM_LAST}, {"sizeof(u32)", 4}, {NULL, 0}};

static char ours[4096], format[8192];

/* Prints the record with case i in both ways. NULL where libtraceevent can't. */
static char *print_both(int i)
{
	struct tp_event event = tp_event_language;
	struct part fields[32];
	struct trace_seq seq;

	for (uint32_t n = 0; n < event.event_class->nr_fields; n++)
		fields[n] = (struct part){.field = tp_event_field_at(event.event_class, n)};
	event.event_class = describe(&(struct parts){fields, event.event_class->nr_fields, event.event_class->fixed_size,
						     cases[i].print_fmt, evals});
	trace_seq_init(&seq, ours, sizeof(ours));
	cases[i].print(&seq, sink.record);
	ck_assert(!seq.full);
	trace_seq_init(&seq, format, sizeof(format));
	ck_assert_int_eq(tp_event_format(&event, &seq), 0);
	return traceevent_print("language", format, sink.record, sink.size);
}

LOOP_TEST(prints_the_same, NR_OF(cases))
{
	if (!traceevent_load()) {
		printf("SKIPPED prints_the_same: libtraceevent-dev is not installed\n");
		return;
	}
	make_record();
	char *theirs = print_both(_i);
	ck_assert_msg(theirs != NULL, "%s: libtraceevent can't parse\n%s", cases[_i].name, format);
	ck_assert_msg(strcmp(ours, theirs) == 0, "%s: ours: '%s', theirs: '%s'", cases[_i].name, ours, theirs);
	free(theirs);
}
