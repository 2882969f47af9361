/* SPDX-License-Identifier: MIT */
/*
 * test_lttng.c - the LTTng sink without LTTng: a session of the test's own,
 * which looks at what filters and ring buffers are given. tests/lttng has the real one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "events/events.h"
#include "failing_malloc.h"
#include "sinks/lttng/lttng.h"
#include "sample.h"
#include "util.h"

#ifdef TP_HAS_LTTNG

/* ---- A session ---- */

static struct {
	size_t announced; /* bytes, to reserve */
	size_t len;
	char bytes[4096];
	unsigned int committed;
} ring;

static struct {
	char stack[1024];
	size_t size; /* of a stack of the event's */
	unsigned int asked;
	int answer;
} filter;

static int ring_reserve(struct lttng_ust_ring_buffer_ctx *ctx)
{
	ring.announced = ctx->data_size;
	ring.len = 0;
	return ctx->data_size > sizeof(ring.bytes) ? -ENOBUFS : 0;
}

static void ring_write(struct lttng_ust_ring_buffer_ctx *ctx, const void *from, size_t len, size_t align)
{
	(void)ctx;
	ring.len += lttng_ust_ring_buffer_align(ring.len, align);
	ck_assert_uint_le(ring.len + len, ring.announced);
	memcpy(ring.bytes + ring.len, from, len);
	ring.len += len;
}

static void ring_commit(struct lttng_ust_ring_buffer_ctx *ctx)
{
	(void)ctx;
	ck_assert_uint_eq(ring.len, ring.announced);
	ring.committed++;
}

static int run_filter(const struct lttng_ust_event_common *event, const char *stack, struct lttng_ust_probe_ctx *ctx,
		      void *unused)
{
	(void)event;
	(void)unused;
	ck_assert_ptr_nonnull(ctx->ip);
	memcpy(filter.stack, stack, filter.size);
	filter.asked++;
	return filter.answer;
}

static struct lttng_ust_session session = {.struct_size = sizeof(session), .active = 1};
static struct lttng_ust_channel_common channel_common = {.enabled = 1, .session = &session};
static struct lttng_ust_channel_buffer_ops ring_ops = {
	.event_reserve = ring_reserve,
	.event_commit = ring_commit,
	.event_write = ring_write,
};
static struct lttng_ust_channel_buffer channel = {.parent = &channel_common, .ops = &ring_ops};
static struct lttng_ust_event_recorder recorder = {.chan = &channel};
static struct lttng_ust_event_common wanted = {
	.type = LTTNG_UST_EVENT_TYPE_RECORDER,
	.child = &recorder,
	.enabled = 1,
	.run_filter = run_filter,
};

/* ---- A sink ---- */

static struct tp_lttng_arena arena;
static struct tp_lttng_event *described;
static struct lttng_ust_tracepoint_probe probes[3];

static void nothing(void)
{
}

static bool sink_reserve(struct tp_record *rec)
{
	return tp_lttng_reserve(rec, described);
}

static const struct tp_sink_ops ops = {.name = "test", .reserve = sink_reserve, .commit = tp_lttng_commit};
static struct tp_sink sink;

/* Opens it for one event, which the session wants. */
static void open_for(const struct tp_event *event)
{
	static const struct lttng_ust_probe_desc provider = {.provider_name = "sample"};

	ck_assert_int_eq(tp_events_start(), 0); /* the event is filled in */
	tp_lttng = (struct tp_lttng_library){.read_lock = nothing, .read_unlock = nothing, .init_thread = nothing};
	ck_assert_int_eq(tp_lttng_describe(&arena, &provider, event, &described), 0);
	probes[0] = (struct lttng_ust_tracepoint_probe){nothing, NULL}; /* another layout's */
	probes[1] = (struct lttng_ust_tracepoint_probe){described->tp_class.probe_callback, &wanted};
	described->tracepoint.probes = probes;
	ck_assert_int_eq(tp_sink_open(&sink, &ops), 0);
	ck_assert_int_eq(tp_enable(&sink, event->name), 1);
	memset(&ring, 0, sizeof(ring));
	memset(&filter, 0, sizeof(filter));
	filter.size = 16 * described->nr_operands;
	wanted.eval_filter = 0;
}

/* ---- What goes in ---- */

static const struct sample_values values = {
	.s8 = -5, .u8 = 200, .s16 = -300, .s32 = -70000, .u32 = 4000000000u, .s64 = INT64_MIN, .single = 0.5f, .wide = -2,
	.level = 2, .comm = "me", .numbers = {1, 2, 3}, .text = "some text", .bytes = (const uint8_t *)"abc",
	.nr_bytes = 3, .words = (const uint32_t[]){7, 8}, .nr_words = 2, .points = (const struct sample_point[]){{1, 2, 3}},
	.nr_points = 1, .last = "last",
};

TEST(size_is_what_is_written)
{
	struct sample_values v = values;

	open_for(&tp_event_sample_kinds);
	for (v.nr_words = 0; v.nr_words < 3; v.nr_words++)
		trace_sample_kinds(&v);
	ck_assert_uint_eq(ring.committed, 3);
	ck_assert_uint_eq(tp_sink_lost(&sink), 0);
}

TEST(string_ends_at_its_nul)
{
	struct tp_record rec;
	const size_t size = sizeof(struct trace_entry) + 4 + 8;

	open_for(&tp_event_sample_text);
	char *record = tp_reserve(&rec, &sink, &tp_event_sample_text, size);
	uint32_t word = 8u << 16 | (uint32_t)(sizeof(struct trace_entry) + 4);
	memcpy(record + sizeof(struct trace_entry), &word, 4);
	memcpy(record + sizeof(struct trace_entry) + 4, "ab\0cdefg", 8);
	tp_commit(&rec);
	ck_assert_uint_eq(ring.len, 3);
	ck_assert_mem_eq(ring.bytes, "ab", 3);

	/* No NUL at all: the last byte becomes one. And no byte. */
	record = tp_reserve(&rec, &sink, &tp_event_sample_text, size);
	memcpy(record + sizeof(struct trace_entry), &word, 4);
	memcpy(record + sizeof(struct trace_entry) + 4, "abcdefgh", 8);
	tp_commit(&rec);
	ck_assert_uint_eq(ring.len, 8);
	ck_assert_mem_eq(ring.bytes, "abcdefg", 8);
	record = tp_reserve(&rec, &sink, &tp_event_sample_text, size);
	memset(record + sizeof(struct trace_entry), 0, 4);
	tp_commit(&rec);
	ck_assert_uint_eq(ring.len, 1);
	ck_assert_int_eq(ring.bytes[0], '\0');
}

/* ---- What filters see ---- */

static size_t at; /* in filter.stack */

static uint64_t next_word(void)
{
	uint64_t word;

	memcpy(&word, filter.stack + at, sizeof(word));
	at += sizeof(word);
	return word;
}

TEST(filter_sees_every_field)
{
	double d;

	open_for(&tp_event_sample_kinds);
	wanted.eval_filter = 1;
	filter.answer = LTTNG_UST_EVENT_FILTER_REJECT;
	trace_sample_kinds(&values);
	ck_assert_uint_eq(filter.asked, 1);
	ck_assert_uint_eq(ring.committed, 0);
	at = 0;
	for (uint32_t i = 0; i < described->tp_class.nr_fields; i++) {
		const struct lttng_ust_event_field *f = described->fields[i];
		if (f->nofilter)
			continue;
		uint64_t word = next_word();
		if (f->type->type == lttng_ust_type_array || f->type->type == lttng_ust_type_sequence)
			at += sizeof(void *);
		memcpy(&d, &word, sizeof(d));
		if (strcmp(f->name, "s8") == 0)
			ck_assert_int_eq((int64_t)word, -5);
		else if (strcmp(f->name, "u8") == 0)
			ck_assert_uint_eq(word, 200);
		else if (strcmp(f->name, "s16") == 0)
			ck_assert_int_eq((int64_t)word, -300);
		else if (strcmp(f->name, "s32") == 0)
			ck_assert_int_eq((int64_t)word, -70000);
		else if (strcmp(f->name, "u32") == 0)
			ck_assert_uint_eq(word, 4000000000u);
		else if (strcmp(f->name, "s64") == 0)
			ck_assert_int_eq((int64_t)word, INT64_MIN);
		else if (f->type->type == lttng_ust_type_float)
			ck_assert(d == 0.5 || d == -2);
	}
	ck_assert_uint_le(at, filter.size);
	filter.answer = LTTNG_UST_EVENT_FILTER_ACCEPT;
	trace_sample_kinds(&values);
	ck_assert_uint_eq(ring.committed, 1);
}

TEST(whoever_does_not_want_it)
{
	open_for(&tp_event_sample_int);
	session.active = 0;
	trace_sample_int(1);
	session.active = 1;
	channel_common.enabled = 0;
	trace_sample_int(2);
	channel_common.enabled = 1;
	wanted.enabled = 0;
	trace_sample_int(3);
	wanted.enabled = 1;
	ck_assert_uint_eq(ring.committed, 0);
	trace_sample_int(4);
	ck_assert_uint_eq(ring.committed, 1);
}

/* ---- Trouble ---- */

/* A piece more each time, until there are enough. */
TEST(no_memory)
{
	struct tp_sink *opened = NULL;

	for (unsigned int pieces = 0; !opened; pieces++) {
		fail_malloc_after(pieces);
		opened = tp_lttng_sink();
		int error = errno;
		let_malloc_be();
		ck_assert_uint_lt(pieces, 100);
		ck_assert(opened || error == ENOMEM);
	}
	ck_assert_int_eq(tp_sink_close(opened), 0);
}

TEST(name_too_long)
{
	static const struct lttng_ust_probe_desc provider = {.provider_name = "sample"};
	char name[256];

	ck_assert_int_eq(tp_events_start(), 0);
	struct tp_event event = tp_event_sample_int;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - sizeof("sample:")] = '\0'; /* the longest that LTTng takes, and one more */
	event.name = name;
	ck_assert_int_eq(tp_lttng_describe(&arena, &provider, &event, &described), 0);
	name[sizeof(name) - sizeof("sample:")] = 'n';
	name[sizeof(name) - sizeof("sample:") + 1] = '\0';
	ck_assert_int_eq(tp_lttng_describe(&arena, &provider, &event, &described), -ENAMETOOLONG);
}

#else

TEST(built_without_it)
{
	errno = 0;
	capture_stderr();
	ck_assert_ptr_null(tp_lttng_sink());
	ck_assert_int_eq(errno, ENOTSUP);
	char *text = captured_stderr();
	ck_assert_contains(text, "tp: LTTng output: this libtp was built without the headers of LTTng-UST 2.13: ");
	free(text);
}

#endif
