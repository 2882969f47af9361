/* SPDX-License-Identifier: MIT */
/*
 * tp/assign.h - what TP_fast_assign may call, and the dynamic fields of a
 * record while it is being written. Included by generated code, under
 * CREATE_TRACE_POINTS.
 */
#ifndef TP_ASSIGN_H
#define TP_ASSIGN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tp/event.h>

/* One dynamic field while its record is being written: where its payload will be, and a string's source. */
struct tp_dynamic {
	size_t offset;      /* bytes from the record's start */
	size_t len;         /* bytes */
	size_t count_at;    /* where the hidden number of elements stands, 0 for bytes */
	size_t count;
	const char *source; /* a string's text */
};

/*
 * Both take the record's size so far and return it with the payload added.
 * A payload that is too long for any record counts as one byte more than the
 * longest, which tp_reserve() refuses.
 */
static inline size_t tp_size_string(struct tp_dynamic *d, size_t size, const char *source)
{
	const char *text = source ? source : "(null)";
	const char *end;

	/* No more is read than counts. The compiler need not know the text: it would warn where that is shorter. */
	__asm__("" : "+r"(text));
	end = (const char *)memchr(text, '\0', TP_RECORD_MAX);
	d->source = text;
	d->len = end ? (size_t)(end - text) + 1 : TP_RECORD_MAX + 1;
	d->offset = size;
	d->count_at = 0;
	d->count = 0;
	return size + d->len;
}

static inline size_t tp_size_array(struct tp_dynamic *d, size_t size, size_t element, size_t align, size_t count)
{
	d->source = NULL;
	d->count = count;
	d->count_at = 0;
	d->len = count > TP_RECORD_MAX / element ? TP_RECORD_MAX + 1 : count * element;
	if (element > 1) {
		d->count_at = (size + 1) & ~(size_t)1;
		size = (d->count_at + sizeof(uint16_t) + align - 1) & ~(align - 1);
	}
	d->offset = size;
	return size + d->len;
}

/* The field's __data_loc word, once the record is there; also stores the number of elements. */
static inline tp_data_loc_t tp_place(void *entry, const struct tp_dynamic *d)
{
	if (d->count_at)
		*(uint16_t *)(void *)((char *)entry + d->count_at) = (uint16_t)d->count;
	return (tp_data_loc_t)(d->len << 16 | d->offset);
}

static inline void tp_copy_string(char *to, const struct tp_dynamic *d)
{
	memcpy(to, d->source, d->len - 1);
	to[d->len - 1] = '\0'; /* even where another thread has changed the text since it was measured */
}

/* For TP_fast_assign and TP_printk. The length is in bytes, as in the kernel. */
#define __get_dynamic_array(field) ((void *)((char *)__entry + (__entry->__data_loc_##field & 0xffff)))
#define __get_dynamic_array_len(field) ((__entry->__data_loc_##field >> 16) & 0xffff)
#define __get_str(field) ((char *)__get_dynamic_array(field))

/*
 * For TP_fast_assign. The text is that which __string(field, source) measured, so a
 * second argument, which kernels before 6.10 wanted, says nothing more.
 */
#define __assign_str(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define TP_ASSIGN_STR(field, ...) tp_copy_string(__get_str(field), &__dyn.field)

#endif /* TP_ASSIGN_H */
