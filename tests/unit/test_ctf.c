/* SPDX-License-Identifier: MIT */
/*
 * test_ctf.c - the CTF output: values, packets. Opening it is in test_ctf_open.c;
 * threads, signals and forks are in test_ctf_threads.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tp/define_trace.h>
#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "base/thread.h"
#include "describe.h"
#include "sample.h"
#include "util.h"

/* ---- Values ---- */

FIXTURE(setup, NULL)

TEST(every_kind_of_field)
{
	static const uint8_t bytes[] = {1, 2, 255};
	static const uint32_t words[] = {7, 0xffffffff};
	static const struct sample_point points[] = {{1, -1, 2}, {3, 4, 5}};
	struct sample_values v = {
		.s8 = -128, .u8 = 255, .s16 = -32768, .u16 = 65535, .s32 = INT32_MIN, .u32 = UINT32_MAX,
		.s64 = INT64_MIN, .u64 = UINT64_MAX, .flag = true, .single = 1.5f, .wide = -2.25,
		.pointer = (const void *)0xdeadbeef, .level = 2, .comm = "comm", .numbers = {1, -2, 3},
		.point = {258, -1, 9}, .text = "a \"string\"", .bytes = bytes, .nr_bytes = 3, .words = words, .nr_words = 2,
		.points = points, .nr_points = 2, .last = "end",
	};
	struct tp_sink *sink = open_sink(NULL);
	char expected[64];

	trace_sample_kinds(&v);
	v.nr_bytes = v.nr_words = v.nr_points = 0;
	v.text = v.last = "";
	v.level = -1;
	memcpy(v.comm, "unending", 8);
	trace_sample_kinds(&v);
	v.level = 3;
	v.nr_words = 1;
	trace_sample_kinds(&v);
	v.level = 77;
	trace_sample_kinds(&v);
	trace_sample_int(-5);
	ck_assert_int_eq(tp_sink_close(sink), 0);

	char *text = clean_babeltrace(trace), *rest = text;
	const char *line = strsep(&rest, "\n");
	snprintf(expected, sizeof(expected), "sample:sample_kinds: { tid = %d }, { s8 = -128, u8 = 255,", tp_thread_id());
	ck_assert_contains(line, expected);
	ck_assert_contains(line, "s16 = -32768, u16 = 65535, s32 = -2147483648, u32 = 4294967295,");
	ck_assert_contains(line, "s64 = -9223372036854775808, event = 18446744073709551615, flag = 1,");
	ck_assert_contains(line, "align = 1.5, wide = -2.25, clock = 0xDEADBEEF, level = ( \"\\\"HIGH\\\"\" : container = 2 ),");
	ck_assert_contains(line, "comm = \"comm\", numbers = [ [0] = 1, [1] = -2, [2] = 3 ], _string_loc = 9,");
	ck_assert_contains(line, "point = [ [0] = 0x2, [1] = 0x1, [2] = 0xFF, [3] = 0xFF, [4] = 0x9, [5] = ");
	ck_assert_contains(line, " string = \"a \\\"string\\\"\", bytes = [ [0] = 1, [1] = 2, [2] = 255 ],");
	ck_assert_contains(line, " words = [ [0] = 7, [1] = 4294967295 ],");
	ck_assert_contains(line, "[1] = { bytes = [ [0] = 0x3, [1] = 0x0, [2] = 0x4, [3] = 0x0, [4] = 0x5, [5] = ");
	ck_assert_contains(line, " stream = \"end\" }");
	line = strsep(&rest, "\n");
	ck_assert_contains(line, "level = ( \"NONE\" : container = -1 ), comm = \"unending\",");
	ck_assert_contains(line, " string = \"\", bytes = [ ], ");
	ck_assert_contains(line, " words = [ ], ");
	ck_assert_contains(line, " points = [ ], stream = \"\" }");
	line = strsep(&rest, "\n");
	ck_assert_contains(line, "level = ( \"LOW\" : container = 3 )"); /* a name of two values */
	ck_assert_contains(line, " words = [ [0] = 7 ],");
	line = strsep(&rest, "\n");
	ck_assert_contains(line, "level = ( <unknown> : container = 77 )");
	line = strsep(&rest, "\n");
	ck_assert_contains(line, "sample:sample_int:");
	ck_assert_contains(line, "{ value = -5 }");
	ck_assert_str_eq(rest, "");
	free(text);
}

enum named_mood { MOOD_GOOD = 3, MOOD_BAD = -4 };

struct named_record {
	struct trace_entry ent;
	uint32_t flags;
	int16_t masks;
	uint64_t many;
	uint8_t none;
	struct sample_point points[2];
	const void *pointers[2];
	enum named_mood moods[2];
	bool switches[2];
	long double longest;
	struct {
		char c;
	} small[2];
	TP_DYNAMIC_DATA
};

/* A value that has no room in 32 bits: a long may have none, either. */
#if __SIZEOF_LONG__ == 8
#define TOO_BIG {1ul << 40, "too big"},
#else
#define TOO_BIG
#endif
#define HIGHEST (1ul << (8 * sizeof(long) - 1))

static const struct trace_print_flags named_flags[] = {
	{1, "A"}, {2, "B"}, {4, "C"}, {8, "D"}, {16, "E"}, TOO_BIG {32, ""}, {7, "ABC"}, {0, NULL},
};
static const struct trace_print_flags named_masks[] = {
	{3, "rw"}, {1, "r"}, {2, "*/w"}, {0, "rest"}, {0xc, "both"}, {(unsigned long)-32768, "sign"}, {0, NULL},
};
static const struct trace_print_flags named_many[] = {
	{1, "1"}, {2, "2"}, {4, "*/4"}, {8, "\"8\""}, {16, "16"}, {32, "32"}, {HIGHEST, "last"}, {0, NULL},
};

static const struct trace_print_flags named_none[] = {{256, "too big"}, {0, "never alone"}, {0, NULL}};

static struct sample_module named;

static void record_named(void *data, int value)
{
	struct tp_record rec;
	struct named_record *r = tp_reserve(&rec, data, &named.event, sizeof(struct named_record));

	if (!r)
		return;
	memset((char *)r + sizeof(r->ent), 0, sizeof(*r) - sizeof(r->ent));
	r->flags = (uint32_t)value;
	r->masks = (int16_t)((value & 15) | (value & 16 ? -32768 : 0) | (value & 32));
	r->many = HIGHEST | (uint64_t)value;
	r->points[1] = (struct sample_point){.x = 1, .z = 255};
	r->pointers[1] = (const void *)0xabcdef;
	r->moods[1] = MOOD_BAD;
	r->switches[1] = true;
	r->small[0].c = 17;
	tp_commit(&rec);
}

#define NAMED_FIELD(kind, member, type, table, delimiter) \
	PART(kind, false, named_record, member, #member, type, table, delimiter)

/* What __print_flags prints is the value's name; *nr counts those that have one. */
static void check_flags(const char *line, const char *field, unsigned long v, unsigned long shown,
			const char *delimiter, const struct trace_print_flags *table, unsigned int *nr)
{
	char text[128], expected[256], unknown[256];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	tp_seq_print_flags(&seq, v, delimiter, table);
	snprintf(expected, sizeof(expected), " %s = ( \"%s\" : container = 0x%lX )", field, text, shown);
	snprintf(unknown, sizeof(unknown), " %s = ( <unknown> : container = 0x%lX )", field, shown);
	if (strstr(line, expected))
		(*nr)++;
	else
		ck_assert_contains(line, unknown);
}

TEST(flags_and_elements)
{
	static const struct part fields[] = {
		NAMED_FIELD(TP_FIELD, flags, uint32_t, named_flags, "|"),
		NAMED_FIELD(TP_FIELD, masks, int16_t, named_masks, " + "),
		NAMED_FIELD(TP_FIELD, many, uint64_t, named_many, "*/"),
		NAMED_FIELD(TP_FIELD, none, uint8_t, named_none, "|"),
		NAMED_FIELD(TP_ARRAY, points, struct sample_point, NULL, NULL),
		NAMED_FIELD(TP_ARRAY, pointers, const void *, NULL, NULL),
		NAMED_FIELD(TP_ARRAY, moods, enum named_mood, NULL, NULL),
		NAMED_FIELD(TP_ARRAY, switches, bool, NULL, NULL),
		NAMED_FIELD(TP_FIELD, longest, long double, NULL, NULL),
		NAMED_FIELD(TP_ARRAY, small, __typeof__(((struct named_record *)0)->small[0]), NULL, NULL),
	};
	unsigned int flags = 0, masks = 0;

	sample_module_init(&named, "sample", "named", "int");
	named.event.event_class = describe(&(struct parts){
		.fields = fields, .nr_fields = NR_OF(fields), .fixed_size = sizeof(struct named_record),
	});
	named.event.record = (tp_probe_t)record_named;
	tp_module_load(&named.module);
	struct tp_sink *sink = open_sink(NULL);
	for (int i = 0; i < 128; i++)
		sample_module_hit(&named, i);
	tp_sink_close(sink);

	char *text = clean_babeltrace(trace), *rest = text;
	for (unsigned int i = 0; i < 128; i++) {
		const char *line = strsep(&rest, "\n");
		long mask = (long)((i & 15) | (i & 32)) | (i & 16 ? -32768 : 0);
		check_flags(line, "flags", i, i, "|", named_flags, &flags);
		check_flags(line, "masks", (unsigned long)mask, (unsigned long)mask & 0xffff, " + ", named_masks,
			    &masks);
		char many[64];
		snprintf(many, sizeof(many), " many = 0x%lX, none = 0x0, ", HIGHEST | i);
		ck_assert_contains(line, many);
		ck_assert_contains(line, "[1] = { bytes = [ [0] = 0x1, [1] = 0x0, [2] = 0x0, [3] = 0x0, "
					 "[4] = 0xFF, [5] = ");
		ck_assert_contains(line, "pointers = [ [0] = 0x0, [1] = 0xABCDEF ], moods = [ [0] = 0, [1] = -4 ], "
					 "switches = [ [0] = 0, [1] = 1 ], ");
		ck_assert_contains(line, sizeof(long double) > sizeof(double) ? "longest = [ [0] = 0x0, " : "longest = 0, ");
		ck_assert_contains(line, "small = [ [0] = 0x11, [1] = 0x0 ]");
	}
	ck_assert_str_eq(rest, "");
	free(text);
	/* Six bits; the bit of the empty name prints as nothing when it is alone; so does 0. */
	ck_assert_uint_eq(flags, 64 - 2);
	/* 0, 1, 2, 3 with and without both and sign: 0 prints as nothing. */
	ck_assert_uint_eq(masks, (16 - 1) * 2);
}

/* A layout that no alignment explains, and one without any field. */
struct __attribute__((packed)) odd_record {
	struct trace_entry ent;
	uint8_t a;
	uint64_t b;
	uint16_t c;
	uint8_t gap[5];
	tp_data_loc_t d;
	uint8_t tail[3];
};

static struct sample_module odd, empty;

static void record_odd(void *data, int value)
{
	struct tp_record rec;
	size_t size = sizeof(struct odd_record) + sizeof("odd");
	struct odd_record *r = tp_reserve(&rec, data, &odd.event, size);

	if (!r)
		return;
	r->a = 1;
	r->b = 0x1122334455667788;
	r->c = (uint16_t)value;
	r->d = (tp_data_loc_t)(sizeof("odd") << 16 | sizeof(*r));
	memcpy(r + 1, "odd", sizeof("odd"));
	tp_commit(&rec);
}

static void record_empty(void *data, int value)
{
	struct tp_record rec;

	(void)value;
	if (tp_reserve(&rec, data, &empty.event, sizeof(struct trace_entry)))
		tp_commit(&rec);
}

TEST(odd_layouts)
{
	static const struct part fields[] = {
		{.field = {.name = "a", .type = "u8", .offset = 8, .size = 1, .element_size = 1, .element_align = 1}},
		{.field = {.name = "padding0", .type = "u64", .offset = 9, .size = 8, .element_size = 8, .element_align = 8}},
		{.field = {.name = "c", .type = "u16", .offset = 17, .size = 2, .element_size = 2, .element_align = 2}},
		{.field = {.name = "d", .type = "char", .kind = TP_STRING, .offset = 24, .size = 4, .element_size = 1,
			   .element_align = 1, .is_char = true}},
	};

	sample_module_init(&odd, "sample", "odd", "int");
	odd.event.event_class = describe(&(struct parts){.fields = fields, .nr_fields = 4, .fixed_size = sizeof(struct odd_record)});
	odd.event.record = (tp_probe_t)record_odd;
	sample_module_init(&empty, "sample", "empty", "int");
	empty.event.event_class = describe(&(struct parts){.fixed_size = sizeof(struct trace_entry)});
	empty.event.record = (tp_probe_t)record_empty;
	tp_module_load(&odd.module);
	struct tp_sink *sink = open_sink(NULL);
	tp_module_load(&empty.module); /* described later */
	for (int i = 0; i < 3; i++) {
		sample_module_hit(&odd, 1000 + i);
		sample_module_hit(&empty, 0);
	}
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	ck_assert_contains(text, "a = 1, padding0 = 1234605616436508552, c = 1002,");
	ck_assert_uint_eq(count_of(text, " d = \"odd\" }"), 3);
	ck_assert_uint_eq(count_of(text, "sample:empty: "), 3);
	free(text);
}

TEST(alignment_beyond_ctf)
{
	static const struct part field = {.field = {.name = "w", .type = "v", .kind = TP_DYNAMIC_ARRAY, .type_class = TP_OTHER,
						    .offset = 8, .size = 4, .element_size = 16, .element_align = 16}};
	static struct sample_module m;

	sample_module_init(&m, "sample", "wide", "int");
	m.event.event_class = describe(&(struct parts){.fields = &field, .nr_fields = 1, .fixed_size = 12});
	tp_module_load(&m.module);
	capture_stderr();
	struct tp_sink *sink = open_sink(NULL);
	trace_sample_int(1);
	sample_module_hit(&m, 1);
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	tp_sink_close(sink);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "event 'sample:wide' stays off in a CTF output");
	ck_assert_contains(messages, "'sample:wide' has a dynamic array whose elements are aligned to more than 8 bytes");
	free(messages);
	char *text = clean_babeltrace(trace);
	ck_assert_contains(text, "value = 1");
	free(text);
}

static long long real_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

TEST(wall_time)
{
	struct tp_sink *sink = open_sink(NULL);
	long long seconds, nanoseconds;

	/* The sink measures how far the two clocks are apart, and may lose the processor while it does. */
	long long before = real_time() - 100000000;
	trace_sample_int(1);
	long long after = real_time() + 100000000;
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	const char *at = strchr(text, '[');
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(at, "[%lld.%9lld]", &seconds, &nanoseconds), 2);
	ck_assert_int_ge(seconds * 1000000000 + nanoseconds, before);
	ck_assert_int_le(seconds * 1000000000 + nanoseconds, after);
	free(text);
}

/* ---- Packets ---- */

TEST(tiny_packets)
{
	struct tp_sink *sink = open_sink("packet=4K");
	struct stat st;
	char path[256], needle[32];
	unsigned int packets;

	for (int i = 0; i < 20000; i++)
		trace_sample_int(i);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	packets = count_files(trace, "stream-");
	ck_assert_uint_ge(packets, 20000 * 24 / 4096);
	ck_assert_uint_eq(count_files(trace, ".stream-"), 0);
	snprintf(path, sizeof(path), "%s/stream-%d-0-1", trace, getpid());
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 4096);
	char *text = clean_babeltrace(trace);
	ck_assert_lacks(text, "discarded");
	const char *at = text;
	for (int i = 0; i < 20000; i++) { /* all, in order */
		snprintf(needle, sizeof(needle), "{ value = %d }", i);
		at = find(at, needle);
		ck_assert_msg(at != NULL, "%s is missing", needle);
	}
	free(text);
}

TEST(records_longer_than_a_packet)
{
	struct tp_sink *sink = open_sink("packet=4K");
	char *string = malloc(8192);

	memset(string, 'x', 8192);
	string[8191] = '\0';
	trace_sample_int(1);
	trace_sample_text(string);
	string[4096 - 64 - 8 - 12 - 1] = '\0'; /* fits to the byte */
	trace_sample_text(string);
	string[4096 - 64 - 8 - 12 - 1] = 'x';
	string[4096 - 64 - 8 - 12] = '\0'; /* one more */
	trace_sample_text(string);
	trace_sample_int(2);
	ck_assert_uint_eq(tp_sink_lost(sink), 2);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "records lost: 2");
	free(messages);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "text = \"x"), 1);
	ck_assert_uint_eq(count_of(text, "value = "), 2);
	ck_assert_contains(text, "discarded"); /* the trace says so itself */
	free(text);
	free(string);
}

TEST(full_disk)
{
	char filler[256];
	static char zeros[4096];

	if (!small_disk("full_disk", trace, "256k"))
		return;
	capture_stderr();
	struct tp_sink *sink = open_sink("packet=32K");
	for (int i = 0; i < 20000; i++) /* 480 KB */
		trace_sample_int(i);
	unsigned long lost = tp_sink_lost(sink);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_lt(lost, 20000);
	/* Room again, and it goes on by itself. */
	snprintf(filler, sizeof(filler), "mount -o remount,size=1M %s", trace);
	ck_assert_int_eq(system(filler), 0);
	usleep(150000);
	trace_sample_int(-1);
	ck_assert_uint_eq(tp_sink_lost(sink), lost);
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "tp: CTF trace '");
	ck_assert_contains(messages, "No space left on device");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	free(messages);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 20001 - lost);
	ck_assert_contains(text, "value = -1 ");
	ck_assert_contains(text, "discarded");
	free(text);

	/* No room for even the metadata. */
	snprintf(filler, sizeof(filler), "%s/filler", trace);
	int fd = open(filler, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	snprintf(filler, sizeof(filler), "%s/sub", trace);
	fails_with(filler, ENOSPC);
}

TEST(errno_is_kept)
{
	struct tp_sink *sink = open_sink("packet=4K");

	errno = ENOTDIR;
	for (int i = 0; i < 1000; i++)
		trace_sample_int(i);
	ck_assert_int_eq(errno, ENOTDIR);
	tp_sink_close(sink);
}

TEST(other_directory_and_closed_descriptors)
{
	char start[256];

	ck_assert_ptr_nonnull(getcwd(start, sizeof(start)));
	ck_assert_int_eq(mkdir(trace, 0700), 0);
	ck_assert_int_eq(chdir(trace), 0);
	struct tp_sink *sink = tp_ctf_sink("relative", "packet=4K");
	tp_enable(sink, "sample:*");
	trace_sample_int(1);
	ck_assert_int_eq(chdir("/"), 0);
	for (int i = 0; i < 500; i++)
		trace_sample_int(2);
	for (int fd = 3; fd < 100; fd++) /* a daemon */
		close(fd);
	int other = open("/", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 500; i++)
		trace_sample_int(3);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_ge(fcntl(other, F_GETFD), 0); /* not ours to close */
	ck_assert_int_eq(chdir(start), 0);
	strcat(trace, "/relative");
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 1001);
	free(text);
}
