/* SPDX-License-Identifier: MIT */
/*
 * test_enable.c - what tp_enable and tp_disable make of patterns, for modules that come later, too.
 */
#include <errno.h>
#include <stdlib.h>

#include "failing_malloc.h"
#include "list_sink.h"

/* ---- Patterns ---- */

static const struct {
	const char *patterns;
	int result;
	const char *recorded;
} cases[] = {
	{"*", 3, "sample_int sample_text sample_kinds "},
	{"sample:*", 3, "sample_int sample_text sample_kinds "},
	{"sample_int", 1, "sample_int "},
	{"sample:sample_int", 1, "sample_int "},
	{"other:sample_int", 0, ""},
	{"sample_?nt,sample_t*", 2, "sample_int sample_text "},
	{" sample_int ,\tsample_text ", 2, "sample_int sample_text "},
	{"sample_[!i]*", 2, "sample_text sample_kinds "},
	{"*,!sample_int", 2, "sample_text sample_kinds "},
	{"*,! sample_int ", 2, "sample_text sample_kinds "},
	{"!\tsample:*t, sample:*", 1, "sample_kinds "},
	{"!sample_int,*", 2, "sample_text sample_kinds "},
	{"!sample:*t,sample:*", 1, "sample_kinds "},
	{"sample_int,!*", 0, ""},
	{"sample", 0, ""},
	{"*:*", 3, "sample_int sample_text sample_kinds "},
	{"sample_int , ", 1, "sample_int "},
	{"*,", 3, "sample_int sample_text sample_kinds "},
	{"s*:*_int", 1, "sample_int "},
	{"", -EINVAL, ""},
	{" ", -EINVAL, ""},
	{",", -EINVAL, ""},
	{",*", -EINVAL, ""},
	{"a,,b", -EINVAL, ""},
	{"a,,", -EINVAL, ""},
	{"!", -EINVAL, ""},
	{"*,!", -EINVAL, ""},
	{"*,! ", -EINVAL, ""},
	{"!a,", -EINVAL, ""},
	{"!sample_int", -EINVAL, ""},
	{NULL, -EINVAL, ""},
};

LOOP_TEST(patterns, NR_OF(cases))
{
	struct list_sink s;

	open_list_sink(&s);
	ck_assert_int_eq(tp_enable(&s.head, cases[_i].patterns), cases[_i].result);
	ck_assert_str_eq(hit_all(&s), cases[_i].recorded);
	ck_assert_int_eq(tp_sink_close(&s.head), -EPIPE);
	ck_assert(s.closed);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

TEST(on_and_off)
{
	struct list_sink s;

	open_list_sink(&s);
	ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 1);
	ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 0);
	ck_assert_int_eq(tp_enable(&s.head, "*"), 2);
	ck_assert_int_eq(tp_disable(&s.head, "sample_t*"), 1);
	ck_assert_int_eq(tp_disable(&s.head, "sample_t*"), 0);
	ck_assert_hits(&s, "sample_int sample_kinds ");
	ck_assert_int_eq(tp_disable(&s.head, "*,!sample_int"), 1);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_disable(&s.head, ""), -EINVAL);
	ck_assert_int_eq(tp_disable(&s.head, "*"), 1);
	ck_assert_hits(&s, "");
	ck_assert_int_eq(tp_enable(NULL, "*"), -EINVAL);
	ck_assert_int_eq(tp_disable(NULL, "*"), -EINVAL);
	ck_assert_int_eq(tp_sink_close(NULL), -EINVAL);
	tp_sink_close(&s.head);
}

TEST(two_sinks)
{
	struct list_sink one, two;

	open_list_sink(&one);
	open_list_sink(&two);
	tp_enable(&one.head, "sample_int");
	tp_enable(&two.head, "*");
	hit_all(&one);
	ck_assert_str_eq(one.log, "sample_int ");
	ck_assert_str_eq(two.log, "sample_int sample_text sample_kinds ");
	tp_sink_close(&two.head);
	ck_assert_hits(&one, "sample_int ");
	tp_sink_close(&one.head);
}

TEST(no_memory_changes_nothing)
{
	struct list_sink s;

	open_list_sink(&s);
	tp_enable(&s.head, "sample_text");
	fail_malloc_after(0);
	ck_assert_int_eq(tp_enable(&s.head, "*"), -ENOMEM);
	fail_malloc_after(3); /* the rule, its pattern and one attachment, but not the next */
	ck_assert_int_eq(tp_enable(&s.head, "*"), -ENOMEM);
	ck_assert_uint_eq(mallocs_left, 0);
	ck_assert_hits(&s, "sample_text ");
	let_malloc_be();
	ck_assert_int_eq(tp_enable(&s.head, "*"), 2);
	tp_sink_close(&s.head);
}

TEST(writer_registered_by_hand)
{
	struct list_sink s;

	open_list_sink(&s);
	ck_assert_int_eq(register_trace_sample_int(tp_record_sample_int, &s), 0);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_enable(&s.head, "*"), 2);
	ck_assert_hits(&s, "sample_int sample_text sample_kinds ");
	ck_assert_int_eq(tp_disable(&s.head, "*"), 2);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(unregister_trace_sample_int(tp_record_sample_int, &s), 0);
	tp_sink_close(&s.head);
}

/* ---- Modules ---- */

TEST(modules_loaded_later_follow_the_rules)
{
	static struct sample_module in, out;
	struct list_sink s;

	open_list_sink(&s);
	ck_assert_int_eq(tp_enable(&s.head, "late:*"), 0);
	ck_assert_int_eq(tp_disable(&s.head, "late_out"), 0);
	sample_module_init(&in, "late", "late_in", "int");
	sample_module_init(&out, "late", "late_out", "int");
	tp_module_load(&in.module);
	tp_module_load(&out.module);
	ck_assert(tp_tracepoint_is_on(&in.tp));
	ck_assert(!tp_tracepoint_is_on(&out.tp));
	/* The last rule that matches decides. */
	ck_assert_int_eq(tp_enable(&s.head, "late:*"), 1);
	ck_assert(tp_tracepoint_is_on(&out.tp));
	tp_module_unload(&in.module);
	ck_assert(!tp_tracepoint_is_on(&in.tp));
	tp_module_load(&in.module);
	sample_module_hit(&in, 3);
	ck_assert_str_eq(s.log, "late_in ");
	tp_sink_close(&s.head);
	ck_assert(!tp_tracepoint_is_on(&in.tp));
	tp_module_unload(&in.module);
	tp_module_unload(&out.module);
}

TEST(twins_record_once)
{
	static struct sample_module one, two;
	struct list_sink s;

	open_list_sink(&s);
	sample_module_init(&one, "twin", "twin", "int");
	sample_module_init(&two, "twin", "twin", "int");
	tp_module_load(&one.module);
	tp_module_load(&two.module);
	ck_assert_uint_eq(one.event.id, two.event.id); /* the same layout */
	ck_assert_int_eq(tp_enable(&s.head, "twin"), 1);
	sample_module_hit(&one, 1);
	sample_module_hit(&two, 1);
	ck_assert_str_eq(s.log, "twin twin ");
	/* The attached one goes, the other takes over. */
	tp_module_unload(&one.module);
	ck_assert(tp_tracepoint_is_on(&two.tp));
	s.log[0] = '\0';
	sample_module_hit(&two, 1);
	ck_assert_str_eq(s.log, "twin ");
	tp_module_load(&one.module);
	s.log[0] = '\0';
	sample_module_hit(&two, 1);
	sample_module_hit(&one, 1);
	ck_assert_str_eq(s.log, "twin twin ");
	ck_assert_int_eq(tp_disable(&s.head, "twin"), 1);
	ck_assert(!tp_tracepoint_is_on(&two.tp));
	tp_sink_close(&s.head);
	tp_module_unload(&one.module);
	tp_module_unload(&two.module);
}

/* ---- Memory ---- */

TEST(rules_and_arrays_do_not_pile_up)
{
	struct list_sink s;

	open_list_sink(&s);
	size_t before = allocated();
	for (int i = 0; i < 2000; i++) {
		ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 1);
		ck_assert_int_eq(tp_disable(&s.head, "sample_int"), 1);
	}
	/* Not a byte is left behind by each round, but malloc itself keeps some for later. */
	ck_assert_uint_le(allocated(), before + 16384);
	tp_sink_close(&s.head);
}
