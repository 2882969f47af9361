/* SPDX-License-Identifier: MIT */
/*
 * test_language.c - the dynamic fields of a record: what the macros of
 * TP_fast_assign make of their arguments, and what readers find in CTF.
 */
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tp/assign.h>
#include <tp/sink.h>
#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "ctf_fixture.h"
#include "language.h"
#include "util.h"

/* ---- Lengths and places ---- */

static struct tp_dynamic d;
static char bytes[1 << 17] __attribute__((aligned(8)));

static size_t length(void)
{
	return d.loc >> 16;
}

static char *payload(void)
{
	return bytes + (d.loc & 0xffff);
}

/* Puts what was measured with this size into the record. */
static tp_data_loc_t place(size_t size)
{
	memset(bytes, 0x55, sizeof(bytes));
	ck_assert_uint_le(size, TP_RECORD_MAX);
	return tp_place(bytes, &d);
}

/* Nothing is written behind the record. */
static void check_end(size_t size)
{
	for (size_t i = size; i < size + 16; i++)
		ck_assert_int_eq(bytes[i], 0x55);
}

static const struct {
	const char *source;
	size_t len;
	const char *text;
} part_cases[] = {
	{"hello", 3, "hel"}, {"hello", 5, "hello"}, {"hello", 0, ""}, {"hello", 50, "hello"}, {"", 5, ""},
	{NULL, 50, "(null)"}, {NULL, 3, "(nu"}, {NULL, 0, ""}, {"hello", PTRDIFF_MAX, "hello"}, {"hello", 1ul << 16, "hello"},
};

LOOP_TEST(parts_of_strings, NR_OF(part_cases))
{
	size_t size = tp_size_string_len(&d, 21, part_cases[_i].source, part_cases[_i].len);

	ck_assert_uint_eq(size, 21 + strlen(part_cases[_i].text) + 1);
	ck_assert_uint_eq(place(size) & 0xffff, 21);
	ck_assert_uint_eq(length(), strlen(part_cases[_i].text) + 1);
	tp_assign_str(bytes, &d);
	ck_assert_str_eq(payload(), part_cases[_i].text);
	check_end(size);
}

TEST(parts_end_where_they_end)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(mprotect(memory + page, (size_t)page, PROT_NONE), 0);
	memset(memory, 'x', (size_t)page);
	ck_assert_uint_gt(tp_size_string_len(&d, 8, memory + page - 10, (size_t)-1), TP_RECORD_MAX); /* reads nothing */
	size_t size = tp_size_string_len(&d, 8, memory + page - 10, 10);
	ck_assert_uint_eq(size, 8 + 11);
	place(size);
	tp_assign_str(bytes, &d);
	ck_assert_str_eq(payload(), "xxxxxxxxxx");
	munmap(memory, (size_t)page * 2);
}

TEST(long_strings)
{
	char *text = malloc(1 << 17);

	memset(text, 'x', 1 << 17);
	text[(1 << 17) - 1] = '\0';
	ck_assert_uint_gt(tp_size_string(&d, 8, text), TP_RECORD_MAX);
	ck_assert_uint_gt(tp_size_string_len(&d, 8, text, TP_RECORD_MAX), TP_RECORD_MAX);
	ck_assert_uint_gt(tp_size_string_len(&d, 8, text, SIZE_MAX), TP_RECORD_MAX);
	ck_assert_uint_eq(tp_size_string_len(&d, 8, text, TP_RECORD_MAX - 9), TP_RECORD_MAX);
	free(text);
}

/* The text is what it was when it was measured, however it has changed since. */
TEST(changing_string)
{
	char text[] = "before";
	size_t size = tp_size_string(&d, 8, text);

	text[3] = '\0';
	place(size);
	tp_assign_str(bytes, &d);
	ck_assert_str_eq(payload(), "bef");
	strcpy(text, "other!");
	tp_assign_str(bytes, &d);
	ck_assert_str_eq(payload(), "other!");
	check_end(size);
}

static __attribute__((format(printf, 1, 2))) size_t vstring(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	size_t size = tp_size_vstring(&d, 8, fmt, &args);
	place(size);
	tp_assign_vstr(bytes, &d, fmt, &args);
	tp_assign_vstr(bytes, &d, fmt, &args); /* the list is still whole */
	va_end(args);
	return size;
}

TEST(formatted_strings)
{
	char text[600];

	ck_assert_uint_eq(vstring("%s-%d-%s", "a", 12, "b"), 8 + 7);
	ck_assert_str_eq(payload(), "a-12-b");
	check_end(8 + 7);
	ck_assert_uint_eq(vstring("%s", ""), 8 + 1);
	ck_assert_str_eq(payload(), "");
	memset(text, 'x', sizeof(text));
	text[511] = '\0';
	ck_assert_uint_eq(vstring("%s", text), 8 + 512);
	ck_assert_str_eq(payload(), text);
	text[511] = 'x';
	text[599] = '\0';
	ck_assert_uint_eq(vstring("%s", text), 8 + 512);
	ck_assert_uint_eq(strlen(payload()), 511);
	check_end(8 + 512);
}

TEST(formatted_strings_that_fail)
{
	const char *volatile none = NULL;
	wchar_t wide[] = {0x12345, 0};

	ck_assert_uint_eq(tp_size_vstring(&d, 8, none, NULL), 8 + 1);
	place(9);
	tp_assign_vstr(bytes, &d, none, NULL);
	ck_assert_str_eq(payload(), "");
	ck_assert_uint_eq(vstring("%ls", wide), 8 + 1); /* not in the C locale's character set */
	ck_assert_str_eq(payload(), "");
}

static __attribute__((format(printf, 2, 3))) void assign_only(size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	place(size);
	tp_assign_vstr(bytes, &d, fmt, &args);
	va_end(args);
}

TEST(formatted_string_that_changes)
{
	size_t size = vstring("%s", "12345");

	assign_only(size, "%s", "1");
	ck_assert_mem_eq(payload(), "1\0\0\0\0", 6);
	assign_only(size, "%s", "123456789");
	ck_assert_str_eq(payload(), "12345");
	check_end(size);
}

#define WORD sizeof(unsigned long)

static const struct {
	size_t nr_bits;
	size_t words;
} bit_cases[] = {
	{0, 0}, {1, 1}, {WORD * 8 - 1, 1}, {WORD * 8, 1}, {WORD * 8 + 1, 2}, {1024, 128 / WORD},
};

LOOP_TEST(bitmasks, NR_OF(bit_cases))
{
	unsigned long bits[128 / WORD];
	size_t len = bit_cases[_i].words * WORD;
	size_t begin = (10 + 2 + WORD - 1) / WORD * WORD; /* behind the number of elements */
	size_t size = tp_size_bitmask(&d, 9, bit_cases[_i].nr_bits);

	memset(bits, 0xa5, sizeof(bits));
	ck_assert_uint_eq(size, begin + len);
	ck_assert_uint_eq(place(size), len << 16 | begin);
	ck_assert_uint_eq(*(uint16_t *)(void *)(bytes + 10), bit_cases[_i].words);
	tp_assign_bitmask(bytes, &d, bits, bit_cases[_i].nr_bits);
	ck_assert_mem_eq(payload(), bits, len);
	check_end(size);
	/* More than was measured, or nothing. */
	tp_assign_bitmask(bytes, &d, bits, bit_cases[_i].nr_bits + 64);
	tp_assign_bitmask(bytes, &d, bits, SIZE_MAX);
	check_end(size);
	tp_assign_bitmask(bytes, &d, NULL, bit_cases[_i].nr_bits);
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(payload()[i], 0);
	check_end(size);
}

/* Less than was measured: what is behind is 0. */
TEST(bitmask_that_is_shorter)
{
	unsigned long bits[] = {1, 2, 3}, expected[] = {1, 2, 0};
	size_t size = tp_size_bitmask(&d, 8, 3 * WORD * 8);

	place(size);
	tp_assign_bitmask(bytes, &d, bits, 2 * WORD * 8);
	ck_assert_mem_eq(payload(), expected, sizeof(expected));
	check_end(size);
}

TEST(too_long)
{
	static const size_t lengths[] = {(size_t)-1, (size_t)INT_MIN, SIZE_MAX / 2, (TP_RECORD_MAX + 1) * 8ul, 1ul << 20};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ck_assert_uint_gt(tp_size_bitmask(&d, 8, lengths[i]), TP_RECORD_MAX);
		ck_assert_uint_lt(tp_size_bitmask(&d, 8, lengths[i]), 2 * TP_RECORD_MAX);
		ck_assert_uint_gt(tp_size_sockaddr(&d, 8, lengths[i]), TP_RECORD_MAX);
		ck_assert_uint_lt(tp_size_sockaddr(&d, 8, lengths[i]), 2 * TP_RECORD_MAX);
		ck_assert_uint_gt(tp_size_array(&d, 8, 24, 8, lengths[i]), TP_RECORD_MAX);
		ck_assert_uint_lt(tp_size_array(&d, 8, 24, 8, lengths[i]), 2 * TP_RECORD_MAX);
	}
	/* An element of no bytes, GNU C's empty structure. */
	ck_assert_uint_eq(tp_size_array(&d, 8, 0, 1, SIZE_MAX / 2), 8);
}

TEST(cpumasks)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t set;
	size_t size = tp_size_cpumask(&d, 8);
	long filled_in = syscall(SYS_sched_getaffinity, 0, sizeof(set), &set);

	/* As many as the kernel's masks have, which may be more than the machine has processors. */
	ck_assert_uint_eq(length(), filled_in > 0 ? ((size_t)filled_in + WORD - 1) / WORD * WORD : sizeof(set));
	ck_assert_uint_ge(length() * 8, (size_t)configured < CPU_SETSIZE ? (size_t)configured : CPU_SETSIZE);
	ck_assert_uint_le(length(), sizeof(set));
	memset(&set, 0x5a, sizeof(set));
	place(size);
	tp_assign_bytes(bytes, &d, &set, SIZE_MAX);
	ck_assert_mem_eq(payload(), &set, length());
	check_end(size);
	ck_assert_uint_eq(tp_size_cpumask(&d, 8), size); /* from the cache */
}

TEST(relative_places)
{
	tp_data_loc_t *word = (tp_data_loc_t *)(void *)(bytes + 12);
	size_t size = tp_size_array(&d, 20, 4, 4, 3);

	place(size);
	*word = tp_place_rel(bytes, word, &d);
	ck_assert_uint_eq(*word >> 16, 12);
	ck_assert_ptr_eq((char *)(word + 1) + (*word & 0xffff), payload());
	ck_assert_uint_eq(*(uint16_t *)(void *)(bytes + 20), 3);
	/* Right behind its word, and as far as a record goes. */
	tp_size_string(&d, 16, "x");
	ck_assert_uint_eq(tp_place_rel(bytes, word, &d), 2u << 16);
	tp_size_string(&d, TP_RECORD_MAX - 2, "x");
	ck_assert_uint_eq(tp_place_rel(bytes, word, &d), 2u << 16 | (TP_RECORD_MAX - 2 - 16));
}

/* ---- In a trace ---- */

static struct language_values values(void)
{
	static const unsigned long bits[] = {0x8000000000000005ul & ~0ul, 6};
	static const uint32_t words[] = {7, 0xffffffff};
	static struct sockaddr_in address = {.sin_family = AF_INET};
	static cpu_set_t cpus;

	address.sin_port = htons(0x1234);
	address.sin_addr.s_addr = htonl(0x7f000001);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return (struct language_values){
		.pair = {.a = -2, .b = 3}, .text = "text", .part = "partial", .part_len = 4, .bits = bits, .nr_bits = 68,
		.cpus = &cpus, .address = &address, .address_len = sizeof(address), .words = words, .nr_words = 2,
		.last = -1,
	};
}

static TP_UNUSED char *record_and_read(void)
{
	struct tp_sink *sink;
	struct language_values v = values();

	tp_module_load(&language_module);
	sink = tp_ctf_sink(trace, NULL);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(tp_enable(sink, "language:*"), 1);
	trace_language(&v, "%s %d", "message", 5);
	v = (struct language_values){.last = -2}; /* all is empty or NULL */
	v.part_len = 3;
	trace_language(&v, "%s", "");
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	v.address_len = SIZE_MAX;
	trace_language(&v, "%s", "");
	ck_assert_uint_eq(tp_sink_lost(sink), 1);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	free(captured_stderr()); /* the lost one */
	tp_module_unload(&language_module);
	return clean_babeltrace(trace);
}

#if __SIZEOF_LONG__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
FIXTURE(setup, NULL)

TEST(in_ctf)
{
	char *text = record_and_read();
	char *second = strchr(text, '\n');

	ck_assert_uint_eq(count_of(text, "language:language"), 2);
	*second++ = '\0';
	ck_assert_contains(text, "pair = [ [0] = 0xFE, [1] = 0xFF, ");
	ck_assert_contains(text, "name = \"abc\"");
	ck_assert_contains(text, " text = \"text\"");
	ck_assert_contains(text, " part = \"part\"");
	ck_assert_contains(text, "message = \"message 5\"");
	ck_assert_contains(text, " bits = [ [0] = 0x8000000000000005, [1] = 0x6 ]");
	ck_assert_contains(text, " cpus = [ [0] = 0x1");
	ck_assert_contains(text, " address = [ [0] = 0x2, [1] = 0x0, [2] = 0x12, [3] = 0x34, [4] = 0x7F, [5] = 0x0, "
				 "[6] = 0x0, [7] = 0x1,");
	ck_assert_contains(text, " words = [ [0] = 7, [1] = 4294967295 ]");
	ck_assert_contains(text, "rel_text = \"text\"");
	ck_assert_contains(text, "rel_part = \"part\"");
	ck_assert_contains(text, "rel_bits = [ [0] = 0x8000000000000005, [1] = 0x6 ]");
	ck_assert_contains(text, "rel_cpus = [ [0] = 0x1");
	ck_assert_contains(text, "rel_address = [ [0] = 0x2, [1] = 0x0, [2] = 0x12, [3] = 0x34,");
	ck_assert_contains(text, "rel_words = [ [0] = 7, [1] = 4294967295 ]");
	ck_assert_contains(text, "last = -1");

	ck_assert_contains(second, " text = \"(null)\"");
	ck_assert_contains(second, " part = \"(nu\"");
	ck_assert_contains(second, " bits = [ ]");
	ck_assert_contains(second, " cpus = [ [0] = 0x0");
	ck_assert_contains(second, "rel_address = [ ]");
	ck_assert_contains(second, "rel_words = [ ]");
	ck_assert_contains(second, "last = -2");
	free(text);
}
#endif

/* The printer, by way of the text sink. */
TEST(in_text)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct tp_sink *sink;
	struct language_values v = values();

	tp_module_load(&language_module);
	sink = tp_text_sink(file);
	ck_assert_int_eq(tp_enable(sink, "language:*"), 1);
	v.nr_bits = 3;
	trace_language(&v, "%s %d", "message", 5);
	tp_sink_close(sink);
	tp_module_unload(&language_module);
	fclose(file);
	ck_assert_contains(text, "text=text part=part message=message 5 bits=");
	ck_assert_contains(text, "00000005 cpus=");
	ck_assert_contains(text, "00000001 address=127.0.0.1:4660 words={0x7,0xffffffff} last=-1\n");
	free(text);
}
