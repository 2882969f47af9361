/* SPDX-License-Identifier: MIT */
/*
 * test_marker_event.c - markers as events: their records print as printf
 * prints, and have the fields that the format says.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tp/marker.h>
#include <tp/sink.h>
#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "base/text.h"
#include "core/core.h"
#include "events/marker_format.h"
#include "failing_malloc.h"
#include "traceevent.h"
#include "util.h"

/* ---- A sink that keeps the last record ---- */

static struct {
	struct tp_sink head;
	const struct tp_event *event;
	unsigned int nr;
	size_t size;
	char record[4096] __attribute__((aligned(8)));
} sink;

static bool keep_reserve(struct tp_record *rec)
{
	if (rec->size > sizeof(sink.record))
		return false;
	memset(sink.record, 0xff, sizeof(sink.record));
	rec->entry = (struct trace_entry *)(void *)sink.record;
	return true;
}

static void keep_commit(struct tp_record *rec)
{
	sink.event = rec->event;
	sink.size = rec->size;
	sink.nr++;
}

static int keep_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

static const struct tp_sink_ops keep_ops = {
	.name = "keep", .reserve = keep_reserve, .commit = keep_commit, .close = keep_close,
};

/* The lowest byte of its address is what a register with another use must not become. */
static int enable_flag __attribute__((aligned(256)));

static const int *keep_enable_flag(struct tp_sink *head, const struct tp_event *event)
{
	(void)head;
	(void)event;
	return &enable_flag;
}

static const struct tp_sink_ops gated_ops = {
	.name = "gated", .reserve = keep_reserve, .commit = keep_commit, .enable_flag = keep_enable_flag, .close = keep_close,
};

static void open_sink_with(const struct tp_sink_ops *ops, const char *patterns)
{
	sink.nr = 0;
	ck_assert_int_eq(tp_sink_open(&sink.head, ops), 0);
	ck_assert_int_ge(tp_enable(&sink.head, patterns), 0);
}

static void open_sink(const char *patterns)
{
	open_sink_with(&keep_ops, patterns);
}

static const char *printed(void)
{
	static char text[4096];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	sink.event->print(&seq, sink.record);
	ck_assert(!seq.full);
	return text;
}

/* ---- Each conversion: recorded, and printed as printf does ---- */

static const char *volatile null_string; /* not for compilers to see through */
static void *const null_pointer = NULL;
static const char unended[3] = {'a', 'b', 'c'};

#ifdef __GLIBC__ /* where it is nothing; musl cuts "(null)" as any other text */
#define EXACT_NULL_SHORT(EXACT) EXACT(null_short, "[%.5s]", null_string)
#else
#define EXACT_NULL_SHORT(EXACT)
#endif

/* Those in EXACT print in libtraceevent 1.7 as here; it does not know the conversions and flags of those in OURS. */
#define CASES(EXACT, OURS)                                                                     \
	EXACT(int_d, "pid=%d", -5)                                                             \
	EXACT(int_i, "pid %i", INT32_MIN)                                                      \
	EXACT(int_u, "%u", UINT32_MAX)                                                         \
	EXACT(int_x, "0x%x %X", 0xdeadbeef, 0xabu)                                             \
	EXACT(int_o, "%o", 0755u)                                                              \
	EXACT(bytes, "%hhd %hhu %hhx", (signed char)-1, (unsigned char)255, (unsigned char)254) \
	EXACT(shorts, "%hd %hu %hx", (short)-2, (unsigned short)65535, (unsigned short)0xabcd) \
	EXACT(longs, "%ld %lu %lx", -3L, ~0ul, (unsigned long)0x123456789abc)                 \
	EXACT(longers, "%lld %llu %llx", -4LL, ~0ull, 1ull << 63)                              \
	EXACT(maxima, "%jd %ju", (intmax_t)-6, (uintmax_t)7)                                   \
	EXACT(sizes, "%zu %zd %td", (size_t)-1, (ssize_t)-1, (ptrdiff_t)-8)                    \
	EXACT(strings, "%s and %s", "one", "")                                                 \
	EXACT(null, "[%s]", null_string)                                                       \
	EXACT(null_long, "[%.6s]", null_string)                                                \
	EXACT_NULL_SHORT(EXACT)                                                                \
	EXACT(cut, "%.3s %.10s %.0s|", unended, "short", "none")                               \
	EXACT(cut_by_star, "%.*s|%.*s|", 2, unended, -1, "all")                                \
	EXACT(widths, "%5d|%-5d|%05d|%10s|%-10s|", 1, 2, 3, "r", "l")                          \
	EXACT(percent, "100%% of %d%%", 3)                                                     \
	EXACT(escapes, "\"quoted\"\t\\ %d\n", 4)                                               \
	EXACT(alone, "nothing to see", NO_ARGUMENT)                                            \
	EXACT(none, "", NO_ARGUMENT)                                                           \
	EXACT(mixed, "%hhd %s %d %s %lld", (signed char)1, "two", 3, "four", 5LL)              \
	EXACT(in_registers, "%s %hd %.*s %llx", "one", (short)-2, 3, unended, 4ull)              \
	EXACT(on_stack, "%s %hd %.*s %llx %u", "one", (short)-2, 3, unended, 4ull, 5u)          \
	EXACT(all_on_stack, "%d %ld %s %hhu %p %jd %.*s %zu", 1, -2L, "3", (unsigned char)4, (void *)&sink, \
	      (intmax_t)-6, 1, "7", (size_t)8)                                                 \
	EXACT(precisions, "%.5d|%8.3d|%-8.3x|", 6, 7, 8u)                                      \
	EXACT(pointers, "%p %p", (void *)&sink, null_pointer)                                  \
	OURS(signs, "%+d|% d|%#x|%#o", 9, 10, 11u, 12u)                                        \
	OURS(utf8, "gr\303\274n %d \177|", 5)                                                   \
	OURS(chars, "%c%c", 'a', 'b')                                                          \
	OURS(reals, "%f %.2f %e %g %8.3f|", 1.5, 2.345, 3e100, 0.0001, -4.0)                   \
	OURS(more_reals, "%F %E %G %a %lf", 1.5, 2.5, 3.5, 4.5, 5.5)                           \
	OURS(long_reals, "%Lf %.3Lg", 1.25L, 2.5L)                                             \
	OURS(one_real, "%d %g %s", 1, 2.5, "three")                                            \
	OURS(reals_on_stack, "%g %d %g %s %Lg %g %g %hhd %g %g %g %ld %g %Lg %g %s", 1.5, 2, 3.5, "4", 5.5L, 6.5, 7.5, \
	     (signed char)-8, 9.5, 10.5, 11.5, 12L, 13.5, 14.5L, 15.5, "16")

/* A trace_mark() without arguments has none, but a table has a place for it. */
#define NO_ARGUMENT 0
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-zero-length"

#define DEFINE_CASE(name, fmt, ...)                                              \
	static void hit_##name(char *expected, size_t size)                      \
	{                                                                        \
		trace_mark(name, fmt, __VA_ARGS__);                              \
		snprintf(expected, size, fmt, __VA_ARGS__);                      \
	}
CASES(DEFINE_CASE, DEFINE_CASE)

#define EXACT_CASE(name, fmt, ...) {#name, fmt, hit_##name, true},
#define OUR_CASE(name, fmt, ...) {#name, fmt, hit_##name, false},

static const struct {
	const char *name;
	const char *fmt;
	void (*hit)(char *expected, size_t size);
	bool exact;
} cases[] = {CASES(EXACT_CASE, OUR_CASE)};

#define NR_CASES ((int)(sizeof(cases) / sizeof(cases[0])))

LOOP_TEST(prints_as_printf, NR_CASES)
{
	char expected[1024];

	open_sink("marker:*");
	cases[_i].hit(expected, sizeof(expected));
	ck_assert_uint_eq(sink.nr, 1);
	ck_assert_str_eq(sink.event->system, "marker");
	ck_assert_str_eq(sink.event->name, cases[_i].name);
	ck_assert_msg(strcmp(printed(), expected) == 0, "%s: '%s', not '%s'", cases[_i].name, printed(), expected);
	tp_sink_close(&sink.head);
}

static void __attribute__((format(printf, 3, 0))) print_list(void *data, void *marker, const char *fmt, va_list *args)
{
	(void)marker;
	vsnprintf(data, 1024, fmt, *args);
}

/* Whatever way the record takes, other probes of the marker get a list, before and after the sink's. */
LOOP_TEST(probe_beside_the_sink, NR_CASES)
{
	char expected[1024], first[1024] = "", last[1024] = "";

	ck_assert_int_eq(marker_probe_register(cases[_i].name, cases[_i].fmt, print_list, first), 0);
	open_sink("marker:*");
	ck_assert_int_eq(marker_probe_register(cases[_i].name, cases[_i].fmt, print_list, last), 0);
	cases[_i].hit(expected, sizeof(expected));
	ck_assert_str_eq(first, expected);
	ck_assert_str_eq(printed(), expected);
	ck_assert_str_eq(last, expected);
	ck_assert_int_eq(marker_probe_unregister(cases[_i].name, print_list, first), 0);
	ck_assert_int_eq(marker_probe_unregister(cases[_i].name, print_list, last), 0);
	tp_sink_close(&sink.head);
}

#if defined(__GLIBC__) && defined(__x86_64__) /* where there may be such a library */
LOOP_TEST(traceevent_prints_the_same, NR_CASES)
{
	char expected[1024], format[4096];
	struct trace_seq seq;

	if (!traceevent_load()) {
		printf("SKIPPED traceevent_prints_the_same: libtraceevent-dev is not installed\n");
		return;
	}
	open_sink("marker:*");
	cases[_i].hit(expected, sizeof(expected));
	trace_seq_init(&seq, format, sizeof(format));
	ck_assert_int_eq(tp_event_format(sink.event, &seq), 0);
	char *theirs = traceevent_print("marker", format, sink.record, sink.size);
	ck_assert_msg(theirs != NULL, "libtraceevent can't parse\n%s", format);
	if (cases[_i].exact)
		ck_assert_msg(strcmp(theirs, expected) == 0, "%s: theirs '%s', not '%s'", cases[_i].name, theirs,
			      expected);
	free(theirs);
	tp_sink_close(&sink.head);
}
#endif

/* ---- Without what a star says ---- */

static void hit_stars(void)
{
	trace_mark(stars, "%*d|%-*d|%0*d|%.*d|%*s|%-*.*s|%.*f", 5, 1, 6, 2, 7, 3, 8, 4, 9, "s", 10, 2, "text", 1, 2.5);
}

TEST(stars_are_not_recorded)
{
	open_sink("marker:stars");
	hit_stars();
	ck_assert_str_eq(printed(), "1|2|3|4|s|te|2.500000");
	tp_sink_close(&sink.head);
}

/* ---- A check, which knows nothing of the arguments ---- */

static void hit_gated(void)
{
	trace_mark(gated, "%g %d %g", 1.5, 2, 3.5);
}

TEST(arguments_behind_a_gate)
{
	enable_flag = 0;
	open_sink_with(&gated_ops, "marker:gated");
	hit_gated();
#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
	ck_assert_uint_eq(sink.nr, 0);
#endif
	enable_flag = 1;
	sink.nr = 0;
	hit_gated();
	ck_assert_uint_eq(sink.nr, 1);
	ck_assert_str_eq(printed(), "1.5 2 3.5");
	tp_sink_close(&sink.head);
}

/* ---- Fields ---- */

#if __SIZEOF_LONG__ == 8
#define BY_WORD(of_64_bits, of_32_bits) of_64_bits
#else
#define BY_WORD(of_64_bits, of_32_bits) of_32_bits
#endif

static const struct {
	const char *format;
	const char *fields; /* "type name @offset" each */
	const char *print_fmt;
} layouts[] = {
	{"prev_pid %d next_pid %d prev_state %ld", "int prev_pid @8, int next_pid @12, long prev_state @16",
	 "\"prev_pid %d next_pid %d prev_state %ld\", REC->prev_pid, REC->next_pid, REC->prev_state"},
	{"pid=%d (uid: %u) [0x%x]", "int pid @8, unsigned int uid @12, unsigned int arg3 @16",
	 "\"pid=%d (uid: %u) [0x%x]\", REC->pid, REC->uid, REC->arg3"},
	{"addr 0x%lx 1st %hhd x1 %hd",
	 BY_WORD("unsigned long addr @8, signed char arg2 @16, short x1 @18",
		 "unsigned long addr @8, signed char arg2 @12, short x1 @14"), NULL},
	{"%d%d", "int arg1 @8, int arg2 @12", "\"%d%d\", REC->arg1, REC->arg2"},
	{"a %d, %d a %d a %d", "int a @8, int arg2 @12, int a_2 @16, int a_3 @20", NULL},
	{"a_2 %d a %d a %d", "int a_2 @8, int a @12, int a_3 @16", NULL},
	{"arg2 %d %d", "int arg2 @8, int arg2_2 @12", NULL},
	{"int %d if %s common_pid %d struct_ %d", "int int_ @8, char if_ @12, int common_pid_ @16, int struct_ @20",
	 NULL},
	{"comm %s pid %d", "char comm @8, int pid @12", "\"comm %s pid %d\", __get_str(comm), REC->pid"},
	{"%c %p %g %Lg",
	 BY_WORD("char arg1 @8, void * arg2 @16, double arg3 @24, double arg4 @32",
		 "char arg1 @8, void * arg2 @12, double arg3 @16, double arg4 @24"), NULL},
	{"n %zd m %zu j %jd k %ju t %td",
	 BY_WORD("ssize_t n @8, size_t m @16, intmax_t j @24, uintmax_t k @32, ptrdiff_t t @40",
		 "ssize_t n @8, size_t m @12, intmax_t j @16, uintmax_t k @24, ptrdiff_t t @32"),
	 BY_WORD("\"n %ld m %lu j %ld k %lu t %ld\"", "\"n %ld m %lu j %lld k %llu t %ld\"")
	 ", REC->n, REC->m, REC->j, REC->k, REC->t"},
	{"%qd %Lu", "long long arg1 @8, unsigned long long arg2 @16", "\"%lld %llu\", REC->arg1, REC->arg2"},
	{"%c %+d % 5d %-8.2f %s", "char arg1 @8, int arg2 @12, int arg3 @16, double arg4 @24, char arg5 @32",
	 "\"%d %d %5d 0x%llx %s\", REC->arg1, REC->arg2, REC->arg3, REC->arg4, __get_str(arg5)"},
	{"at %ps", "void * at @8", "\"at 0x%lxs\", REC->at"},
	{"100%%x%d", "int x @8", "\"100%%x%d\", REC->x"},
	{"\xc3\xa9t\xc3\xa9 %d", "int t @8", NULL},
	{"a\001\"\\\n %*.*d", "int a @8", "\"a\\001\\\"\\\\\\n %d\", REC->a"},
	{"", "", "\"\""},
	{" ", "", "\"\""}, /* MARK_NOARGS */
	{"%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", NULL, NULL},
};

LOOP_TEST(fields_of_a_format, NR_OF(layouts))
{
	static struct tp_marker_format parsed;
	struct tp_buffer fields = {.text = NULL};

	ck_assert_ptr_null(tp_marker_format_parse(&parsed, layouts[_i].format, sizeof(long)));
	ck_assert(!parsed.strings.failed);
	for (unsigned int i = 0; i < parsed.nr; i++)
		tp_buffer_printf(&fields, "%s%s %s @%u", i ? ", " : "", parsed.fields[i].type, parsed.fields[i].name,
				 parsed.fields[i].offset);
	if (layouts[_i].fields)
		ck_assert_str_eq(fields.text ? fields.text : "", layouts[_i].fields);
	if (layouts[_i].print_fmt)
		ck_assert_str_eq(parsed.print_fmt, layouts[_i].print_fmt);
	tp_buffer_free(&fields);
	tp_buffer_free(&parsed.strings);
}

static const struct {
	const char *format, *wrong;
} refused[] = {
	{"%m", "%m"}, {"a %d b %n", "%n"}, {"%lc", "%lc"}, {"%ls x", "%ls"}, {"%C", "%C"}, {"%S", "%S"},
	{"%2$d %1$d", "%2$"}, {"%'d", "%'"}, {"%Id", "%I"}, {"%", "%"}, {"%l", "%l"}, {"%hs", "%hs"}, {"%hf", "%hf"},
	{"%lld %hhp", "%hhp"}, {"%y", "%y"}, {"%llld", "%lll"},
	{"%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %u", "%u"},
};

LOOP_TEST(formats_that_cannot_be_recorded, NR_OF(refused))
{
	static struct tp_marker_format parsed;

	const char *wrong = tp_marker_format_parse(&parsed, refused[_i].format, sizeof(long));
	ck_assert_msg(wrong != NULL, "'%s' is taken", refused[_i].format);
	ck_assert_str_eq(wrong, refused[_i].wrong);
	tp_buffer_free(&parsed.strings);
}

/* ---- Modules ---- */

static struct marker marker;
static struct marker *pointers[] = {&marker};
static struct tp_module module = {TP_MODULE_HEAD, .markers = pointers, .markers_end = pointers + 1};

static void load(const char *format)
{
	marker = (struct marker){
		.tp = {
			.iterate = (tp_probe_t)tp_marker_iterate, .name = "marker:coming", .proto = format, .file = "coming.c",
			.line = 5,
		},
		.name = "coming",
		.format = format,
	};
	tp_module_load(&module);
}

static void hit(const char *argument)
{
	if (tp_tracepoint_is_on(&marker.tp))
		((tp_marker_iterate_t *)marker.tp.iterate)(&marker.tp, argument);
}

TEST(module_comes_after_the_sink)
{
	open_sink("marker:coming");
	load("name %s");
	hit("one");
	ck_assert_uint_eq(sink.nr, 1);
	ck_assert_str_eq(printed(), "name one");
	uint16_t id = sink.event->id;
	ck_assert_uint_ne(id, 0);
	tp_module_unload(&module);
	ck_assert_str_eq(printed(), "name one"); /* of what is gone, too */
	hit("off");

	load("other %s");
	hit("two");
	ck_assert_str_eq(printed(), "other two");
	ck_assert_uint_ne(sink.event->id, id);
	tp_module_unload(&module);
	load("name %s");
	hit("three");
	ck_assert_uint_eq(sink.nr, 3);
	ck_assert_uint_eq(sink.event->id, id);
	ck_assert_int_eq(tp_disable(&sink.head, "marker:*"), 1);
	ck_assert(!tp_tracepoint_is_on(&marker.tp));
	tp_module_unload(&module);
	tp_sink_close(&sink.head);
}

TEST(module_that_is_no_event)
{
	open_sink("marker:coming");
	capture_stderr();
	load("a %d %ls");
	tp_module_unload(&module);
	load("a %d %ls");
	char *text = captured_stderr();
	ck_assert_str_eq(text, "tp: marker 'coming' (coming.c:5) has probes, but is no event: '%ls' in its format "
			       "can't be recorded; write conversions of d i u o x X c p s e f g a, up to 32\n");
	free(text);
	ck_assert(!tp_tracepoint_is_on(&marker.tp));
	ck_assert_ptr_null(marker.event);
	tp_module_unload(&module);
	tp_sink_close(&sink.head);
}

TEST(without_memory)
{
	open_sink("marker:coming");
	for (unsigned int i = 0; i < 8; i++) {
		capture_stderr();
		fail_malloc_after(i);
		load("a %d b %s c %d d %s e %s");
		let_malloc_be();
		char *text = captured_stderr();
		if (!marker.event)
			ck_assert_contains(text, marker.tp.registered ? "marker 'coming' (coming.c:5) is no event: out of memory\n"
								      : " stay off until somebody registers");
		free(text);
		tp_module_unload(&module);
	}
	load("a %d b %s c %d d %s e %s"); /* and is one again when there is some */
	ck_assert_ptr_nonnull(marker.event);
	ck_assert(tp_tracepoint_is_on(&marker.tp));
	tp_module_unload(&module);
	tp_sink_close(&sink.head);
}

TEST(strings_that_are_too_long)
{
	char *text = malloc(TP_RECORD_MAX + 100);

	memset(text, 'x', TP_RECORD_MAX + 100);
	text[TP_RECORD_MAX + 99] = '\0';
	open_sink("marker:coming");
	load("name %s");
	hit(text);
	ck_assert_uint_eq(sink.nr, 0);
	ck_assert_uint_eq(tp_sink_lost_by(&sink.head, TP_LOST_TOO_LARGE), 1);
	text[1000] = '\0';
	hit(text);
	ck_assert_uint_eq(sink.size, 8 + 4 + 1001);
	free(text);
	tp_module_unload(&module);
	tp_sink_close(&sink.head);
}
