/* SPDX-License-Identifier: MIT */
/*
 * test_pointer.c - the kernel's %pI4, %pU, %pS ... in TP_printk. The expected
 * texts are what the kernel prints for the same bytes.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include <tp/print.h>

#include "base/base.h"
#include "base/error_name.h"
#include "print/seq.h"
#include "print/symbol.h"
#include "util.h"

static char buffer[8192];

static const char *text_of(const char *what, long n, const void *ptr)
{
	static struct trace_seq p;

	trace_seq_init(&p, buffer, sizeof(buffer));
	return tp_seq_pointer(&p, what, n, ptr);
}

/* ---- What is in memory ---- */

static const unsigned char bytes[16] = {0x01, 0x02, 0x0a, 0xff, 0x00, 0x05, 0x66, 0x77,
					0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xf0};

static const struct {
	const char *what;
	long n;
	const char *text;
} byte_cases[] = {
	{"I4", -1, "1.2.10.255"},
	{"I4n", -1, "1.2.10.255"},
	{"I4b", -1, "1.2.10.255"},
	{"I4l", -1, "255.10.2.1"},
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	{"I4h", -1, "255.10.2.1"},
	{"i4h", -1, "255.010.002.001"},
#endif
	{"i4", -1, "001.002.010.255"},
	{"I6", -1, "0102:0aff:0005:6677:8899:aabb:ccdd:eef0"},
	{"i6", -1, "01020aff000566778899aabbccddeef0"},
	{"I6c", -1, "102:aff:5:6677:8899:aabb:ccdd:eef0"},
	{"i6c", -1, "01020aff000566778899aabbccddeef0"},
	{"M", -1, "01:02:0a:ff:00:05"},
	{"MF", -1, "01-02-0a-ff-00-05"},
	{"MR", -1, "05:00:ff:0a:02:01"},
	{"m", -1, "01020aff0005"},
	{"mR", -1, "0500ff0a0201"},
	{"U", -1, "01020aff-0005-6677-8899-aabbccddeef0"},
	{"Ub", -1, "01020aff-0005-6677-8899-aabbccddeef0"},
	{"UB", -1, "01020AFF-0005-6677-8899-AABBCCDDEEF0"},
	{"Ul", -1, "ff0a0201-0500-7766-8899-aabbccddeef0"},
	{"UL", -1, "FF0A0201-0500-7766-8899-AABBCCDDEEF0"},
	{"h", -1, "01"},
	{"h", 0, ""},
	{"h", 4, "01 02 0a ff"},
	{"hC", 4, "01:02:0a:ff"},
	{"hD", 4, "01-02-0a-ff"},
	{"hN", 4, "01020aff"},
	{"hz", 2, "01 02"},
	{"hC", 1, "01"},
};

LOOP_TEST(bytes_as_the_kernel, NR_OF(byte_cases))
{
	/* At an odd address, as they may be in a record. */
	char odd[32];

	memcpy(odd + 1, bytes, sizeof(bytes));
	ck_assert_str_eq(text_of(byte_cases[_i].what, byte_cases[_i].n, odd + 1), byte_cases[_i].text);
}

TEST(no_more_than_64_bytes)
{
	char many[100];

	memset(many, 0x5a, sizeof(many));
	ck_assert_uint_eq(strlen(text_of("hN", 64, many)), 128);
	ck_assert_uint_eq(strlen(text_of("hN", 65, many)), 128);
	ck_assert_uint_eq(strlen(text_of("h", LONG_MAX, many)), 64 * 3 - 1);
}

static const struct {
	const char *address;
	const char *text;
} v6_cases[] = {
	{"::", "::"},
	{"::1", "::1"},
	{"1::", "1::"},
	{"2001:db8::1", "2001:db8::1"},
	{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"}, /* a single 0 is not compressed */
	{"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},     /* of two runs the first */
	{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},           /* or the longer */
	{"fe80::202:b3ff:fe1e:8329", "fe80::202:b3ff:fe1e:8329"},
	{"::ffff:192.0.2.33", "::ffff:192.0.2.33"},
	{"::192.0.2.33", "::c000:221"}, /* not mapped */
	{"fe80::5efe:192.0.2.33", "fe80::5efe:192.0.2.33"},
	{"fe80::200:5efe:192.0.2.33", "fe80::200:5efe:192.0.2.33"},
	{"1:2:3:4:0:5efe:1.2.3.4", "1:2:3:4:0:5efe:1.2.3.4"},
	{"0:0:1:0:0:0:0:0", "0:0:1::"},
	{"abcd:ef01:2345:6789:abcd:ef01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"},
};

LOOP_TEST(compressed_v6, NR_OF(v6_cases))
{
	struct in6_addr address;

	ck_assert_int_eq(inet_pton(AF_INET6, v6_cases[_i].address, &address), 1);
	ck_assert_str_eq(text_of("I6c", -1, &address), v6_cases[_i].text);
}

/* Where the C library writes an address in the same way, all agree: RFC 5952, but for what ends as IPv4. */
TEST(compressed_v6_as_inet_ntop)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	for (unsigned int zeros = 0; zeros < 256; zeros++) {
		for (unsigned int i = 0; i < 8; i++) {
			address.s6_addr[2 * i] = 0;
			address.s6_addr[2 * i + 1] = zeros >> i & 1 ? 0 : (unsigned char)(i + 1);
		}
		address.s6_addr[0] |= 0x20; /* keeps inet_ntop from its own idea of IPv4 in IPv6 */
		inet_ntop(AF_INET6, &address, text, sizeof(text));
		ck_assert_str_eq(text_of("I6c", -1, &address), text);
	}
}

static const struct {
	const char *what;
	const char *v4, *v6;
} sockaddr_cases[] = {
	{"IS", "192.0.2.1", "2001:0db8:0000:0000:0000:0000:0000:0001"},
	{"iS", "192.000.002.001", "20010db8000000000000000000000001"},
	{"ISc", "192.0.2.1", "2001:db8::1"},
	{"ISp", "192.0.2.1:8080", "[2001:0db8:0000:0000:0000:0000:0000:0001]:8080"},
	{"ISpc", "192.0.2.1:8080", "[2001:db8::1]:8080"},
	{"ISpfsc", "192.0.2.1:8080", "[2001:db8::1]:8080/74565%7"},
	{"ISfc", "192.0.2.1", "[2001:db8::1]/74565"},
	{"ISsc", "192.0.2.1", "[2001:db8::1]%7"},
	{"iSpc", "192.000.002.001:8080", "[20010db8000000000000000000000001]:8080"},
	{"ISlp", "1.2.0.192:8080", "[2001:0db8:0000:0000:0000:0000:0000:0001]:8080"},
};

LOOP_TEST(socket_addresses, NR_OF(sockaddr_cases))
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(8080)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(8080), .sin6_scope_id = 7,
				  .sin6_flowinfo = htonl(0xf0012345)};
	char odd[64];

	inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
	inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
	memcpy(odd + 1, &v4, sizeof(v4));
	ck_assert_str_eq(text_of(sockaddr_cases[_i].what, -1, odd + 1), sockaddr_cases[_i].v4);
	memcpy(odd + 3, &v6, sizeof(v6));
	ck_assert_str_eq(text_of(sockaddr_cases[_i].what, -1, odd + 3), sockaddr_cases[_i].v6);
}

TEST(other_families)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};

	ck_assert_str_eq(text_of("ISpc", -1, &path), "(einval)");
	ck_assert_str_eq(text_of("iS", -1, &path), "(einval)");
}

TEST(bitmaps)
{
	unsigned long map[3] = {0, 0, 0};
	uint32_t narrow[2] = {0x5, 0xffffffff};

	map[0] = 1ul | 1ul << 3 | 1ul << 4 | 1ul << 5;
	ck_assert_str_eq(text_of("b", 8, map), "39");
	ck_assert_str_eq(text_of("b", 0, map), "");
	ck_assert_str_eq(text_of("b", -1, map), "");
	ck_assert_str_eq(text_of("b", 1, map), "1");
	ck_assert_str_eq(text_of("b", 5, map), "19");
	ck_assert_str_eq(text_of("b", 32, map), "00000039");
	ck_assert_str_eq(text_of("b", 33, map), "0,00000039");
	ck_assert_str_eq(text_of("bl", 64, map), "0,3-5");
	ck_assert_str_eq(text_of("bl", 4, map), "0,3");
	ck_assert_str_eq(text_of("bl", 0, map), "");
#if __SIZEOF_LONG__ == 8
	map[0] |= 1ul << 63;
	map[1] = 3;
	ck_assert_str_eq(text_of("b", 96, map), "00000003,80000000,00000039");
	ck_assert_str_eq(text_of("b", 65, map), "1,80000000,00000039");
	ck_assert_str_eq(text_of("bl", 192, map), "0,3-5,63-65");
	ck_assert_str_eq(text_of("bl", 65, map), "0,3-5,63-64");
#endif
	memset(map, 0xff, sizeof(map));
	ck_assert_str_eq(text_of("bl", (long)sizeof(map) * 8, map), sizeof(map) == 24 ? "0-191" : "0-95");
	ck_assert_str_eq(text_of("b", 32, narrow), "00000005"); /* and nothing behind it is read */
}

/* The last byte is the page's: a byte more would be a SIGSEGV. */
TEST(nothing_behind_is_read)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(mprotect(memory + page, (size_t)page, PROT_NONE), 0);
	char *end = memory + page;
	memset(memory, 0xff, (size_t)page);
	text_of("I4", -1, end - 4);
	text_of("I6c", -1, end - 16);
	text_of("M", -1, end - 6);
	text_of("U", -1, end - 16);
	text_of("h", 3, end - 3);
	text_of("a", -1, end - sizeof(long));
	*(sa_family_t *)(void *)(end - 2) = AF_UNIX;
	text_of("IS", -1, end - 2);
	*(sa_family_t *)(void *)(end - 16) = AF_INET;
	text_of("ISp", -1, end - 16);
	text_of("b", (long)sizeof(long) * 8, end - sizeof(long));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	text_of("bl", 9, end - 2);
#endif
	munmap(memory, (size_t)page * 2);
}

/* ---- Addresses that are none, and values ---- */

static const char *const readers[] = {"I4", "i4h", "I6", "I6c", "IS", "ISpc", "M", "mR", "U", "UL", "h", "hC",
				      "b",  "bl",  "a",  "ap",  "ad", "",     "Q",  "I",   "I5"};

LOOP_TEST(no_addresses, NR_OF(readers))
{
	ck_assert_str_eq(text_of(readers[_i], 8, NULL), "(null)");
	ck_assert_str_eq(text_of(readers[_i], 8, (void *)1), "(efault)");
	ck_assert_str_eq(text_of(readers[_i], 8, (void *)4095), "(efault)");
	ck_assert_str_eq(text_of(readers[_i], 8, (void *)-1l), "(efault)");
	ck_assert_str_eq(text_of(readers[_i], 8, (void *)-4095l), "(efault)");
}

TEST(values)
{
	unsigned long value = 0xabcdef;

	ck_assert_str_eq(text_of("e", -1, (void *)-2l), "-ENOENT");
	ck_assert_str_eq(text_of("e", -1, (void *)-12l), "-ENOMEM");
	ck_assert_str_eq(text_of("e", -1, (void *)-4095l), "-4095");
#if __SIZEOF_POINTER__ == 8
	ck_assert_str_eq(text_of("x", -1, (void *)0x1234), "0000000000001234");
	ck_assert_str_eq(text_of("K", -1, (void *)-1l), "ffffffffffffffff");
	ck_assert_str_eq(text_of("e", -1, (void *)0x1234), "0000000000001234");
	ck_assert_str_eq(text_of("e", -1, (void *)-4096l), "fffffffffffff000");
	ck_assert_str_eq(text_of("x", -1, NULL), "0000000000000000");
	ck_assert_str_eq(text_of("a", -1, &value), "0x0000000000abcdef");
	ck_assert_str_eq(text_of("ap", -1, &value), "0x0000000000abcdef");
	ck_assert_str_eq(text_of("ad", -1, &value), "0x0000000000abcdef");
#endif
	/* tpgen lets no other through, but the memory behind must not be touched. */
	char address[32];
	snprintf(address, sizeof(address), "%0*lx", (int)sizeof(long) * 2, (unsigned long)(uintptr_t)&value);
	ck_assert_str_eq(text_of("Q", -1, &value), address);
	ck_assert_str_eq(text_of("", -1, &value), address);
	ck_assert_str_eq(text_of("I", -1, &value), address);
	ck_assert_str_eq(text_of("I7", -1, &value), address);
}

TEST(macros)
{
	struct trace_seq seq, *p = &seq;
	unsigned int n = 2;

	trace_seq_init(p, buffer, sizeof(buffer));
	ck_assert_str_eq(__print_pointer("M", bytes), "01:02:0a:ff:00:05");
	ck_assert_str_eq(__print_pointer_n("hD", n, bytes), "01-02");
	ck_assert_str_eq(__print_pointer_n("hD", sizeof(bytes) - 13, bytes), "01-02-0a");
	ck_assert_str_eq(__print_pointer_n("h", -5, bytes), "");
}

/* As glibc has them, where it has. */
TEST(names_of_errors)
{
	for (int error = 1; error < 5000; error++) {
		const char *name = tp_error_name(error);
#if TP_GLIBC(2, 32)
		const char *theirs = strerrorname_np(error);
		ck_assert_msg(name ? theirs && strcmp(name, theirs) == 0 : !theirs, "%d: %s, not %s", error, name, theirs);
#endif
		ck_assert_msg(!name || *name == 'E', "%d: %s", error, name);
	}
	ck_assert_str_eq(tp_error_name(EPERM), "EPERM");
	ck_assert_str_eq(tp_error_name(ENOTRECOVERABLE), "ENOTRECOVERABLE");
	ck_assert_ptr_null(tp_error_name(0));
	ck_assert_ptr_null(tp_error_name(-1));
	ck_assert_ptr_null(tp_error_name(INT_MAX));
}

/* ---- Symbols ---- */

static void local_function(void)
{
}

TEST(symbols)
{
	char expected[64];
	struct tp_symbol symbol;
	char *code = (char *)(uintptr_t)a64l;

	ck_assert(tp_symbol_find((uintptr_t)code, &symbol));
	ck_assert_str_eq(symbol.name, "a64l");
	ck_assert_uint_gt(symbol.size, 8);
	ck_assert_str_eq(text_of("s", -1, code + 1), "a64l");
	ck_assert_str_eq(text_of("f", -1, code), "a64l");
	ck_assert_str_eq(text_of("sR", -1, code), "a64l");
	snprintf(expected, sizeof(expected), "a64l+0x0/0x%zx", symbol.size);
	ck_assert_str_eq(text_of("S", -1, code), expected);
	snprintf(expected, sizeof(expected), "a64l+0x5/0x%zx", symbol.size);
	ck_assert_str_eq(text_of("S", -1, code + 5), expected);
	ck_assert_str_eq(text_of("SR", -1, code + 5), expected);
	ck_assert_str_eq(text_of("F", -1, code + 5), expected);
	/* A function's last instruction may be a call: the return address is then the next function's. */
	snprintf(expected, sizeof(expected), "a64l+0x%zx/0x%zx", symbol.size, symbol.size);
	ck_assert_str_eq(text_of("B", -1, code + symbol.size), expected);
	ck_assert_str_ne(text_of("S", -1, code + symbol.size), expected);
}

TEST(addresses_without_symbols)
{
	int variable;
	const void *addresses[] = {NULL, (void *)1, (void *)-1l, &variable, malloc(1), (void *)(uintptr_t)local_function};
	char expected[32];

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		snprintf(expected, sizeof(expected), "0x%lx", (unsigned long)(uintptr_t)addresses[i]);
		ck_assert_str_eq(text_of("S", -1, addresses[i]), expected);
		ck_assert_str_eq(text_of("s", -1, addresses[i]), expected);
		ck_assert_str_eq(text_of("B", -1, addresses[i]), expected);
	}
	free((void *)(uintptr_t)addresses[4]);
}

/* All that is loaded, a bit of everywhere: dladdr knows the same symbol, or ours is none. */
static int compare_with_dladdr(struct dl_phdr_info *module, size_t size, void *found)
{
	(void)size;
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD)
			continue;
		for (uintptr_t at = 0; at < segment->p_memsz; at += 509) {
			uintptr_t address = module->dlpi_addr + segment->p_vaddr + at;
			struct tp_symbol symbol;
			Dl_info info;
			if (!tp_symbol_find(address, &symbol))
				continue;
			++*(unsigned int *)found;
			ck_assert(dladdr((void *)address, &info));
			ck_assert_msg((uintptr_t)info.dli_saddr == symbol.address, "%s: %s, but dladdr says %s",
				      module->dlpi_name, symbol.name, info.dli_sname);
			ck_assert(address >= symbol.address &&
				  (address < symbol.address + symbol.size || address == symbol.address));
		}
	}
	return 0;
}

TEST(as_dladdr)
{
	unsigned int found = 0;

	dl_iterate_phdr(compare_with_dladdr, &found);
	ck_assert_uint_gt(found, 100);
}

/* ---- Too little room ---- */

TEST(any_room)
{
	static const char *const all[] = {"I4", "i4", "I6", "I6c", "M", "U", "h", "hN", "b", "bl", "x", "S", "a", "e"};
	char whole[256], small[256];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(whole, sizeof(whole), "%s", text_of(all[i], 16, bytes));
		for (size_t size = 1; size <= strlen(whole) + 3; size++) {
			struct trace_seq p;
			memset(small, 'X', sizeof(small));
			trace_seq_init(&p, small, size);
			const char *text = tp_seq_pointer(&p, all[i], 16, bytes);
			ck_assert_ptr_eq(text, small);
			ck_assert_int_eq(strncmp(text, whole, strlen(text)), 0);
			ck_assert_int_eq(p.full, size <= strlen(whole));
			ck_assert_uint_lt(p.len, size);
			/* What is in front stays when there is no room for more. */
			const char *second = tp_seq_pointer(&p, "M", -1, bytes);
			ck_assert_int_eq(strncmp(text, whole, strlen(text)), 0);
			ck_assert_int_eq(strncmp(second, "01:02", strlen(second)), 0);
			for (size_t c = size; c < sizeof(small); c++)
				ck_assert_int_eq(small[c], 'X');
		}
	}
}
