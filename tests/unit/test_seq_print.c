/* SPDX-License-Identifier: MIT */
/*
 * test_seq_print.c - strings of bounded length, and what TP_printk calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/print.h>
#include <tp/sink.h>
#include <tp/trace_seq.h>

#include "describe.h"
#include "util.h"

static char buffer[64];
static struct trace_seq seq;

static void init(size_t size)
{
	memset(buffer, 'X', sizeof(buffer));
	trace_seq_init(&seq, buffer, size);
}

/* Nothing is written behind the size that was given. */
static void check_bounds(void)
{
	ck_assert_uint_lt(seq.len, seq.size);
	ck_assert_int_eq(seq.buffer[seq.len], '\0');
	for (size_t i = seq.size; i < sizeof(buffer); i++)
		ck_assert_int_eq(buffer[i], 'X');
}

TEST(appends)
{
	init(64);
	ck_assert_str_eq(buffer, "");
	trace_seq_puts(&seq, "a");
	trace_seq_putc(&seq, 'b');
	trace_seq_printf(&seq, "%d%s", 12, "c");
	ck_assert_str_eq(buffer, "ab12c");
	ck_assert_uint_eq(seq.len, 5);
	ck_assert(!seq.full);
	check_bounds();
}

TEST(exact_fit_is_not_full)
{
	init(6);
	trace_seq_puts(&seq, "abc");
	trace_seq_printf(&seq, "%s", "de");
	ck_assert(!seq.full);
	ck_assert_str_eq(buffer, "abcde");
	trace_seq_puts(&seq, "");
	trace_seq_printf(&seq, "%s", "");
	ck_assert(!seq.full);
	check_bounds();
}

TEST(takes_what_fits)
{
	init(6);
	trace_seq_puts(&seq, "abcdefgh");
	ck_assert(seq.full);
	ck_assert_str_eq(buffer, "abcde");
	check_bounds();
	init(6);
	trace_seq_printf(&seq, "abc%s", "defgh");
	ck_assert(seq.full);
	ck_assert_str_eq(buffer, "abcde");
	trace_seq_putc(&seq, 'x');
	trace_seq_puts(&seq, "x");
	trace_seq_printf(&seq, "x");
	ck_assert_str_eq(buffer, "abcde");
	check_bounds();
}

TEST(size_of_one_holds_nothing)
{
	init(1);
	trace_seq_putc(&seq, 'x');
	trace_seq_puts(&seq, "x");
	trace_seq_printf(&seq, "x");
	ck_assert(seq.full);
	ck_assert_str_eq(buffer, "");
	check_bounds();
}

static const struct trace_print_flags flags[] = {{1, "S"}, {2, "D"}, {4, "T"}, {0, NULL}};

/* By a table as a program writes it, and by one of a class: the same. */
static const char *flags_of(unsigned long v, const char *delim, const struct trace_print_flags *table)
{
	char text[64];

	init(64);
	strcpy(text, tp_seq_print_flags_by(&seq, v, delim, describe_symbols(table, delim)));
	init(64);
	ck_assert_str_eq(tp_seq_print_flags(&seq, v, delim, table), text);
	return buffer;
}

TEST(flags_as_the_kernel)
{
	static const struct trace_print_flags overlapping[] = {{3, "BOTH"}, {1, "ONE"}, {2, "TWO"}, {0, NULL}};
	static const struct trace_print_flags none[] = {{0, "NONE"}, {1, "ONE"}, {0, NULL}};
	static const struct trace_print_flags empty[] = {{0, NULL}};

	ck_assert_str_eq(flags_of(0, "|", flags), "");
	ck_assert_str_eq(flags_of(1, "|", flags), "S");
	ck_assert_str_eq(flags_of(7, "|", flags), "S|D|T");
	ck_assert_str_eq(flags_of(5, ", ", flags), "S, T");
	ck_assert_str_eq(flags_of(5, "", flags), "ST");
	ck_assert_str_eq(flags_of(5, NULL, flags), "ST");
	ck_assert_str_eq(flags_of(0xf1, "|", flags), "S|0xf0");
	ck_assert_str_eq(flags_of(0xf0, "|", flags), "0xf0");
	ck_assert_str_eq(flags_of(~0ul, "|", empty), sizeof(long) == 8 ? "0xffffffffffffffff" : "0xffffffff");
	/* A wider mask takes its bits away from the narrower behind it. */
	ck_assert_str_eq(flags_of(3, "|", overlapping), "BOTH");
	ck_assert_str_eq(flags_of(2, "|", overlapping), "TWO");
	/* A mask of 0 matches whatever is not 0, as trace_print_flags_seq does it. */
	ck_assert_str_eq(flags_of(0, "|", none), "");
	ck_assert_str_eq(flags_of(1, "|", none), "NONE|ONE");
}

static const char *symbol_of(unsigned long v, const struct trace_print_flags *table)
{
	char text[64];

	init(64);
	strcpy(text, tp_seq_print_symbolic_by(&seq, v, describe_symbols(table, NULL)));
	init(64);
	ck_assert_str_eq(tp_seq_print_symbolic(&seq, v, table), text);
	return buffer;
}

TEST(symbols_as_the_kernel)
{
	static const struct trace_print_flags table[] = {{0, "ZERO"}, {1, "ONE"}, {1, "UNO"}, {2, ""},
							 {(unsigned long)-1, "MINUS"}, {0, NULL}};

	ck_assert_str_eq(symbol_of(0, table), "ZERO");
	ck_assert_str_eq(symbol_of(1, table), "ONE");
	ck_assert_str_eq(symbol_of((unsigned long)-1, table), "MINUS");
	ck_assert_str_eq(symbol_of(3, table), "0x3");
	ck_assert_str_eq(symbol_of(2, table), "0x2");
}

/* The text as a generated printer makes it, in a buffer of this size. */
static void print_two(size_t size, unsigned long v)
{
	struct trace_seq *p = &seq;
	static const struct trace_print_flags symbols[] = {{5, "five"}, {0, NULL}};

	init(size);
	trace_seq_puts(&seq, "head: ");
	size_t start = p->len;
	tp_printk(p, start, "flags=%s symbol=%s inline=%s", tp_seq_print_flags(p, v, "|", flags),
		  tp_seq_print_symbolic(p, v, symbols), __print_symbolic(v, {5, "V"}, {6, "VI"}));
}

TEST(intermediate_text_goes)
{
	print_two(64, 5);
	ck_assert_str_eq(buffer, "head: flags=S|T symbol=five inline=V");
	ck_assert_uint_eq(seq.len, strlen(buffer));
	ck_assert(!seq.full);
	check_bounds();
}

TEST(text_that_fits_once_intermediates_are_gone)
{
	print_two(37, 5);
	ck_assert_str_eq(buffer, "head: flags=S|T symbol=five inline=V");
	ck_assert(!seq.full);
	check_bounds();
}

/* As in the text sink, where a long record and its line are in the scratch memory. */
TEST(text_without_scratch_memory)
{
	void *all = tp_scratch_push(256 << 10);

	print_two(37, 5);
	ck_assert_str_eq(buffer, "head: flags=S|T symbol=five inline=V");
	ck_assert(!seq.full);
	print_two(20, 5);
	ck_assert_str_eq(buffer, "head: flags=S|T sym");
	ck_assert(seq.full);
	check_bounds();
	tp_scratch_pop(all);
}

TEST(any_smaller_buffer_is_sane)
{
	char whole[64];

	print_two(64, 5);
	strcpy(whole, buffer);
	for (size_t size = 1; size < 37; size++) {
		print_two(size, 5);
		ck_assert(seq.full);
		check_bounds();
		/* From a point on the helpers' own results are cut, but the text's beginning always stands. */
		ck_assert_uint_eq(strlen(buffer), seq.len);
		size_t same = seq.len < 12 ? seq.len : 12;
		ck_assert_msg(strncmp(buffer, whole, same) == 0, "size %zu: '%s'", size, buffer);
	}
}

TEST(printk_itself)
{
	init(64);
	tp_printk(&seq, 0, "%s %d%%", "plain", 3);
	ck_assert_str_eq(buffer, "plain 3%");
	tp_printk(&seq, seq.len, "%s", "");
	ck_assert_str_eq(buffer, "plain 3%");
	tp_printk(&seq, seq.len, " %s", "more");
	ck_assert_str_eq(buffer, "plain 3% more");
	check_bounds();
}

/* ---- Formats: as snprintf has them ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* In a buffer that it fills, and in one that is too small by a byte. */
#define ck_assert_as_snprintf(fmt, ...)                                                                      \
	do {                                                                                                 \
		char expected_[64];                                                                          \
		size_t len_ = (size_t)snprintf(expected_, sizeof(expected_), fmt, __VA_ARGS__);              \
		for (size_t size_ = len_ ? len_ : 1; size_ <= len_ + 1; size_++) {                           \
			snprintf(expected_, size_, fmt, __VA_ARGS__);                                        \
			init(size_);                                                                         \
			trace_seq_printf(&seq, fmt, __VA_ARGS__);                                            \
			if (strcmp(buffer, expected_) != 0 || seq.full != (size_ == len_) || buffer[size_] != 'X') \
				ck_abort_msg("%s: '%s', not '%s'", fmt, buffer, expected_);                  \
		}                                                                                            \
	} while (0)

static void check_integer(const char *fmt, const char *size, unsigned long long value)
{
	if (strcmp(size, "l") == 0)
		ck_assert_as_snprintf(fmt, (unsigned long)value);
	else if (strcmp(size, "ll") == 0)
		ck_assert_as_snprintf(fmt, value);
	else if (strcmp(size, "z") == 0)
		ck_assert_as_snprintf(fmt, (size_t)value);
	else
		ck_assert_as_snprintf(fmt, (unsigned int)value);
}

static const char *const flags_of_formats[] = {"", "-", "0", "#", "0#", "-0#", "+", " ", "'"};
static const char *const widths_of_formats[] = {"", "1", "5", "8", "30", ".3", "12.5"};

LOOP_TEST(integers_as_snprintf, NR_OF(flags_of_formats))
{
	static const char *const sizes[] = {"", "l", "ll", "z", "h", "hh"};
	static const unsigned long long values[] = {
		0, 1, 9, 10, 99, 100, 101, 65535, 128, 32768, 0x7fffffff, 0x80000000, 0xffffffff, 4294967296,
		9999999999999999999u, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};
	const char *flag = flags_of_formats[_i];
	char fmt[32];

	for (size_t w = 0; w < NR_OF(widths_of_formats); w++) {
		for (size_t s = 0; s < NR_OF(sizes); s++) {
			for (const char *letter = "diuxXoc"; *letter; letter++) {
				if (*letter == 'c' && *sizes[s])
					continue;
				snprintf(fmt, sizeof(fmt), "<%%%s%s%s%c>", flag, widths_of_formats[w], sizes[s], *letter);
				for (size_t v = *letter == 'c'; v < NR_OF(values); v++)
					check_integer(fmt, sizes[s], *letter == 'c' ? values[v] | 0x20 : values[v]);
			}
		}
	}
}

LOOP_TEST(strings_as_snprintf, 2)
{
	static const char *const strings[] = {"", "a", "four", "eight or more", "\xc3\xbc"};
	char fmt[32];

	for (size_t w = 0; w < NR_OF(widths_of_formats); w++) {
		for (size_t i = 0; i < NR_OF(strings); i++) {
			snprintf(fmt, sizeof(fmt), "<%%%s%ss>", _i ? "-" : "", widths_of_formats[w]);
			ck_assert_as_snprintf(fmt, strings[i]);
		}
	}
	const char *null = _i ? NULL : "";
	ck_assert_as_snprintf("<%s>", null);
	ck_assert_as_snprintf("%d%%%s%%", 5, "x");
	ck_assert_as_snprintf("%*d|%.*s|%g|%p", 4, 5, 2, "xyz", 1.5, (void *)fmt);
	const char *swapped = "%2$s %1$d"; /* POSIX's, not ISO C's */
	ck_assert_as_snprintf(swapped, 5, "first");
	ck_assert_as_snprintf("%ls %d", L"wide", 5);
}

LOOP_TEST(pointers_as_snprintf, 2)
{
	const void *const pointers[] = {NULL, (const void *)1, buffer, (const void *)(uintptr_t)-1};
	char fmt[32];

	for (size_t w = 0; w < 5; w++) { /* of a precision, C says nothing */
		for (size_t i = 0; i < NR_OF(pointers); i++) {
			snprintf(fmt, sizeof(fmt), "<%%%s%sp>", _i ? "-" : "", widths_of_formats[w]);
			ck_assert_as_snprintf(fmt, pointers[i]);
		}
	}
}

#pragma GCC diagnostic pop

TEST(scratch_is_a_stack)
{
	char *a = tp_scratch_push(1), *b = tp_scratch_push(1000), *c;

	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq((uintptr_t)a % 16, 0);
	ck_assert_uint_eq((uintptr_t)b % 16, 0);
	ck_assert_ptr_eq(b, a + 16);
	memset(b, 1, 1000);
	tp_scratch_pop(b);
	c = tp_scratch_push(7);
	ck_assert_ptr_eq(c, b);
	ck_assert_ptr_null(tp_scratch_push(256 << 10));
	ck_assert_ptr_null(tp_scratch_push(SIZE_MAX));
	ck_assert_ptr_null(tp_scratch_push(SIZE_MAX - 20));
	tp_scratch_pop(c);
	tp_scratch_pop(a);
	a = tp_scratch_push(256 << 10);
	ck_assert_ptr_nonnull(a);
	memset(a, 1, 256 << 10);
	ck_assert_ptr_null(tp_scratch_push(1));
	ck_assert_ptr_eq(tp_scratch_push(0), a + (256 << 10));
	tp_scratch_pop(a);
}
