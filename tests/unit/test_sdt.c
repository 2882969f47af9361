/* SPDX-License-Identifier: MIT */
/*
 * test_sdt.c - the SDT sink from inside: whose records are lost, and what stays
 * as it was. That tools see them is in tests/sdt.
 */
#include <errno.h>
#include <stdlib.h>

#include <tp/sdt.h>
#include <tp/tp.h>

#include "failing_malloc.h"
#include "sample.h"
#include "util.h"

#if TP_SDT_POSSIBLE
static struct tp_sink *open_sink(void)
{
	struct tp_sink *sink = tp_sdt_sink();

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

TEST(records_come_and_go)
{
	struct tp_sink *sink = open_sink();

	errno = 77;
	for (int i = 0; i < 100000; i++) /* more than there is scratch memory for at once */
		trace_sample_text("a text");
	ck_assert_int_eq(errno, 77);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *said = captured_stderr();
	ck_assert_str_eq(said, "");
	free(said);
}

TEST(nested_until_memory_is_used_up)
{
	struct tp_sink *sink = open_sink();
	struct tp_record records[16];
	size_t held = 0;

	while (held < 16 && tp_reserve(&records[held], sink, &tp_event_sample_int, 60000))
		held++;
	ck_assert_uint_eq(held, 4); /* of 256 KiB */
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NESTED), 1);
	while (held)
		tp_commit(&records[--held]);
	ck_assert_ptr_nonnull(tp_reserve(&records[0], sink, &tp_event_sample_int, 60000));
	tp_commit(&records[0]);
	ck_assert_uint_eq(tp_sink_lost(sink), 1);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *said = captured_stderr();
	ck_assert_str_eq(said, "tp: sdt output: records lost: 1 (nested: 1)\n");
	free(said);
}

TEST(without_memory)
{
	fail_malloc_after(0);
	errno = 0;
	ck_assert_ptr_null(tp_sdt_sink());
	ck_assert_int_eq(errno, ENOMEM);
	let_malloc_be();
}
#else
/* On other processors there is none. */
TEST(not_here)
{
	capture_stderr();
	ck_assert_ptr_null(tp_sdt_sink());
	ck_assert_int_eq(errno, ENOTSUP);
	char *said = captured_stderr();
	ck_assert_contains(said, "not on this processor");
	free(said);
}
#endif
