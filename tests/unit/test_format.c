/* SPDX-License-Identifier: MIT */
/*
 * test_format.c - the text of an event's format file. What its readers make
 * of it is tested in test_traceevent.c.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

#include "events/events.h"
#include "describe.h"
#include "language.h"
#include "sample.h"
#include "util.h"

static char buffer[16384];
static struct trace_seq seq;

static const char *format_of(const struct tp_event *event)
{
	trace_seq_init(&seq, buffer, sizeof(buffer));
	ck_assert_int_eq(tp_event_format(event, &seq), 0);
	ck_assert_uint_eq(strlen(buffer), seq.len);
	return buffer;
}

/* ---- The text ---- */

#define COMMON                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void wake(void)
{
	tp_events_start();
}

FIXTURE(wake, NULL)

TEST(all_of_it)
{
	char expected[1024];

	snprintf(expected, sizeof(expected),
		 "name: sample_int\nID: %d\nformat:\n" COMMON
		 "\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n"
		 "\nprint fmt: \"value=%%d\", REC->value\n",
		 tp_event_sample_int.id);
	ck_assert_int_gt(tp_event_sample_int.id, 0);
	ck_assert_str_eq(format_of(&tp_event_sample_int), expected);
}

#define SIGNED_CHAR ((char)-1 < 0)

TEST(all_kinds)
{
	static const char expected[] =
		"\tfield:u8 first;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:struct language_pair pair;\toffset:16;\tsize:16;\tsigned:0;\n"
		"\tfield:char name[4];\toffset:32;\tsize:4;\tsigned:%d;\n"
		"\tfield:u8 bytes[16];\toffset:36;\tsize:16;\tsigned:0;\n"
		"\tfield:u8 mac[6];\toffset:52;\tsize:6;\tsigned:0;\n"
		"\tfield:__data_loc char[] text;\toffset:60;\tsize:4;\tsigned:%d;\n"
		"\tfield:__data_loc char[] part;\toffset:64;\tsize:4;\tsigned:%d;\n"
		"\tfield:__data_loc char[] message;\toffset:68;\tsize:4;\tsigned:%d;\n"
		"\tfield:__data_loc unsigned long[] bits;\toffset:72;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc cpumask_t cpus;\toffset:76;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u8[] address;\toffset:80;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u32[] words;\toffset:84;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc char rel_text[];\toffset:88;\tsize:4;\tsigned:%d;\n"
		"\tfield:__rel_loc char rel_part[];\toffset:92;\tsize:4;\tsigned:%d;\n"
		"\tfield:__rel_loc unsigned long rel_bits[];\toffset:96;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc cpumask_t rel_cpus;\toffset:100;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc u8 rel_address[];\toffset:104;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc u32 rel_words[];\toffset:108;\tsize:4;\tsigned:0;\n"
		"\tfield:s64 last;\toffset:112;\tsize:8;\tsigned:1;\n"
		"\nprint fmt: \"...\"\n";
	char text[4096];

	if (_Alignof(int64_t) != 8) /* other offsets */
		return;
	snprintf(text, sizeof(text), expected, SIGNED_CHAR, SIGNED_CHAR, SIGNED_CHAR, SIGNED_CHAR, SIGNED_CHAR,
		 SIGNED_CHAR);
	const char *format = format_of(&tp_event_language);
	ck_assert_contains(format, "name: language\nID: 0\nformat:\n" COMMON); /* not loaded */
	ck_assert_str_eq(strstr(format, "\tfield:u8 first"), text);
}

static const struct part_eval evals[] = {
	{"ONE", 1}, {"MINUS", -1}, {"LONG", INT64_MIN}, {"sizeof(struct page)", 64}, {"LEN", 16}, {"ONE", 7}, {NULL, 0},
};

static const struct {
	const char *fmt;
	const char *expected;
} eval_cases[] = {
	{"\"%d\", ONE", "\"%d\", 1"},
	{"\"%d\", ONE + MINUS*LONG", "\"%d\", 1 + -1*-9223372036854775808"},
	{"\"ONE %d\", ONE", "\"ONE %d\", 1"},
	{"\"a\\\"ONE\", ONE", "\"a\\\"ONE\", 1"},
	{"\"a\\\\\", ONE", "\"a\\\\\", 1"},
	{"\"\", 'ONE', ONE", "\"\", 'ONE', 1"},
	{"\"\", ONES, AONE, _ONE, ONE_, ONE1", "\"\", ONES, AONE, _ONE, ONE_, ONE1"},
	{"\"\", REC->ONE, REC.ONE, REC -> ONE", "\"\", REC->ONE, REC.ONE, REC -> ONE"},
	{"\"\", REC->x[ONE], (REC->x)->ONE", "\"\", REC->x[1], (REC->x)->1"}, /* as the kernel */
	{"\"\", REC->x->y.ONE", "\"\", REC->x->y.ONE"},
	{"\"\", sizeof(struct page) / 4, sizeof(struct pages)", "\"\", 64 / 4, sizeof(struct pages)"},
	{"\"\", 1ONE, 0xONE, 10UL", "\"\", 1ONE, 0xONE, 10UL"},
	{"\"\", __print_symbolic(REC->x, {ONE,\"ONE\"}, { LEN, \"LEN\" })",
	 "\"\", __print_symbolic(REC->x, {1,\"ONE\"}, { 16, \"LEN\" })"},
	{"ONE", "1"},
	{"", ""},
	{"\"ONE", "\"ONE"},
	{"\"ONE\\", "\"ONE\\"},
	{"REC->", "REC->"},
	{"REC.", "REC."},
};

static const char *evaluated(const char *fmt, const struct part_eval *table)
{
	const struct tp_event_class *class = describe(&(struct parts){.print_fmt = fmt, .evals = table});
	struct tp_event event = {.system = "s", .name = "n", .event_class = class};

	char *text = strstr(format_of(&event), "print fmt: ") + strlen("print fmt: ");
	text[strlen(text) - 1] = '\0'; /* the newline */
	return text;
}

LOOP_TEST(values_of_names, NR_OF(eval_cases))
{
	ck_assert_str_eq(evaluated(eval_cases[_i].fmt, evals), eval_cases[_i].expected);
	ck_assert_str_eq(evaluated(eval_cases[_i].fmt, NULL), eval_cases[_i].fmt);
	ck_assert_str_eq(evaluated(eval_cases[_i].fmt, &evals[6]), eval_cases[_i].fmt);
}

TEST(values_in_types)
{
	static const struct part fields[] = {
		{.field = {.name = "a", .type = "ONE", .kind = TP_FIELD, .offset = 8, .size = 4, .element_size = 4}},
		{.field = {.name = "b", .type = "char[LEN]", .kind = TP_FIELD, .offset = 12, .size = 16, .element_size = 16}},
		{.field = {.name = "c", .type = "u8[LEN]", .kind = TP_ARRAY, .offset = 28, .size = 32, .element_size = 16}},
		{.field = {.name = "d", .type = "int", .kind = TP_ARRAY, .offset = 60, .size = 0, .element_size = 4}},
		{.field = {.name = "e", .type = "struct none", .kind = TP_ARRAY, .offset = 60, .size = 0, .element_size = 0}},
	};
	const struct tp_event_class *class = describe(&(struct parts){.fields = fields, .nr_fields = 5, .evals = evals});
	struct tp_event event = {.system = "s", .name = "n", .event_class = class};
	const char *text = format_of(&event);

	ck_assert_contains(text, "\tfield:ONE a;\toffset:8;");
	ck_assert_contains(text, "\tfield:char[16] b;");
	ck_assert_contains(text, "\tfield:u8[16] c[2];");
	ck_assert_contains(text, "\tfield:int d[];");
	ck_assert_contains(text, "\tfield:struct none e[];");
	ck_assert_contains(text, "\nprint fmt: \n");
}

TEST(errors)
{
	struct tp_event event = {.name = "n"};
	char small[200];

	trace_seq_init(&seq, buffer, sizeof(buffer));
	ck_assert_int_eq(tp_event_format(NULL, &seq), -EINVAL);
	ck_assert_int_eq(tp_event_format(&event, &seq), -EINVAL);
	ck_assert_uint_eq(seq.len, 0);
	for (size_t size = 1; size < sizeof(small); size++) {
		memset(small, 'X', sizeof(small));
		trace_seq_init(&seq, small, size);
		ck_assert_int_eq(tp_event_format(&tp_event_sample_int, &seq), -ENOSPC);
		ck_assert_uint_eq(strlen(small), size - 1);
		for (size_t i = size; i < sizeof(small); i++)
			ck_assert_int_eq(small[i], 'X');
	}
}
