/* SPDX-License-Identifier: MIT */
/*
 * test_print_data.c - bytes, arrays, bitmaps, wide flags and buffers in
 * TP_printk. The expected texts are the kernel's.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <tp/print.h>

#include "describe.h"
#include "util.h"

static char buffer[8192];
static struct trace_seq seq;
static struct trace_seq *const p = &seq;

/* Each result alone. */
static struct trace_seq *fresh(void)
{
	trace_seq_init(&seq, buffer, sizeof(buffer));
	return &seq;
}

static const unsigned char bytes[] = "\x01\x02\x7f\x80\xff ABC~";

TEST(hex)
{
	char many[100];

	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, 5, false), "01 02 7f 80 ff");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, 5, true), "01027f80ff");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, 1, false), "01");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, 0, false), "");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, -1, false), "");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), bytes, INT_MIN, true), "");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), NULL, 3, true), "(null)");
	ck_assert_str_eq(tp_seq_print_hex(fresh(), NULL, 0, true), "");
	memset(many, 0x5a, sizeof(many)); /* the kernel prints 16 at a time, which does not show */
	ck_assert_uint_eq(strlen(tp_seq_print_hex(fresh(), many, 100, false)), 299);
	ck_assert_uint_eq(strlen(tp_seq_print_hex(fresh(), many, 100, true)), 200);
	fresh();
	ck_assert_str_eq(__print_hex(bytes, 3), "01 02 7f");
	ck_assert_str_eq(__print_hex_str(bytes, 3u), "01027f");
}

TEST(arrays)
{
	struct {
		char odd;
		uint16_t u16[2];
		uint32_t u32[2];
		uint64_t u64[2];
	} __attribute__((packed)) a = {0, {1, 0xffff}, {0, 0xdeadbeef}, {10, UINT64_MAX}};

	ck_assert_str_eq(tp_seq_print_array(fresh(), bytes, 5, 1), "{0x1,0x2,0x7f,0x80,0xff}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), (char *)&a + 1, 2, 2), "{0x1,0xffff}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), (char *)&a + 5, 2, 4), "{0x0,0xdeadbeef}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), (char *)&a + 13, 2, 8), "{0xa,0xffffffffffffffff}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), bytes, 0, 4), "{}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), bytes, -1, 4), "{}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), NULL, 5, 4), "{}");
	fresh();
	ck_assert_str_eq(__print_array(bytes, 2, sizeof(char)), "{0x1,0x2}");
	ck_assert_str_eq(__print_array(bytes, 2, 1), "{0x1,0x2}");
}

/* A size that only shows when it runs: bytes then, and as many as there are. */
TEST(array_of_odd_elements)
{
	volatile size_t three = 3, zero = 0;

	fresh();
	ck_assert_str_eq(__print_array(bytes, 1, three), "{BAD SIZE:3 0x1,0x2,0x7f}");
	ck_assert_str_eq(__print_array(bytes, 1, zero), "{}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), bytes, 0, 5), "{}");
	ck_assert_str_eq(tp_seq_print_array(fresh(), bytes, 3, SIZE_MAX), "{}");
}

TEST(hex_dumps)
{
	unsigned char data[40];
	const char *text;

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i + 0x30);
	text = tp_seq_print_hex_dump(fresh(), "raw: ", DUMP_PREFIX_OFFSET, 16, 1, data, 20, true);
	ck_assert_str_eq(text, "\n"
			       "raw: 00000000: 30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?\n"
			       "raw: 00000010: 40 41 42 43                                      @ABC\n");
	text = tp_seq_print_hex_dump(fresh(), "", DUMP_PREFIX_NONE, 32, 1, data, 33, false);
	ck_assert_str_eq(text, "\n"
			       "30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f "
			       "40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f\n"
			       "50\n");
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	text = tp_seq_print_hex_dump(fresh(), ">", DUMP_PREFIX_NONE, 16, 4, data, 16, true);
	ck_assert_str_eq(text, "\n>33323130 37363534 3b3a3938 3f3e3d3c  0123456789:;<=>?\n");
	text = tp_seq_print_hex_dump(fresh(), "", DUMP_PREFIX_NONE, 16, 2, data, 4, false);
	ck_assert_str_eq(text, "\n3130 3332\n");
	/* A group that is not whole: bytes. */
	text = tp_seq_print_hex_dump(fresh(), "", DUMP_PREFIX_NONE, 16, 8, data, 26, true);
	ck_assert_str_eq(text, "\n3736353433323130 3f3e3d3c3b3a3938  0123456789:;<=>?\n"
			       "40 41 42 43 44 45 46 47 48 49                    @ABCDEFGHI\n");
#endif
	/* Sizes that make no sense. */
	text = tp_seq_print_hex_dump(fresh(), NULL, 77, -5, -1, data, 2, false);
	ck_assert_str_eq(text, "\n30 31\n");
	text = tp_seq_print_hex_dump(fresh(), "", DUMP_PREFIX_NONE, 17, 3, data, 17, false);
	ck_assert_str_eq(text, "\n30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f\n40\n");
	ck_assert_str_eq(tp_seq_print_hex_dump(fresh(), "", 0, 16, 1, data, 0, true), "\n");
	ck_assert_str_eq(tp_seq_print_hex_dump(fresh(), "", 0, 16, 1, NULL, 16, true), "\n");
	text = tp_seq_print_hex_dump(fresh(), "", DUMP_PREFIX_NONE, 16, 1, "\x1f ~\x7f\x80", 5, true);
	ck_assert_str_eq(text, "\n1f 20 7e 7f 80                                   . ~..\n");
	fresh();
	text = __print_hex_dump("x", DUMP_PREFIX_NONE, 16, 1, data, 1u, 0);
	ck_assert_str_eq(text, "\nx30\n");
	text = __print_hex_dump("", DUMP_PREFIX_ADDRESS, 16, 1, data, 1, false);
	char expected[40];
	snprintf(expected, sizeof(expected), "\n%0*lx: 30\n", 2 * (int)sizeof(void *), (unsigned long)(uintptr_t)data);
	ck_assert_str_eq(text, expected);
}

TEST(bitmaps)
{
	unsigned long map[] = {0x123456789ul & ~0ul, 0xf};
	TP_UNUSED char odd[32];

	trace_seq_bitmask(fresh(), map, 12);
	ck_assert_str_eq(buffer, "789");
	trace_seq_bitmask(fresh(), map, -1);
	ck_assert_str_eq(buffer, "");
#if __SIZEOF_LONG__ == 8
	ck_assert_str_eq(tp_seq_print_bitmask(fresh(), map, 16), "00000000,0000000f,00000001,23456789");
	memcpy(odd + 1, map, sizeof(map));
	ck_assert_str_eq(tp_seq_print_bitmask(fresh(), odd + 1, 8), "00000001,23456789");
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	ck_assert_str_eq(tp_seq_print_bitmask(fresh(), map, 5), "01,23456789"); /* no whole word */
#endif
#endif
	ck_assert_str_eq(tp_seq_print_bitmask(fresh(), map, 0), "");
}

TEST(wide_flags)
{
	static const struct trace_print_flags_u64 table[] = {{1ull << 40, "HIGH"}, {3, "LOW"}, {0, "NONE"}, {0, NULL}};

	ck_assert_str_eq(tp_seq_print_flags_u64(fresh(), 1ull << 40 | 3, "|", table), "HIGH|LOW");
	ck_assert_str_eq(tp_seq_print_flags_u64(fresh(), 1ull << 41, "|", table), "NONE|0x20000000000");
	ck_assert_str_eq(tp_seq_print_flags_u64(fresh(), 0, "|", table), "");
	ck_assert_str_eq(tp_seq_print_flags_u64(fresh(), 1ull << 40 | 3, NULL, table), "HIGHLOW");
	ck_assert_str_eq(tp_seq_print_symbolic_u64(fresh(), 1ull << 40, table), "HIGH");
	ck_assert_str_eq(tp_seq_print_symbolic_u64(fresh(), 0, table), "NONE");
	ck_assert_str_eq(tp_seq_print_symbolic_u64(fresh(), 1ull << 41, table), "0x20000000000");
	fresh();
	ck_assert_str_eq(__print_flags_u64(1ull << 33 | 1, "+", {1, "a"}, {1ull << 33, "b"}), "a+b");
	ck_assert_str_eq(__print_symbolic_u64(1ull << 33, {1, "a"}, {1ull << 33, "b"}), "b");
	const struct tp_symbols *of_class = describe_symbols((const struct trace_print_flags[]){{3, "LOW"}, {0, NULL}}, NULL);
	ck_assert_str_eq(__print_flags_u64_table(3, "", of_class), "LOW");
	ck_assert_str_eq(__print_symbolic_u64_table(3, of_class), "LOW");
}

TEST(nanoseconds)
{
	fresh();
	tp_printk(p, 0, "%llu.%09u", __print_ns_to_secs(12345000000678), __print_ns_without_secs(12345000000678));
	ck_assert_str_eq(buffer, "12345.000000678");
	ck_assert_uint_eq(__print_ns_to_secs(UINT64_MAX), 18446744073u);
	ck_assert_uint_eq(__print_ns_without_secs(-1), 709551615u);
}

/* A function of the user's that TP_printk calls, as the kernel has them. */
static const char *own_helper(struct trace_seq *s, int n)
{
	const char *text = trace_seq_buffer_ptr(s);

	trace_seq_printf(s, "own %d", n);
	trace_seq_putc(s, '\0');
	return text;
}

static const char *in_buf(char *buf, size_t size, const char *text)
{
	if (!buf)
		return "";
	memset(buf, 'x', size);
	snprintf(buf, size, "%s", text);
	return buf;
}

static void print_all(size_t size)
{
	static const uint32_t words[] = {1, 2};
	static const unsigned long bits = 5;

	memset(buffer, 'X', sizeof(buffer));
	trace_seq_init(&seq, buffer, size);
	trace_seq_puts(&seq, "head ");
	const size_t start = seq.len;
	tp_printk(p, start, "%s %s %s %s %s %s %s", __print_hex(bytes, 3), own_helper(p, 5),
		  in_buf(__get_buf(100), 100, "buf"), __print_array(words, 2, sizeof(uint32_t)),
		  tp_seq_print_bitmask(p, &bits, sizeof(bits)), in_buf(__get_buf(50), 50, "buf two"),
		  __print_symbolic_u64(1, {1, "one"}));
}

TEST(helpers_together)
{
	char whole[200];
	size_t len = (size_t)snprintf(whole, sizeof(whole), "head 01 02 7f own 5 buf {0x1,0x2} %s00000005 buf two one",
				      sizeof(long) == 8 ? "00000000," : "");

	print_all(sizeof(buffer));
	ck_assert_str_eq(buffer, whole);
	ck_assert_uint_eq(seq.len, len);
	ck_assert(!seq.full);
	for (size_t size = 1; size < 400; size++) {
		print_all(size);
		ck_assert_ptr_null(seq.reserved);
		ck_assert_uint_lt(seq.len, size);
		ck_assert_uint_eq(strlen(buffer), seq.len);
		/* Whatever is cut is said to be. */
		ck_assert(seq.full || strcmp(buffer, whole) == 0);
		ck_assert(size > len || seq.full);
		ck_assert_int_eq(strncmp(buffer, whole, seq.len < 5 ? seq.len : 5), 0);
		size_t end = size;
		while (end < sizeof(buffer) && buffer[end] == 'X')
			end++;
		ck_assert_uint_eq(end, sizeof(buffer)); /* nothing behind the size is written */
	}
}

TEST(buffers)
{
	trace_seq_init(&seq, buffer, 16);
	trace_seq_puts(&seq, "ab");
	char *inside = __get_buf(12); /* and its NUL, and the text's */
	ck_assert_ptr_eq(inside, buffer + 2);
	ck_assert_str_eq(inside, "");
	memset(inside, 'x', 12);
	ck_assert_uint_eq(strlen(inside), 12); /* though it was filled to its end */
	ck_assert_ptr_null(seq.reserved);

	trace_seq_init(&seq, buffer, 16);
	trace_seq_puts(&seq, "ab");
	char *first = __get_buf(13), *second = __get_buf(1 << 20);
	ck_assert(first < buffer || first > buffer + sizeof(buffer));
	ck_assert_ptr_nonnull(second);
	memset(first, 'x', 13);
	memset(second, 'y', 1 << 20);
	ck_assert(!seq.full);
	tp_printk(&seq, 2, "%.3s %.3s", first, second);
	ck_assert_str_eq(buffer, "abxxx yyy");
	ck_assert_ptr_null(seq.reserved);

	/* There is nothing for it: and nothing else is harmed. */
	ck_assert_ptr_null(__get_buf(SIZE_MAX));
	ck_assert_ptr_null(__get_buf(SIZE_MAX - 20));
	ck_assert_ptr_null(__get_buf(SIZE_MAX - 4096));
	ck_assert(seq.full);
	ck_assert_str_eq(buffer, "abxxx yyy");
	ck_assert_ptr_nonnull(__get_buf(0));
	tp_printk(&seq, seq.len, "%s", "");
}

/* A count that a record has no end of: it takes no longer than the buffer is long. */
TEST(huge_counts)
{
	size_t size = sizeof(size_t) > 4 ? (size_t)1 << 31 : SIZE_MAX >> 4; /* its bits are counted, too */
	char *all = calloc(1, 1 << 20);

	trace_seq_init(&seq, buffer, 64);
	tp_seq_print_bitmask(&seq, all - size + (1 << 20), size); /* the end is printed first, and then it is full */
	ck_assert(seq.full);
	trace_seq_init(&seq, buffer, 64);
	tp_seq_print_array(&seq, all, INT_MAX, 8);
	ck_assert(seq.full);
	trace_seq_init(&seq, buffer, 64);
	tp_seq_print_hex(&seq, all, INT_MAX, true);
	ck_assert(seq.full);
	trace_seq_init(&seq, buffer, 64);
	tp_seq_print_hex_dump(&seq, "", DUMP_PREFIX_OFFSET, 16, 8, all, INT_MAX, true);
	ck_assert(seq.full);
	trace_seq_init(&seq, buffer, 64);
	ck_assert_str_eq(tp_seq_print_hex_dump(&seq, "", DUMP_PREFIX_OFFSET, 16, 8, all, (size_t)-1, true), "\n");
	free(all);
}

TEST(bytes_of_a_seq)
{
	trace_seq_init(&seq, buffer, 6);
	trace_seq_putmem(&seq, "a\0b", 3);
	ck_assert_uint_eq(seq.len, 3);
	trace_seq_putmem(&seq, NULL, 0);
	ck_assert(!trace_seq_has_overflowed(&seq));
	trace_seq_putmem(&seq, "cdef", 4);
	ck_assert(trace_seq_has_overflowed(&seq));
	ck_assert_mem_eq(buffer, "a\0bcd", 6);
	ck_assert_ptr_eq(trace_seq_buffer_ptr(&seq), buffer + 5);
}
