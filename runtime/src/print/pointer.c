/* SPDX-License-Identifier: MIT */
/*
 * print/pointer.c - the kernel's conversions %pM, %pU, %ph ... in TP_printk, as
 * Documentation/core-api/printk-formats.rst describes them.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "print/seq.h"
#include "print/symbol.h"

/* The end of the addresses that are none: the first page, and from here on, errors. */
#define MAX_ERRNO 4095ul
#define FIRST_PAGE 4096ul

/* More bits, and they would not be a field width in the kernel; more bytes %ph does not print. */
#define BITMAP_MAX ((1 << 23) - 1)
#define BYTES_MAX 64

static bool is_error(const void *ptr)
{
	return (uintptr_t)ptr >= (uintptr_t)-MAX_ERRNO;
}

/* Why it can't be read; NULL where that may be tried. */
static const char *refusal(const void *ptr)
{
	if (!ptr)
		return "(null)";
	return (uintptr_t)ptr < FIRST_PAGE || is_error(ptr) ? "(efault)" : NULL;
}

static void put_address(struct trace_seq *p, const void *ptr)
{
	trace_seq_printf(p, "%0*lx", (int)sizeof(ptr) * 2, (unsigned long)(uintptr_t)ptr);
}

static void put_symbol(struct trace_seq *p, const char *what, const void *ptr)
{
	uintptr_t address = (uintptr_t)ptr;
	/* A return address may be behind its function's last instruction; what counts is the call in front of it. */
	uintptr_t back = *what == 'B';
	struct tp_symbol symbol;

	if (!tp_symbol_find(address - back, &symbol)) {
		trace_seq_printf(p, "0x%lx", (unsigned long)address);
		return;
	}
	trace_seq_puts(p, symbol.name);
	if (*what == 's' || *what == 'f')
		return;
	trace_seq_printf(p, "+0x%lx/0x%zx", (unsigned long)(address - symbol.address), symbol.size);
}

static const char *error_name(int error)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	return strerrorname_np(error);
#else
	(void)error;
	return NULL;
#endif
}

static void put_error(struct trace_seq *p, const void *ptr)
{
	if (!is_error(ptr)) {
		put_address(p, ptr);
		return;
	}
	int error = (int)-(intptr_t)ptr;
	const char *name = error_name(error);
	if (name)
		trace_seq_printf(p, "-%s", name);
	else
		trace_seq_printf(p, "%d", -error);
}

static void put_mac(struct trace_seq *p, const char *what, const unsigned char *address)
{
	unsigned char bytes[6];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = address[what[1] == 'R' ? sizeof(bytes) - 1 - i : i];
	tp_seq_bytes(p, bytes, sizeof(bytes), *what == 'm' ? '\0' : what[1] == 'F' ? '-' : ':');
}

static void put_uuid(struct trace_seq *p, const char *what, const unsigned char *uuid)
{
	static const unsigned char big[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const unsigned char little[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const unsigned char *order = what[1] == 'l' || what[1] == 'L' ? little : big;
	const char *format = what[1] == 'B' || what[1] == 'L' ? "%02X" : "%02x";

	for (size_t i = 0; i < sizeof(big); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			trace_seq_putc(p, '-');
		trace_seq_printf(p, format, uuid[order[i]]);
	}
}

static void put_bytes(struct trace_seq *p, const char *what, long n, const void *bytes)
{
	char separator = what[1] == 'C' ? ':' : what[1] == 'D' ? '-' : what[1] == 'N' ? '\0' : ' ';

	if (n < 0)
		n = 1;
	if (n > BYTES_MAX)
		n = BYTES_MAX;
	tp_seq_bytes(p, bytes, (size_t)n, separator);
}

static void put_bitmap(struct trace_seq *p, const char *what, long n, const void *bits)
{
	size_t nr_bits = n < 0 ? 0 : n > BITMAP_MAX ? BITMAP_MAX : (size_t)n;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* No more than it takes: the map may be a narrower type, such as a uint32_t. */
	size_t size = (nr_bits + CHAR_BIT - 1) / CHAR_BIT;
#else
	size_t bits_of_word = sizeof(unsigned long) * CHAR_BIT;
	size_t size = (nr_bits + bits_of_word - 1) / bits_of_word * sizeof(unsigned long);
#endif

	if (what[1] == 'l')
		tp_seq_bit_list(p, bits, nr_bits, size);
	else
		tp_seq_bits(p, bits, nr_bits, size);
}

static void put_number_at(struct trace_seq *p, const void *ptr)
{
	unsigned long value;

	memcpy(&value, ptr, sizeof(value));
	trace_seq_printf(p, "0x%0*lx", (int)sizeof(value) * 2, value);
}

/* What ptr itself is; false where what asks for none of that. */
static bool put_value(struct trace_seq *p, const char *what, const void *ptr)
{
	switch (*what) {
	case 'S':
	case 's':
	case 'F':
	case 'f':
	case 'B':
		put_symbol(p, what, ptr);
		return true;
	case 'e':
		put_error(p, ptr);
		return true;
	case 'x':
	case 'K':
		put_address(p, ptr);
		return true;
	default:
		return false;
	}
}

/* What is at ptr. */
static void put_pointee(struct trace_seq *p, const char *what, long n, const void *ptr)
{
	switch (*what) {
	case 'M':
	case 'm':
		put_mac(p, what, ptr);
		break;
	case 'U':
		put_uuid(p, what, ptr);
		break;
	case 'h':
		put_bytes(p, what, n, ptr);
		break;
	case 'b':
		put_bitmap(p, what, n, ptr);
		break;
	case 'a':
		put_number_at(p, ptr);
		break;
	default:
		if (!tp_seq_ip(p, what, ptr))
			put_address(p, ptr);
	}
}

const char *tp_seq_pointer(struct trace_seq *p, const char *what, long n, const void *ptr)
{
	size_t start = p->len;
	const char *no = refusal(ptr);

	if (!put_value(p, what, ptr) && !(*what == 'h' && n == 0)) {
		if (no)
			trace_seq_puts(p, no);
		else
			put_pointee(p, what, n, ptr);
	}
	return tp_seq_end(p, start);
}
