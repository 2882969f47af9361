/* SPDX-License-Identifier: MIT */
/*
 * test_synthetic.c - synthetic events: their definitions, and what is wrong with one; their records; and who may remove
 * one while others use it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "base/text.h"
#include "events/synthetic.h"
#include "sample.h"
#include "util.h"

/* ---- Definitions ---- */

static void define(const char *definition)
{
	char *error = NULL;

	ck_assert_msg(tp_synthetic_event(definition, &error) == 0, "%s: %s", definition, error);
	ck_assert_ptr_null(error);
}

/* marked has a ^ before the place. */
static void assert_refused_as(int result, const char *marked, const char *message)
{
	char definition[2048], expected[4096], *error = NULL;
	const char *mark = strchr(marked, '^');
	const int at = (int)(mark - marked);

	snprintf(definition, sizeof(definition), "%.*s%s", at, marked, mark + 1);
	snprintf(expected, sizeof(expected), "%s\n%*s^\nparse_error: %s", definition, at, "", message);
	ck_assert_int_eq(tp_synthetic_event(definition, &error), result);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strncmp(error, expected, strlen(expected)) == 0, "%s\ninstead of\n%s", error, expected);
	free(error);
}

#define COMMAND "Command must be of the form: <name> field[;field] ..."

/* The first sixteen are those of the kernel's own test of synthetic_events. */
static const struct {
	const char *marked, *message;
} wrong[] = {
	{"myevent ^chr arg", "Invalid type: there are s64, u64, "},
	{"myevent ^unsigned arg", "Incomplete type"},
	{"myevent char ^str]; int v", "Illegal name"},
	{"^mye-vent char str[]", "Illegal name"},
	{"myevent char ^st-r[]", "Illegal name"},
	{"myevent char str;^[]", "Invalid field"},
	{"myevent char str; ^int", "Invalid field"},
	{"myevent char ^str[; int v", "Invalid array specification"},
	{"myevent char ^str[kdjdk]", "Invalid array specification"},
	{"myevent char ^str[257]", "Invalid array specification: [], or [1] to [256]"},
	{"^mye;vent char str[]", COMMAND},
	{"^myevent ; char str[]", COMMAND},
	{"^myevent; char str[]", COMMAND},
	{"^myevent ;char str[]", COMMAND},
	{"^; char str[]", COMMAND},
	{"^;myevent char str[]", COMMAND},
	{"^myevent", COMMAND ": for example"},
	{"^", COMMAND},
	{"^myevent int", COMMAND},
	{"^1event int i", "Illegal name"},
	{"myevent int a; int ^a", "Illegal name: there is a field 'a' already"},
	{"myevent u64 ^int", "Illegal name: readers of traces take 'int' for something else"},
	{"myevent u64 ^common_pid", "Illegal name: readers"},
	{"myevent ^u64 a[3]", "Invalid type"},
	{"myevent unsigned ^short a", "Invalid type"},
	{"myevent ^gfp_t a", "Invalid type"},
	{"myevent char ^a[0]", "Invalid array specification"},
	{"myevent char ^a[-1]", "Invalid array specification"},
	{"myevent char ^a[1]x", "Invalid array specification"},
	{"myevent char ^a[99999999999999999999]", "Invalid array specification"},
	{"myevent ^char[2x] a", "Invalid array specification"},
	{"myevent char[2] ^a[2]", "Invalid array specification"},
	{"myevent int a; ^unsigned int", "Incomplete type"},
	{"myevent int a; ^b", "Invalid field"},
	{"myevent ^\xc3\xbc b", "Invalid type"},
};

LOOP_TEST(a_mistake_is_told_at_its_place, NR_OF(wrong))
{
	assert_refused_as(-EINVAL, wrong[_i].marked, wrong[_i].message);
}

TEST(too_many_fields)
{
	char definition[2048] = "many", marked[2048];
	size_t len = strlen(definition);

	for (int i = 0; i < 64; i++)
		len += (size_t)snprintf(definition + len, sizeof(definition) - len, " int f%d;", i);
	snprintf(marked, sizeof(marked), "%s ^u8 last", definition);
	assert_refused_as(-EINVAL, marked, "Too many fields: there can be 64");
	define(definition);
	define("!many");
}

/* No sink could show what is longer, or say why it does not. */
TEST(too_long_a_name)
{
	char name[257], definition[300];

	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	snprintf(definition, sizeof(definition), "^%s u64 a", name);
	assert_refused_as(-EINVAL, definition, "Illegal name: an event's has at most 255 bytes");
	define(definition + 2);
	snprintf(definition, sizeof(definition), "!%s", name + 1);
	define(definition);
}

TEST(nothing_else_is_a_definition)
{
	char *error;

	ck_assert_int_eq(tp_synthetic_event(NULL, &error), -EINVAL);
	ck_assert_ptr_null(error);
	ck_assert_int_eq(tp_synthetic_event(NULL, NULL), -EINVAL);
	ck_assert_int_eq(tp_synthetic_event("myevent chr arg", NULL), -EINVAL);
	assert_refused_as(-ENOENT, "^!", "Event not found");
	assert_refused_as(-ENOENT, "^!myevent u64 a", "Event not found");
}

TEST(a_name_is_defined_once)
{
	define("  twice u64 a");
	assert_refused_as(-EEXIST, "^twice u64 b", "Event already exists");
	define("!twice u64 what_follows is not looked at");
	define("twice u64 b");
	define("\t!twice;");
}

/* ---- Descriptions ---- */

static void find_synthetic(const struct tp_event *event, void *data)
{
	if (strcmp(event->system, "synthetic") == 0)
		*(const struct tp_event **)data = event;
}

static const struct tp_event *the_event(void)
{
	const struct tp_event *event = NULL;

	tp_for_each_event(find_synthetic, &event);
	return event;
}

static char *format_of(const char *definition)
{
	static char text[4096];
	struct trace_seq seq;

	define(definition);
	trace_seq_init(&seq, text, sizeof(text));
	ck_assert_int_eq(tp_event_format(the_event(), &seq), 0);
	return text;
}

#if __SIZEOF_LONG__ == 8
#define LONG_SIZE "8"
#define ULONG_MAX_BUT_ONE "18446744073709551614"
#else
#define LONG_SIZE "4"
#define ULONG_MAX_BUT_ONE "4294967294"
#endif

TEST(the_format_file)
{
	const char *text = format_of("described s64 a;u8 b ; char c[5] unsigned long[] d; char[] e;unsigned char[3] f; bool g;");

	ck_assert_contains(text, "name: described\n");
	ck_assert_contains(text, "\tfield:s64 a;\toffset:8;\tsize:8;\tsigned:1;\n"
				 "\tfield:u8 b;\toffset:16;\tsize:1;\tsigned:0;\n"
				 "\tfield:char c[5];\toffset:17;\tsize:5;\tsigned:");
	ck_assert_contains(text, "\tfield:__data_loc unsigned long[] d;\toffset:24;\tsize:4;\tsigned:0;\n"
				 "\tfield:__data_loc char[] e;\toffset:28;\tsize:4;\tsigned:");
	ck_assert_contains(text, "\tfield:unsigned char f[3];\toffset:32;\tsize:3;\tsigned:0;\n"
				 "\tfield:bool g;\toffset:35;\tsize:1;\tsigned:0;\n");
	ck_assert_contains(text, "print fmt: \"a=%lld b=%u c=%s d=%s e=%s f=%s g=%d\", REC->a, REC->b, REC->c, "
				 "__print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / " LONG_SIZE ", " LONG_SIZE "), "
				 "__get_str(e), REC->f, REC->g\n");
	ck_assert_str_eq(the_event()->tracepoint->name, "synthetic:described");
	define("!described");
	ck_assert_ptr_null(the_event());
}

TEST(a_layout_keeps_its_id)
{
	define("kept u64 a");
	const uint16_t id = the_event()->id;
	define("!kept");
	define("kept u64 b");
	ck_assert_uint_ne(the_event()->id, id);
	define("!kept");
	define("kept u64 a");
	ck_assert_uint_eq(the_event()->id, id);
	define("!kept");
}

/* ---- Records ---- */

/* A text sink on memory. */
static struct tp_sink *sink;
static char *written;
static size_t written_size;
static FILE *file;

static void open_sink(const char *patterns)
{
	file = open_memstream(&written, &written_size);
	sink = tp_text_sink(file);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, patterns), 0);
}

/* The lines, without what is before the event's name; static memory. */
static const char *lines(void)
{
	static char text[8192];
	size_t len = 0;

	fflush(file);
	for (const char *line = written; line && *line; line = strchr(line, '\n') + 1) {
		const char *name = strstr(line, "synthetic:");
		ck_assert_ptr_nonnull(name);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s|", (int)strcspn(name, "\n"), name);
	}
	text[len] = '\0';
	return text;
}

static void close_sink(void)
{
	tp_sink_close(sink);
	fclose(file);
	free(written);
}

#define WORD(text) ((uint64_t)(uintptr_t)(text))

static void hit(const char *name, const uint64_t *words)
{
	struct tp_synthetic *synthetic = tp_synthetic_hold(name);

	ck_assert_ptr_nonnull(synthetic);
	tp_synthetic_hit(synthetic, words);
	tp_synthetic_let_go(synthetic);
}

TEST(numbers_are_recorded_and_printed)
{
	open_sink("synthetic:*");
	define("numbers s64 a; u64 b; s32 c; u32 d; s16 e; u16 f; s8 g; u8 h; int i; unsigned int j; long k; "
	       "unsigned long l; bool m; pid_t n; char o; unsigned char p");
	hit("numbers", (uint64_t[]){-1ull, -1ull, -1ull, -1ull, -1ull, -1ull, -1ull, -1ull, -2ull, -2ull, -2ull, -2ull, 1,
				    77, 'a', 0x1ff});
	ck_assert_str_eq(lines(), "synthetic:numbers: a=-1 b=18446744073709551615 c=-1 d=4294967295 e=-1 f=65535 g=-1 h=255 "
				  "i=-2 j=4294967294 k=-2 l=" ULONG_MAX_BUT_ONE " m=1 n=77 o=97 p=255|");
	ck_assert_int_eq(tp_disable(sink, "*"), 1);
	define("!numbers");
	close_sink();
}

TEST(texts_are_recorded_and_printed)
{
	char longest[400];

	memset(longest, 'x', sizeof(longest));
	longest[399] = '\0';
	define("texts char comm[4]; char peer[]; char other[256]; char[] last; u8 n");
	open_sink("synthetic:texts");
	hit("texts", (uint64_t[]){WORD("abcdef"), WORD("10.0.0.1"), WORD(longest), WORD(""), 3});
	hit("texts", (uint64_t[]){0, 0, 0, WORD(longest), 4});
	longest[255] = '\0';
	char expected[2000];
	snprintf(expected, sizeof(expected), "synthetic:texts: comm=abc peer=10.0.0.1 other=%s last= n=3|"
					     "synthetic:texts: comm=(nu peer=(null) other=(null) last=%s%s n=4|",
		 longest, longest, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	ck_assert_str_eq(lines(), expected);
	close_sink();
	define("!texts");
}

TEST(a_stack_is_recorded_and_printed)
{
	uint64_t stack[17] = {1, 2, 0, 4};

	define("stacks char[] before; unsigned long[] stack; char after[]");
	open_sink("*:stacks");
	hit("stacks", (uint64_t[]){WORD("b"), WORD(stack), WORD("a")});
	hit("stacks", (uint64_t[]){WORD("b"), 0, WORD("a")});
	for (unsigned int i = 0; i < 17; i++)
		stack[i] = i + 1;
	hit("stacks", (uint64_t[]){WORD(""), WORD(stack), WORD("")});
	ck_assert_contains(lines(), "before=b stack=STACK: => 0x1 => 0x2 after=a|synthetic:stacks: before=b stack=STACK: after=a|");
	ck_assert_contains(lines(), "=> 0xf => 0x10 after=|");
	close_sink();
	define("!stacks");
}

TEST(a_record_that_is_too_long_is_lost)
{
	static char text[65536];

	memset(text, 'x', sizeof(text) - 1);
	define("long_one char[] a");
	open_sink("synthetic:*");
	hit("long_one", (uint64_t[]){WORD(text)});
	ck_assert_str_eq(lines(), "");
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_TOO_LARGE), 1);
	close_sink();
	define("!long_one");
}

TEST(a_filter_decides)
{
	char *error = NULL;

	define("filtered u64 lat; char who[8]");
	open_sink("none:*");
	ck_assert_int_eq(tp_enable_if(sink, "synthetic:*", "lat > 5 && who ~ \"a*\"", &error), 1);
	for (uint64_t lat = 4; lat < 8; lat++)
		hit("filtered", (uint64_t[]){lat, WORD(lat == 7 ? "bob" : "ann")});
	ck_assert_str_eq(lines(), "synthetic:filtered: lat=6 who=ann|");
	ck_assert_int_eq(tp_enable_if(sink, "synthetic:*", "delay > 5", &error), -EINVAL);
	ck_assert_contains(error, "Field not found: 'synthetic:filtered' has lat, who, ");
	free(error);
	close_sink();
	define("!filtered");
}

TEST(what_was_enabled_counts_for_one_that_comes)
{
	open_sink("synthetic:late");
	define("late int a");
	hit("late", (uint64_t[]){1});
	assert_refused_as(-EBUSY, "^!late", "Event is in use: disable it");
	tp_disable(sink, "synthetic:late");
	define("!late");
	define("late int b; int c");
	tp_enable(sink, "synthetic:late");
	hit("late", (uint64_t[]){2, 3});
	ck_assert_str_eq(lines(), "synthetic:late: a=1|synthetic:late: b=2 c=3|");
	close_sink();
	define("!late");
}

TEST(held_ones_stay)
{
	define("held int a");
	struct tp_synthetic *synthetic = tp_synthetic_hold("held");
	ck_assert_str_eq(tp_synthetic_described(synthetic)->name, "held");
	assert_refused_as(-EBUSY, "^!held", "Event is in use: a histogram");
	tp_synthetic_hit(synthetic, (uint64_t[]){1}); /* nobody listens */
	tp_synthetic_let_go(synthetic);
	define("!held");
	ck_assert_ptr_null(tp_synthetic_hold("held"));
}

/* ---- Probes ---- */

static struct tp_synthetic *own;
static unsigned int nr_hits;

static void hitting_probe(void *data, const struct tp_event *event, const uint64_t *words)
{
	(void)data;
	ck_assert_str_eq(event->name, "own");
	nr_hits++;
	tp_synthetic_hit(own, words);
}

static void removing_probe(void *data, const struct tp_event *event, const uint64_t *words)
{
	(void)event;
	(void)words;
	*(int *)data = tp_synthetic_event("!another", NULL);
}

static int register_probe(void (*probe)(void *, const struct tp_event *, const uint64_t *), void *data)
{
	const struct tracepoint *tp = tp_synthetic_described(own)->tracepoint;

	return tp_probe_register(tp->name, tp->proto, (tp_probe_t)probe, data, TRACEPOINT_DEFAULT_PRIO + 1);
}

/* As a histogram would that makes records of its own event. */
TEST(hits_inside_hits_end)
{
	define("own int a");
	own = tp_synthetic_hold("own");
	nr_hits = 0;
	open_sink("synthetic:own");
	ck_assert_int_eq(register_probe(hitting_probe, NULL), 0);
	tp_synthetic_hit(own, (uint64_t[]){1});
	ck_assert_uint_eq(nr_hits, 8);
	ck_assert_uint_eq(count_of(lines(), "|"), 8);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NESTED), 1);
	ck_assert_int_eq(tp_probe_unregister("synthetic:own", (tp_probe_t)hitting_probe, NULL), 0);
	close_sink();
	tp_synthetic_let_go(own);
	define("!own");
}

TEST(nothing_is_removed_inside_a_probe)
{
	int result = 0;

	define("own int a");
	define("another int a");
	own = tp_synthetic_hold("own");
	ck_assert_int_eq(register_probe(removing_probe, &result), 0);
	tp_synthetic_hit(own, (uint64_t[]){1});
	ck_assert_int_eq(result, -EDEADLK);
	tp_synthetic_let_go(own);
	assert_refused_as(-EBUSY, "^!own", "Event is in use: disable it, or remove its triggers, first");
	ck_assert_int_eq(tp_probe_unregister("synthetic:own", (tp_probe_t)removing_probe, &result), 0);
	define("!own");
	define("!another");
}

/* ---- Out of memory ---- */

static unsigned int mallocs_left;

static void *scarce_malloc(size_t size)
{
	return mallocs_left-- ? malloc(size) : NULL;
}

TEST(without_memory_nothing_is_defined)
{
	void *(*const usual)(size_t size) = tp_malloc;
	int result = -1;

	open_sink("synthetic:*");
	capture_stderr();
	for (unsigned int nr = 0; result; nr++) {
		char *error = NULL;
		mallocs_left = nr;
		tp_malloc = scarce_malloc;
		result = tp_synthetic_event("scarce u64 a; char b[]", &error);
		tp_malloc = usual;
		free(error);
		ck_assert(result == 0 || result == -ENOMEM || result == -ENOSPC);
		if (result)
			ck_assert_int_eq(tp_synthetic_event("!scarce", NULL), -ENOENT);
		ck_assert_uint_lt(nr, 100);
	}
	free(captured_stderr());
	close_sink();
	define("!scarce");
}
