/* SPDX-License-Identifier: MIT */
/*
 * filter/evaluate.c - a program is run on a record. Steps only go forward, so it ends; nothing here allocates, locks or
 * waits.
 */
#include "base/thread.h"
#include "filter/decimal.h"
#include "filter/operand.h"
#include "filter/program.h"

/* ---- Sets ---- */

/* A set ends with zeros as many as you like. */
static uint8_t byte_at(const uint8_t *bytes, size_t size, size_t i)
{
	return i < size ? bytes[i] : 0;
}

/* A record's is in longs: on big-endian processors its bytes are not in order. */
static uint8_t member_byte(struct tp_value_bytes set, size_t i)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	i ^= sizeof(long) - 1;
#endif
	return byte_at((const uint8_t *)set.at, set.len, i);
}

static bool compare_sets(const struct tp_filter_step *step, struct tp_value_bytes set)
{
	const size_t size = set.len > step->length ? set.len : step->length;
	bool equal = true, meets = false;

	for (size_t i = 0; i < size; i++) {
		const uint8_t a = member_byte(set, i), b = byte_at(step->bytes, step->length, i);
		equal = equal && a == b;
		meets = meets || (a & b);
	}
	return step->test == TP_TEST_SET_EQUALS ? equal : meets;
}

/* ---- Floating point ---- */

static bool compare_wide(const struct tp_filter_step *step, const void *record)
{
	long double value, number;

	memcpy(&value, (const char *)record + step->value.offset, sizeof(value));
	memcpy(&number, step->bytes, sizeof(number));
	return step->match & (value < number ? TP_ORDER_LESS : value > number ? TP_ORDER_GREATER : value == number ? TP_ORDER_EQUAL : 0);
}

/* Apart from the two tests that most filters are made of: its frame and its registers would cost them something. */
static __attribute__((noinline)) bool other_holds(const struct tp_filter_step *step, const void *record, size_t size)
{
	struct tp_value_bytes text;

	switch (step->test) {
	case TP_TEST_FALSE:
		return false;
	case TP_TEST_FLOAT:
		return tp_float_order(tp_value_high(&step->value, record)) - step->base <= step->span;
	case TP_TEST_LONG_DOUBLE:
		return compare_wide(step, record);
	case TP_TEST_CPU:
		return tp_value_number(&step->value, record) - step->base <= step->span;
	case TP_TEST_IN_SET:
		return tp_cpus_has(step->bytes, step->length, tp_value_number(&step->value, record));
	case TP_TEST_TEXT:
		text = tp_value_text(&step->value, record, size);
		return text.at && tp_text_matches(step->match, text.at, text.len, (const char *)step->bytes, step->length);
	default:
		return compare_sets(step, tp_value_payload(&step->value, record, size));
	}
}

static inline __attribute__((always_inline)) bool step_holds(const struct tp_filter_step *step, const void *record, size_t size)
{
	if (step->test == TP_TEST_RANGE)
		return tp_value_high(&step->value, record) - step->base <= step->span;
	if (step->test == TP_TEST_BITS)
		return (tp_value_high(&step->value, record) & step->base) != 0;
	return other_holds(step, record, size);
}

bool tp_filter_accepts(const struct tp_filter_program *program, const struct trace_entry *record, size_t size)
{
	const uint32_t nr = program->nr_steps;
	uint32_t i = 0;

	while (i < nr) {
		const struct tp_filter_step *step = &program->steps[i];
		i = step_holds(step, record, size) ? step->yes : step->no;
	}
	return i == nr;
}

/* Fields that are there are numbers in the fixed part, so the record's size does not matter. */
enum tp_filter_answer tp_filter_ask(const struct tp_filter_program *program, const struct tp_event *event,
				    struct trace_entry *early, uint64_t fields)
{
	const uint32_t nr = program->nr_steps;
	uint32_t i = 0;

	if (program->reads_header)
		*early = (struct trace_entry){.type = event->id, .pid = tp_thread_id()};
	while (i < nr) {
		const struct tp_filter_step *step = &program->steps[i];
		if (step->field & ~fields)
			return TP_FILTER_WANTS_MORE;
		i = step_holds(step, early, 0) ? step->yes : step->no;
	}
	return i == nr ? TP_FILTER_ACCEPTS : TP_FILTER_REFUSES;
}
