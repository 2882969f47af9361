/* SPDX-License-Identifier: MIT */
/*
 * filter/value.c - see value.h.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "filter/value.h"

/* ---- The thread's name ---- */

#define NAME_SIZE 16
#define NAME_USES 64 /* after so many comparisons the kernel is asked again */

static TP_THREAD_LOCAL char name[NAME_SIZE];
static TP_THREAD_LOCAL uint32_t name_uses;

/* In a sandbox, only once. A signal handler in between reads the same name. */
struct tp_value_bytes tp_value_comm(void)
{
	if (!name_uses || (name_uses >= NAME_USES && !tp_sandboxed)) {
		syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0); /* the program may have replaced prctl */
		name_uses = 0;
	}
	name_uses += name_uses < NAME_USES;
	return (struct tp_value_bytes){name, strnlen(name, NAME_SIZE)};
}

/* ---- Numbers ---- */

struct tp_value tp_value_at(enum tp_value_source source, uint32_t offset, uint32_t size, bool is_signed)
{
	return (struct tp_value){.source = (uint8_t)source, .offset = offset, .size = size, .is_signed = is_signed};
}

uint64_t tp_value_number(const struct tp_value *value, const void *record)
{
	return value->source == TP_SOURCE_CPU ? (uint64_t)sched_getcpu() : tp_value_number_in(value, record);
}

/* ---- Bytes ---- */

struct tp_value_bytes tp_value_payload(const struct tp_value *value, const void *record, size_t size)
{
	tp_data_loc_t word;

	if (value->source == TP_SOURCE_ARRAY)
		return (struct tp_value_bytes){(const char *)record + value->offset, value->size};
	memcpy(&word, (const char *)record + value->offset, sizeof(word));
	const size_t len = word >> 16;
	size_t offset = word & 0xffff;
	if (value->source == TP_SOURCE_REL_LOC)
		offset += value->offset + sizeof(word);
	if (offset > size || len > size - offset) /* TP_fast_assign has written over it */
		return (struct tp_value_bytes){.at = NULL};
	return (struct tp_value_bytes){(const char *)record + offset, len};
}

struct tp_value_bytes tp_value_text(const struct tp_value *value, const void *record, size_t size)
{
	if (value->source == TP_SOURCE_COMM)
		return tp_value_comm();
	struct tp_value_bytes text = tp_value_payload(value, record, size);
	if (text.at)
		text.len = strnlen(text.at, text.len);
	return text;
}
