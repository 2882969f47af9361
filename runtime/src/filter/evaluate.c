/* SPDX-License-Identifier: MIT */
/*
 * filter/evaluate.c - a program is run on a record. Steps only go forward, so it ends; nothing here allocates, locks or
 * waits.
 */
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/sandbox.h"
#include "filter/cpus.h"
#include "filter/program.h"

struct bytes {
	const char *at; /* NULL: the record has none */
	size_t len;
};

/* ---- The thread's name ---- */

#define NAME_SIZE 16
#define NAME_USES 64 /* after so many comparisons the kernel is asked again */

static TP_THREAD_LOCAL char name[NAME_SIZE];
static TP_THREAD_LOCAL uint32_t name_uses;

/* In a sandbox, only once. A signal handler in between reads the same name. */
static struct bytes comm(void)
{
	if (!name_uses || (name_uses >= NAME_USES && !tp_sandboxed)) {
		syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0); /* the program may have replaced prctl */
		name_uses = 0;
	}
	name_uses += name_uses < NAME_USES;
	return (struct bytes){name, strnlen(name, NAME_SIZE)};
}

/* ---- Values ---- */

#define LOAD(type, at) (__extension__({ type value_; memcpy(&value_, (at), sizeof(value_)); value_; }))

/* As high as it goes: see struct tp_filter_step. */
static inline uint64_t number_at(const struct tp_filter_step *step, const char *record)
{
	return LOAD(uint64_t, record + step->load) << step->shift & step->mask;
}

static uint64_t number_of(const struct tp_filter_step *step, const char *record)
{
	if (step->source == TP_SOURCE_CPU)
		return (uint64_t)sched_getcpu();
	const uint64_t high = number_at(step, record);
	const uint32_t by = 64 - 8 * step->size;
	return step->is_signed ? (uint64_t)((int64_t)high >> by) : high >> by;
}

/* The payload of a __data_loc (or __rel_loc) word. */
static struct bytes payload_of(const struct tp_filter_step *step, const char *record, size_t size)
{
	const tp_data_loc_t word = LOAD(tp_data_loc_t, record + step->offset);
	const size_t len = word >> 16;
	size_t offset = word & 0xffff;

	if (step->source == TP_SOURCE_REL_LOC)
		offset += step->offset + sizeof(word);
	if (offset > size || len > size - offset) /* TP_fast_assign has written over it */
		return (struct bytes){.at = NULL};
	return (struct bytes){record + offset, len};
}

static struct bytes text_of(const struct tp_filter_step *step, const char *record, size_t size)
{
	struct bytes text;

	switch (step->source) {
	case TP_SOURCE_COMM:
		return comm();
	case TP_SOURCE_ARRAY:
		text = (struct bytes){record + step->offset, step->size};
		break;
	default:
		text = payload_of(step, record, size);
	}
	if (text.at)
		text.len = strnlen(text.at, text.len);
	return text;
}

/* ---- Sets ---- */

/* A set ends with zeros as many as you like. */
static uint8_t byte_at(const uint8_t *bytes, size_t size, size_t i)
{
	return i < size ? bytes[i] : 0;
}

/* A record's is in longs: on big-endian processors its bytes are not in order. */
static uint8_t member_byte(struct bytes set, size_t i)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	i ^= sizeof(long) - 1;
#endif
	return byte_at((const uint8_t *)set.at, set.len, i);
}

static bool compare_sets(const struct tp_filter_step *step, struct bytes set)
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

/* Apart from the two tests that most filters are made of: its frame and its registers would cost them something. */
static __attribute__((noinline)) bool other_holds(const struct tp_filter_step *step, const char *record, size_t size)
{
	struct bytes text;

	switch (step->test) {
	case TP_TEST_FALSE:
		return false;
	case TP_TEST_CPU:
		return number_of(step, record) - step->base <= step->span;
	case TP_TEST_IN_SET:
		return tp_cpus_has(step->bytes, step->length, number_of(step, record));
	case TP_TEST_TEXT:
		text = text_of(step, record, size);
		return text.at && tp_text_matches(step->match, text.at, text.len, (const char *)step->bytes, step->length);
	default:
		return compare_sets(step, payload_of(step, record, size));
	}
}

bool tp_filter_accepts(const struct tp_filter_program *program, const struct trace_entry *record, size_t size)
{
	const uint32_t nr = program->nr_steps;
	uint32_t i = 0;

	while (i < nr) {
		const struct tp_filter_step *step = &program->steps[i];
		bool holds;
		if (step->test == TP_TEST_RANGE)
			holds = number_at(step, (const char *)record) - step->base <= step->span;
		else if (step->test == TP_TEST_BITS)
			holds = (number_at(step, (const char *)record) & step->base) != 0;
		else
			holds = other_holds(step, (const char *)record, size);
		i = holds ? step->yes : step->no;
	}
	return i == nr;
}
