/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/record.c - the way of a record into LTTng's ring buffers: what the
 * functions of a compiled LTTng provider do, by what describe.c has made
 * of the event.
 *
 * The record is built in scratch memory, as TP_fast_assign can't be run for
 * each session, and filters look at it before there is any room for it.
 */
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/guard.h"
#include "sinks/lttng/lttng.h"

#ifdef TP_HAS_LTTNG

/* A record that is offered to the sessions, one after the other. */
struct offer {
	struct tp_record *rec;
	const struct tp_lttng_event *event;
	struct lttng_ust_probe_ctx context;
	char *stack; /* for filters, made when the first of them asks */
};

/*
 * LTTng's thread-local memory comes from malloc at the first touch: so it is
 * touched while no signal handler can come in between, and where malloc itself is
 * traced, what is in there is lost.
 */
static TP_THREAD_LOCAL bool thread_is_ready;

static TP_COLD bool make_ready(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter_slow_way(&guard))
		return false;
	tp_lttng.init_thread();
	thread_is_ready = true;
	tp_guard_leave(&guard);
	return true;
}

bool tp_lttng_reserve(struct tp_record *rec, struct tp_lttng_event *event)
{
	void *memory = thread_is_ready || make_ready() ? tp_scratch_push(rec->size) : NULL;

	if (!memory) {
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
		return false;
	}
	rec->entry = memory;
	rec->sink_data[0] = event;
	return true;
}

/* ---- Payloads ---- */

/* The one of the __data_loc word at offset (or __rel_loc), which may be unaligned, and its size in bytes. */
static char *payload_at(void *entry, uint32_t offset, bool relative, uint32_t *size)
{
	tp_data_loc_t word;

	memcpy(&word, (char *)entry + offset, sizeof(word));
	*size = word >> 16;
	return (char *)entry + (relative ? offset + sizeof(word) : 0) + (word & 0xffff);
}

/* The same for a string, which has its NUL in any case. */
static const char *string_at(void *entry, uint32_t offset, bool relative, uint32_t *size)
{
	const char *text = payload_at(entry, offset, relative, size);

	if (*size)
		return text;
	*size = 1;
	return "";
}

static const char *payload_of(const struct tp_lttng_piece *p, void *entry, uint32_t *size)
{
	return p->kind == TP_LTTNG_STRING ? string_at(entry, p->offset, p->relative, size)
				       : payload_at(entry, p->offset, p->relative, size);
}

/* A string ends at its first NUL for LTTng: so its payload does. */
static void end_string(void *entry, uint32_t offset, bool relative)
{
	tp_data_loc_t word;
	uint32_t size;
	char *text = payload_at(entry, offset, relative, &size);

	if (!size)
		return;
	uint32_t len = (uint32_t)strnlen(text, size - 1);
	text[len] = '\0';
	memcpy(&word, (char *)entry + offset, sizeof(word));
	word = (len + 1) << 16 | (word & 0xffff);
	memcpy((char *)entry + offset, &word, sizeof(word));
}

static void end_strings(const struct tp_lttng_event *event, void *entry)
{
	for (const struct tp_lttng_piece *p = event->pieces; p < event->pieces + event->nr_pieces; p++) {
		if (p->kind == TP_LTTNG_STRING)
			end_string(entry, p->offset, p->relative);
	}
}

/* ---- Filters ---- */

/* As wide as it goes on the stack. The field may be unaligned in the record. */
static uint64_t widened(const struct tp_lttng_operand *o, const char *at)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		float f;
	} value;
	uint64_t bits;
	double d;

	memcpy(&value, at, (size_t)1 << o->shift);
	if (o->kind == TP_LTTNG_FLOAT && o->shift == 2) {
		d = (double)value.f;
		memcpy(&bits, &d, sizeof(bits));
		return bits;
	}
	switch (o->shift) {
	case 0:
		return o->kind == TP_LTTNG_SIGNED ? (uint64_t)(int8_t)value.u8 : value.u8;
	case 1:
		return o->kind == TP_LTTNG_SIGNED ? (uint64_t)(int16_t)value.u16 : value.u16;
	case 2:
		return o->kind == TP_LTTNG_SIGNED ? (uint64_t)(int32_t)value.u32 : value.u32;
	default:
		return value.u64;
	}
}

static char *push(char *stack, const void *value, size_t size)
{
	memcpy(stack, value, size);
	return stack + size;
}

static char *push_operand(char *stack, const struct tp_lttng_operand *o, void *entry)
{
	uint32_t size = o->length << o->shift;
	const char *at = (char *)entry + o->offset;

	if (o->kind <= TP_LTTNG_FLOAT) {
		uint64_t value = widened(o, at);
		return push(stack, &value, sizeof(value));
	}
	if (o->kind == TP_LTTNG_OPERAND_STRING) {
		at = string_at(entry, o->offset, o->relative, &size);
		return push(stack, &at, sizeof(at));
	}
	if (o->kind == TP_LTTNG_OPERAND_SEQUENCE)
		at = payload_at(entry, o->offset, o->relative, &size);
	unsigned long length = size >> o->shift;
	stack = push(stack, &length, sizeof(length));
	return push(stack, &at, sizeof(at));
}

/* What no operand is larger than. */
#define OPERAND_SIZE (sizeof(uint64_t) + sizeof(void *))

/* False, and the record is counted as lost, where there is no room. */
static bool make_stack(struct offer *offer)
{
	if (offer->stack)
		return true;
	offer->stack = tp_scratch_push(offer->event->nr_operands * OPERAND_SIZE);
	if (!offer->stack) {
		tp_sink_count_lost(offer->rec->sink, TP_LOST_NESTED);
		return false;
	}
	char *at = offer->stack;
	for (uint32_t i = 0; i < offer->event->nr_operands; i++)
		at = push_operand(at, &offer->event->operands[i], offer->rec->entry);
	return true;
}

/* ---- Ring buffers ---- */

static size_t aligned(size_t size, size_t align)
{
	return size + lttng_ust_ring_buffer_align(size, align);
}

/* In the ring buffer, from the record's start, which is as aligned as the event is. */
static size_t size_in_buffer(const struct tp_lttng_event *event, void *entry)
{
	size_t size = 0;

	for (const struct tp_lttng_piece *p = event->pieces; p < event->pieces + event->nr_pieces; p++) {
		uint32_t bytes = p->size;
		if (p->kind != TP_LTTNG_BYTES)
			payload_of(p, entry, &bytes);
		if (p->kind == TP_LTTNG_SEQUENCE)
			size = aligned(size, sizeof(tp_lttng_length_t)) + sizeof(tp_lttng_length_t);
		size = aligned(size, p->align) + (bytes >> p->shift << p->shift);
	}
	return size;
}

/* Text by event_write, too, as its length is known: event_strcpy goes from byte to byte. */
static void write_payload(const struct tp_lttng_piece *p, void *entry, const struct lttng_ust_channel_buffer_ops *ops,
			  struct lttng_ust_ring_buffer_ctx *ctx)
{
	uint32_t size;
	const char *payload = payload_of(p, entry, &size);
	tp_lttng_length_t length = (tp_lttng_length_t)(size >> p->shift);

	if (p->kind == TP_LTTNG_SEQUENCE)
		ops->event_write(ctx, &length, sizeof(length), lttng_ust_rb_alignof(length));
	ops->event_write(ctx, payload, (size_t)length << p->shift, p->align);
}

static void write_record(struct offer *offer, struct lttng_ust_event_recorder *recorder)
{
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	const struct tp_lttng_event *event = offer->event;
	char *entry = (char *)offer->rec->entry;
	struct lttng_ust_ring_buffer_ctx ctx;

	lttng_ust_ring_buffer_ctx_init(&ctx, recorder, size_in_buffer(event, entry), (int)event->align,
				       &offer->context);
	if (ops->event_reserve(&ctx) < 0)
		return; /* which LTTng has counted */
	for (const struct tp_lttng_piece *p = event->pieces; p < event->pieces + event->nr_pieces; p++) {
		if (p->kind == TP_LTTNG_BYTES)
			ops->event_write(&ctx, entry + p->offset, p->size, p->align);
		else
			write_payload(p, entry, ops, &ctx);
	}
	ops->event_commit(&ctx);
}

/* ---- Sessions ---- */

static bool is_wanted(const struct lttng_ust_event_common *common)
{
	if (common->type == LTTNG_UST_EVENT_TYPE_RECORDER) {
		const struct lttng_ust_event_recorder *recorder = common->child;
		const struct lttng_ust_channel_common *channel = recorder->chan->parent;
		if (!__atomic_load_n(&channel->session->active, __ATOMIC_RELAXED) ||
		    !__atomic_load_n(&channel->enabled, __ATOMIC_RELAXED))
			return false;
	}
	return __atomic_load_n(&common->enabled, __ATOMIC_RELAXED);
}

static bool passes_filter(struct offer *offer, struct lttng_ust_event_common *common)
{
	if (!__atomic_load_n(&common->eval_filter, __ATOMIC_RELAXED))
		return true;
	return make_stack(offer) && common->run_filter(common, offer->stack, &offer->context, NULL) ==
					    LTTNG_UST_EVENT_FILTER_ACCEPT;
}

static void notify(struct offer *offer, struct lttng_ust_event_notifier *notifier)
{
	struct lttng_ust_notification_ctx ctx = {
		.struct_size = sizeof(ctx),
		.eval_capture = __atomic_load_n(&notifier->eval_capture, __ATOMIC_RELAXED),
	};

	if (!ctx.eval_capture || make_stack(offer))
		notifier->notification_send(notifier, offer->stack, &offer->context, &ctx);
}

/* common is what LTTng has for the event in one of its sessions, or a trigger on it. */
static void offer_to(struct offer *offer, struct lttng_ust_event_common *common)
{
	if (!is_wanted(common) || !passes_filter(offer, common))
		return;
	if (common->type == LTTNG_UST_EVENT_TYPE_RECORDER)
		write_record(offer, common->child);
	else if (common->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
		notify(offer, common->child);
}

void tp_lttng_commit(struct tp_record *rec)
{
	const struct tp_lttng_event *event = rec->sink_data[0];
	struct offer offer = {
		.rec = rec,
		.event = event,
		/* The site's address is not known here; the record writer's names the event. */
		.context = {.struct_size = sizeof(offer.context), .ip = (void *)(uintptr_t)rec->event->record},
	};
	int error = errno;

	end_strings(event, rec->entry);
	tp_lttng.read_lock();
	const struct lttng_ust_tracepoint_probe *probe =
		__atomic_load_n(&event->tracepoint.probes, __ATOMIC_ACQUIRE);
	for (; probe && probe->func; probe++) {
		if (probe->func == tp_lttng_mark(event))
			offer_to(&offer, probe->data);
	}
	tp_lttng.read_unlock();
	if (offer.stack)
		tp_scratch_pop(offer.stack);
	tp_scratch_pop(rec->entry);
	errno = error;
}

#endif
