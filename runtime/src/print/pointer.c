/* SPDX-License-Identifier: MIT */
/*
 * print/pointer.c - the kernel's conversions %pM, %pU, %ph ... in TP_printk, as
 * Documentation/core-api/printk-formats.rst describes them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error_name.h"
#include "print/seq.h"
#include "print/symbol.h"

/* The end of the addresses that are none: the first page, and from here on, errors. */
#define MAX_ERRNO 4095ul
#define FIRST_PAGE 4096ul

/* More bits, and they would not be a field width in the kernel; more bytes %ph does not print. */
#define BITMAP_MAX ((1 << 23) - 1)
#define BYTES_MAX 64

/* ---- %pI4, %pI6c, %pISpc ...: an address may stand anywhere in a record, so its bytes are copied ---- */

#define NR_GROUPS 8 /* of an IPv6 address, 16 bits each */

static bool has(const char *letters, char c)
{
	return strchr(letters, c) != NULL;
}

/* 1.2.3.4, or 001.002.003.004; order is one of "hnbl", or '\0' for the network's. */
static void put_v4(struct trace_seq *p, const unsigned char *address, bool zeros, char order)
{
	bool reversed = order == 'l' || (order == 'h' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (int i = 0; i < 4; i++)
		trace_seq_printf(p, zeros ? "%s%03u" : "%s%u", i ? "." : "", address[reversed ? 3 - i : i]);
}

static void put_v6(struct trace_seq *p, const unsigned char *address, bool raw)
{
	for (int i = 0; i < NR_GROUPS; i++)
		trace_seq_printf(p, "%s%02x%02x", i && !raw ? ":" : "", address[2 * i], address[2 * i + 1]);
}

/* An IPv4 address that was mapped, or an ISATAP interface's: the last 32 bits are printed as IPv4's are. */
static bool ends_as_v4(const unsigned char *address)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(address, mapped, sizeof(mapped)) == 0 ||
	       ((address[8] | 2) == 2 && address[9] == 0 && address[10] == 0x5e && address[11] == 0xfe);
}

/* The first of the longest runs of more than one group that is 0; returns its length, 0 where there is none. */
static int longest_zeros(const unsigned char *address, int groups, int *first)
{
	int longest = 1;
	int run = 0;

	for (int i = 0; i < groups; i++) {
		run = address[2 * i] || address[2 * i + 1] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			*first = i + 1 - run;
		}
	}
	return longest > 1 ? longest : 0;
}

/* As RFC 5952 writes it. */
static void put_v6_compressed(struct trace_seq *p, const unsigned char *address)
{
	bool v4 = ends_as_v4(address);
	int groups = v4 ? NR_GROUPS - 2 : NR_GROUPS;
	int zeros_at = -1;
	int zeros = longest_zeros(address, groups, &zeros_at);
	const char *separator = "";

	for (int i = 0; i < groups; i++) {
		if (i == zeros_at) {
			trace_seq_puts(p, "::");
			separator = "";
			i += zeros - 1;
			continue;
		}
		trace_seq_printf(p, "%s%x", separator, (unsigned int)address[2 * i] << 8 | address[2 * i + 1]);
		separator = ":";
	}
	if (v4) {
		trace_seq_puts(p, separator);
		put_v4(p, address + 12, false, '\0');
	}
}

/* letters are what stands behind "IS". */
static void put_sockaddr_v4(struct trace_seq *p, const struct sockaddr_in *sa, bool raw, const char *letters)
{
	char order = '\0';

	for (const char *c = letters; *c; c++) {
		if (has("hnbl", *c))
			order = *c;
	}
	put_v4(p, (const unsigned char *)&sa->sin_addr, raw, order);
	if (has(letters, 'p'))
		trace_seq_printf(p, ":%u", ntohs(sa->sin_port));
}

static void put_sockaddr_v6(struct trace_seq *p, const struct sockaddr_in6 *sa, bool raw, const char *letters)
{
	const unsigned char *address = (const unsigned char *)&sa->sin6_addr;
	bool brackets = has(letters, 'p') || has(letters, 'f') || has(letters, 's');

	if (brackets)
		trace_seq_putc(p, '[');
	if (has(letters, 'c') && !raw)
		put_v6_compressed(p, address);
	else
		put_v6(p, address, raw);
	if (brackets)
		trace_seq_putc(p, ']');
	if (has(letters, 'p'))
		trace_seq_printf(p, ":%u", ntohs(sa->sin6_port));
	if (has(letters, 'f'))
		trace_seq_printf(p, "/%u", (unsigned int)ntohl(sa->sin6_flowinfo & htonl(0x0fffffff)));
	if (has(letters, 's'))
		trace_seq_printf(p, "%%%u", (unsigned int)sa->sin6_scope_id);
}

static void put_sockaddr(struct trace_seq *p, const unsigned char *address, bool raw, const char *letters)
{
	sa_family_t family;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memcpy(&family, address + offsetof(struct sockaddr, sa_family), sizeof(family));
	if (family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		put_sockaddr_v4(p, &v4, raw, letters);
	} else if (family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		put_sockaddr_v6(p, &v6, raw, letters);
	} else {
		trace_seq_puts(p, "(einval)");
	}
}

/* what is "I4", "i6", "ISpc" ...; false where it is none of these. */
static bool put_ip(struct trace_seq *p, const char *what, const unsigned char *address)
{
	bool raw = *what == 'i';

	if (*what != 'I' && *what != 'i')
		return false;
	switch (what[1]) {
	case '4':
		put_v4(p, address, raw, what[2]);
		return true;
	case '6':
		if (what[2] == 'c' && !raw)
			put_v6_compressed(p, address);
		else
			put_v6(p, address, raw);
		return true;
	case 'S':
		put_sockaddr(p, address, raw, what + 2);
		return true;
	default:
		return false;
	}
}

/* ---- The other conversions ---- */

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

static void put_error(struct trace_seq *p, const void *ptr)
{
	if (!is_error(ptr)) {
		put_address(p, ptr);
		return;
	}
	int error = (int)-(intptr_t)ptr;
	const char *name = tp_error_name(error);
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
		if (!put_ip(p, what, ptr))
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

