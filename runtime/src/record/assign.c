/* SPDX-License-Identifier: MIT */
/*
 * record/assign.c - the dynamic fields of a record: how long they will be, where
 * they are, and what is copied there.
 *
 * All of it is safe in signal handlers (tp_size_vstring and tp_assign_vstr as
 * far as vsnprintf is).
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tp/assign.h>

#include "base/base.h"

#define WORD sizeof(unsigned long)

static const char null_text[] = "(null)";

/* ---- Lengths ---- */

/* A payload of len bytes at the end of what is there. */
static size_t append(struct tp_dynamic *d, size_t size, size_t len)
{
	if (len > TP_RECORD_MAX)
		len = TP_RECORD_MAX + 1;
	/* Cut to 16 bits, offset and count_at are wrong in a record that is refused. */
	d->loc = (tp_data_loc_t)len << 16 | (uint16_t)size;
	return size + len;
}

static size_t append_bytes(struct tp_dynamic *d, size_t size, const char *source, size_t len)
{
	d->source = source;
	d->count_at = 0;
	d->count = 0;
	return append(d, size, len);
}

size_t tp_size_string_len(struct tp_dynamic *d, size_t size, const char *source, size_t len)
{
	if (!source)
		source = null_text;
	if (len > PTRDIFF_MAX) /* one below 0 */
		return append_bytes(d, size, source, TP_RECORD_MAX + 1);
	/* No more is read than counts. */
	return append_bytes(d, size, source, strnlen(source, len < TP_RECORD_MAX ? len : TP_RECORD_MAX) + 1);
}

size_t tp_size_string(struct tp_dynamic *d, size_t size, const char *source)
{
	return tp_size_string_len(d, size, source, TP_RECORD_MAX);
}

size_t tp_size_vstring(struct tp_dynamic *d, size_t size, const char *fmt, va_list *args)
{
	va_list copy;
	int len = 0;

	if (fmt) {
		va_copy(copy, *args);
		len = vsnprintf(NULL, 0, fmt, copy);
		va_end(copy);
	}
	if (len < 0)
		len = 0;
	return append_bytes(d, size, NULL, len < TRACE_EVENT_STR_MAX ? (size_t)len + 1 : TRACE_EVENT_STR_MAX);
}

size_t tp_size_array(struct tp_dynamic *d, size_t size, size_t element, size_t align, size_t count)
{
	if (element <= 1)
		return append_bytes(d, size, NULL, element ? count : 0);
	d->source = NULL;
	size = (size + 1) & ~(size_t)1;
	d->count_at = (uint16_t)size;
	d->count = (uint16_t)count;
	size = (size + sizeof(d->count) + align - 1) & ~(align - 1);
	return append(d, size, count > TP_RECORD_MAX / element ? TP_RECORD_MAX + 1 : count * element);
}

static size_t words_of(size_t nr_bits)
{
	return nr_bits / (WORD * CHAR_BIT) + (nr_bits % (WORD * CHAR_BIT) != 0);
}

size_t tp_size_bitmask(struct tp_dynamic *d, size_t size, size_t nr_bits)
{
	return tp_size_array(d, size, WORD, _Alignof(unsigned long), words_of(nr_bits));
}

/* Bytes, in whole words. The system call says how many bytes it has filled in, which the C library's does not. */
static TP_COLD size_t cpumask_size(void)
{
	cpu_set_t set;
	int error = errno;
	long size = syscall(SYS_sched_getaffinity, 0, sizeof(set), &set);

	errno = error;
	if (size <= 0) /* there are more CPUs than a cpu_set_t has, or the call is not allowed */
		return sizeof(set);
	return words_of((size_t)size * CHAR_BIT) * WORD;
}

size_t tp_size_cpumask(struct tp_dynamic *d, size_t size)
{
	static size_t cached;
	size_t bytes = __atomic_load_n(&cached, __ATOMIC_RELAXED);

	if (!bytes) {
		bytes = cpumask_size();
		__atomic_store_n(&cached, bytes, __ATOMIC_RELAXED);
	}
	return tp_size_array(d, size, WORD, _Alignof(unsigned long), bytes / WORD);
}

size_t tp_size_sockaddr(struct tp_dynamic *d, size_t size, size_t len)
{
	return append_bytes(d, size, NULL, len);
}

/* ---- Places ---- */

static size_t length_of(const struct tp_dynamic *d)
{
	return d->loc >> 16;
}

static char *payload_of(void *entry, const struct tp_dynamic *d)
{
	return (char *)entry + (d->loc & 0xffff);
}

tp_data_loc_t tp_place(void *entry, const struct tp_dynamic *d)
{
	if (d->count_at)
		*(uint16_t *)(void *)((char *)entry + d->count_at) = d->count;
	return d->loc;
}

tp_data_loc_t tp_place_rel(void *entry, const tp_data_loc_t *word, const struct tp_dynamic *d)
{
	return tp_place(entry, d) - (tp_data_loc_t)((const char *)(word + 1) - (const char *)entry);
}

/* ---- Copying ---- */

void tp_assign_str(void *entry, const struct tp_dynamic *d)
{
	char *to = payload_of(entry, d);
	size_t len = length_of(d);

	if (!len) /* no string: a dynamic array without elements */
		return;
	if (d->source)
		memcpy(to, d->source, len - 1);
	else
		memset(to, 0, len - 1);
	to[len - 1] = '\0'; /* even where another thread has changed the text since it was measured */
}

void tp_assign_vstr(void *entry, const struct tp_dynamic *d, const char *fmt, va_list *args)
{
	char *to = payload_of(entry, d);
	size_t len = length_of(d);
	va_list copy;
	int done = 0;

	if (!len)
		return;
	if (fmt) {
		va_copy(copy, *args);
		done = vsnprintf(to, len, fmt, copy);
		va_end(copy);
	}
	/* The text may have become shorter since it was measured. */
	if (done < 0)
		done = 0;
	if ((size_t)done < len)
		memset(to + done, 0, len - (size_t)done);
}

void tp_assign_bytes(void *entry, const struct tp_dynamic *d, const void *source, size_t len)
{
	char *to = payload_of(entry, d);
	size_t room = length_of(d);

	if (!source)
		len = 0;
	if (len > room)
		len = room;
	if (len)
		memcpy(to, source, len);
	memset(to + len, 0, room - len);
}

void tp_assign_bitmask(void *entry, const struct tp_dynamic *d, const void *source, size_t nr_bits)
{
	size_t words = words_of(nr_bits);

	tp_assign_bytes(entry, d, source, words < SIZE_MAX / WORD ? words * WORD : SIZE_MAX);
}
