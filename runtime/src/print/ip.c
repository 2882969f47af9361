/* SPDX-License-Identifier: MIT */
/*
 * print/ip.c - the kernel's %pI4, %pI6c, %pISpc ... in TP_printk.
 *
 * An address may stand anywhere in a record, so its bytes are copied.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "print/seq.h"

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

bool tp_seq_ip(struct trace_seq *p, const char *what, const unsigned char *address)
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
