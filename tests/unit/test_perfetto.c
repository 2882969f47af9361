/* SPDX-License-Identifier: MIT */
/* test_perfetto.c - a Perfetto trace: the bytes of its messages, its opening, and what fails there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "failing_malloc.h"
#include "sample.h"
#include "sinks/perfetto/file.h"
#include "sinks/perfetto/perfetto.h"
#include "sinks/perfetto/proto.h"
#include "sinks/perfetto/stream.h"
#include "util.h"

static char file[64];
static unsigned char bytes[64];
static struct tp_proto proto;

static void setup(void)
{
	memset(bytes, 0, sizeof(bytes));
	proto = (struct tp_proto){.bytes = bytes, .size = sizeof(bytes)};
	snprintf(file, sizeof(file), "/tmp/tp-perfetto-%d", (int)getpid());
	unlink(file);
}

static void teardown(void)
{
	unlink(file);
}

FIXTURE(setup, teardown)

static void wrote(const char *expected, size_t len)
{
	ck_assert_uint_eq(proto.len, len);
	ck_assert_mem_eq(bytes, expected, len);
	ck_assert(!proto.is_full);
}

/* ---- Bytes ---- */

TEST(numbers)
{
	tp_proto_number(&proto, 1, 150);
	tp_proto_number(&proto, 16, 0);
	tp_proto_number(&proto, 2, (uint64_t)-1);
	tp_proto_real(&proto, 3, 1.0);
	wrote("\x08\x96\x01" "\x80\x01\x00" "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" "\x19\0\0\0\0\0\0\xf0\x3f", 26);
}

TEST(messages)
{
	const size_t outer = tp_proto_begin(&proto, 1), inner = tp_proto_begin_short(&proto, 2);

	tp_proto_number(&proto, 3, 7);
	tp_proto_end_short(&proto, inner);
	tp_proto_end(&proto, outer);
	wrote("\x0a\x84\x80\x80\x00" "\x12\x02" "\x18\x07", 9);
}

static const struct {
	const char *text, *escaped;
} texts[] = {
	{"", ""}, {"plain", "plain"}, {"\xc3\xb6", "\xc3\xb6"}, {"\xff", "\\xff"}, {"a\xc3", "a\\xc3"}, {"\xe2\x82z", "\\xe2\\x82z"},
};

LOOP_TEST(texts_that_are_no_utf8, sizeof(texts) / sizeof(texts[0]))
{
	tp_proto_text(&proto, 1, texts[_i].text, strlen(texts[_i].text));
	ck_assert(!proto.is_full);
	ck_assert_uint_ge(proto.len, strlen(texts[_i].escaped));
	ck_assert_mem_eq(bytes + proto.len - strlen(texts[_i].escaped), texts[_i].escaped, strlen(texts[_i].escaped));
	/* No byte behind the text is looked at, and a NUL ends it. */
	proto.len = 0;
	tp_proto_text(&proto, 1, "ab\0cd", 5);
	wrote("\x0a\x02" "ab", 4);
}

TEST(no_room)
{
	for (size_t size = 0; size < 40; size++) {
		proto = (struct tp_proto){.bytes = bytes, .size = size};
		const size_t begin = tp_proto_begin(&proto, 1);
		tp_proto_text(&proto, 2, "\xff\xff\xff", 3);
		tp_proto_number(&proto, 3, 1);
		tp_proto_end(&proto, begin);
		ck_assert_uint_le(proto.len, size);
	}
	proto = (struct tp_proto){.bytes = bytes, .size = 4};
	tp_proto_number(&proto, 1, 1);
	ck_assert(proto.is_full && proto.len == 0);
}

TEST(padding_covers_what_it_says)
{
	const size_t sizes[] = {8, 16, 4096, 256 << 10, 1 << 27};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t word = tp_perfetto_padding(sizes[i]);
		unsigned char head[sizeof(word)];
		memcpy(head, &word, sizeof(word));
		ck_assert_uint_eq(head[0], 15 << 3 | 2);
		const size_t len = (head[1] & 0x7fu) | (size_t)(head[2] & 0x7fu) << 7 | (size_t)(head[3] & 0x7fu) << 14 | (size_t)head[4] << 21;
		ck_assert_uint_eq(len + 5, sizes[i]);
	}
}

/* ---- Records ---- */

/* Those of handlers inside each other: whatever is left for another one, nothing is written behind the thread's memory. */
TEST(no_room_on_the_stack)
{
	const size_t all = (size_t)256 << 10;
	struct tp_sink *sink = tp_perfetto_sink(file, NULL);

	ck_assert_int_ge(tp_enable(sink, "sample:sample_int"), 1);
	/* The kernel puts the thread's memory right below this page, which nobody may write to. */
	ck_assert_ptr_ne(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
	trace_sample_int(1); /* for which the thread gets its part of the file */
	for (size_t left = 0; left < 4096; left += 16) {
		void *memory = tp_scratch_push(all - left);
		ck_assert_ptr_nonnull(memory);
		trace_sample_int(1);
		tp_scratch_pop(memory);
	}
	tp_sink_close(sink);
}

/* ---- Opening ---- */

static void opens_not(struct tp_sink *sink, int error)
{
	const int found = errno;

	ck_assert_ptr_null(sink);
	ck_assert_int_eq(found, error);
}

TEST(wrong_names)
{
	opens_not(tp_perfetto_sink(NULL, NULL), EINVAL);
	opens_not(tp_perfetto_sink("", NULL), EINVAL);
	opens_not(tp_perfetto_sink("/", NULL), EINVAL);
	opens_not(tp_perfetto_sink("/tmp/none/file", ""), ENOENT);
}

/* Whichever of them fails, nothing stays behind. */
TEST(without_memory)
{
	struct tp_sink *sink = NULL;

	for (unsigned int n = 0; !sink && n < 200; n++) {
		fail_malloc_after(n);
		sink = tp_perfetto_sink(file, NULL);
		const int error = errno;
		let_malloc_be();
		ck_assert(sink || error == ENOMEM);
	}
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(tp_sink_close(sink), 0);
}

TEST(one_file_of_two_sinks)
{
	struct tp_sink *sink = tp_perfetto_sink(file, "");

	ck_assert_ptr_nonnull(sink);
	opens_not(tp_perfetto_sink(file, NULL), EEXIST);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	sink = tp_perfetto_sink(file, NULL);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(tp_sink_close(sink), 0);
}

TEST(too_many)
{
	struct tp_sink *sinks[TP_PERFETTO_SINKS];
	char name[80];

	for (int i = 0; i < TP_PERFETTO_SINKS; i++) {
		snprintf(name, sizeof(name), "%s-%d", file, i);
		sinks[i] = tp_perfetto_sink(name, NULL);
		ck_assert_ptr_nonnull(sinks[i]);
		unlink(name);
	}
	opens_not(tp_perfetto_sink(file, NULL), EMFILE);
	ck_assert(access(file, F_OK) != 0);
	for (int i = 0; i < TP_PERFETTO_SINKS; i++)
		ck_assert_int_eq(tp_sink_close(sinks[i]), 0);
}

TEST(file_that_was_passed)
{
	const int pipe_end = open("/dev/null", O_RDWR), fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat st;

	opens_not(tp_perfetto_sink_in(pipe_end, "null"), EINVAL);
	ck_assert_int_ge(fd, 0);
	struct tp_sink *sink = tp_perfetto_sink_in(fd, file);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "sample:sample_int"), 1);
	trace_sample_int(1);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_gt(st.st_size, 4096);
	opens_not(tp_perfetto_sink_in(open(file, O_RDWR), file), EEXIST);
}
