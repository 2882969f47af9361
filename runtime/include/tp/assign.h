/* SPDX-License-Identifier: MIT */
/*
 * tp/assign.h - what TP_fast_assign may call, and the dynamic fields of a
 * record while it is being written. Included by generated code, under
 * CREATE_TRACE_POINTS.
 *
 * The functions are the runtime's, none is inlined: a record writer is one of
 * thousands in a program, and most of them never run.
 */
#ifndef TP_ASSIGN_H
#define TP_ASSIGN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tp/event.h>

/* The longest text of a __vstring, its NUL included, in bytes. As in the kernel. */
#define TRACE_EVENT_STR_MAX 512

/* One dynamic field while its record is being written: where its payload will be, and a string's source. */
struct tp_dynamic {
	const char *source; /* a string's text; not needed to end with a NUL */
	tp_data_loc_t loc;  /* its __data_loc word */
	uint16_t count_at;  /* bytes from the record's start to the hidden number of elements; 0: there is none */
	uint16_t count;
};

/*
 * All take the record's size so far, in bytes, and return it with the payload
 * added. A payload that is too long for any record (a length below 0 is
 * such) counts as one byte more than the longest, which tp_reserve() refuses.
 */

/* The text with its NUL; a source of NULL is "(null)". */
TP_PUBLIC size_t tp_size_string(struct tp_dynamic *d, size_t size, const char *source);

/* The same of at most len bytes, behind which nothing is read: source need have no NUL. */
TP_PUBLIC size_t tp_size_string_len(struct tp_dynamic *d, size_t size, const char *source, size_t len);

/* What vsnprintf makes of them, cut to TRACE_EVENT_STR_MAX. *args stays as it is. */
TP_PUBLIC size_t tp_size_vstring(struct tp_dynamic *d, size_t size, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));

/* count elements of so many bytes, at a multiple of align. */
TP_PUBLIC size_t tp_size_array(struct tp_dynamic *d, size_t size, size_t element, size_t align, size_t count);

/* nr_bits rounded up to unsigned longs. */
TP_PUBLIC size_t tp_size_bitmask(struct tp_dynamic *d, size_t size, size_t nr_bits);

/*
 * A bit for each CPU that the machine can have, as the operating system's
 * sched_getaffinity() counts them, rounded up to unsigned longs. No more
 * than a cpu_set_t has, as that is what is copied.
 */
TP_PUBLIC size_t tp_size_cpumask(struct tp_dynamic *d, size_t size);

/* len bytes. */
TP_PUBLIC size_t tp_size_sockaddr(struct tp_dynamic *d, size_t size, size_t len);

/* The field's __data_loc word, once the record is there; also stores the number of elements. */
TP_PUBLIC tp_data_loc_t tp_place(void *entry, const struct tp_dynamic *d);

/* The same for the field's __rel_loc word, which stands at word. */
TP_PUBLIC tp_data_loc_t tp_place_rel(void *entry, const tp_data_loc_t *word, const struct tp_dynamic *d);

/* Copies the source, as far as it was measured, and ends it with a NUL. */
TP_PUBLIC void tp_assign_str(void *entry, const struct tp_dynamic *d);

TP_PUBLIC void tp_assign_vstr(void *entry, const struct tp_dynamic *d, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));

/* Copies len bytes, but no more than the payload has; what is left of that becomes 0. NULL is no bytes. */
TP_PUBLIC void tp_assign_bytes(void *entry, const struct tp_dynamic *d, const void *source, size_t len);

/* The same for nr_bits rounded up to unsigned longs, which source must have in full. */
TP_PUBLIC void tp_assign_bitmask(void *entry, const struct tp_dynamic *d, const void *source, size_t nr_bits);

/* ---- For TP_fast_assign and TP_printk. Lengths are in bytes, as in the kernel ---- */

#define __get_dynamic_array(field) ((void *)((char *)__entry + (__entry->__data_loc_##field & 0xffff)))
#define __get_dynamic_array_len(field) ((__entry->__data_loc_##field >> 16) & 0xffff)
#define __get_str(field) ((char *)__get_dynamic_array(field))
#define __get_sockaddr(field) ((struct sockaddr *)__get_dynamic_array(field))

#define __get_rel_dynamic_array(field)                                                                  \
	((void *)((char *)__entry + offsetof(__typeof__(*__entry), __rel_loc_##field) +                 \
		  sizeof(__entry->__rel_loc_##field) + (__entry->__rel_loc_##field & 0xffff)))
#define __get_rel_dynamic_array_len(field) ((__entry->__rel_loc_##field >> 16) & 0xffff)
#define __get_rel_str(field) ((char *)__get_rel_dynamic_array(field))
#define __get_rel_sockaddr(field) ((struct sockaddr *)__get_rel_dynamic_array(field))

/* ---- For TP_fast_assign: where the bits go. In TP_printk, tpgen makes __print_bitmask() and its like of these ---- */

#define __get_bitmask(field) ((char *)__get_dynamic_array(field))
#define __get_cpumask(field) __get_bitmask(field)
#define __get_rel_bitmask(field) ((char *)__get_rel_dynamic_array(field))
#define __get_rel_cpumask(field) __get_rel_bitmask(field)

/* ---- For TP_fast_assign ---- */

/* __dyn.field, where the record has a word of that name for it. */
#define TP_DATA_LOC(field) ((void)sizeof(__entry->__data_loc_##field), &__dyn.field)
#define TP_REL_LOC(field) ((void)sizeof(__entry->__rel_loc_##field), &__dyn.field)

/*
 * The text is that which the field's declaration measured, __string(field,
 * source) for one, so a source (and length) behind the field, which kernels
 * before 6.10 wanted, says nothing more.
 */
#define __assign_str(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_str_len(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_rel_str(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define __assign_rel_str_len(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define TP_ASSIGN_STR(field, ...) tp_assign_str(__entry, TP_DATA_LOC(field))
#define TP_ASSIGN_REL_STR(field, ...) tp_assign_str(__entry, TP_REL_LOC(field))

/* va is a va_list *, of which a copy is used. */
#define __assign_vstr(field, fmt, va) tp_assign_vstr(__entry, TP_DATA_LOC(field), (fmt), (va))

/* source holds whole unsigned longs; as in the kernel, bits of the last one that are behind nr_bits are copied too. */
#define __assign_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_DATA_LOC(field), (source), (size_t)(nr_bits))
#define __assign_rel_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_REL_LOC(field), (source), (size_t)(nr_bits))

/* source is a cpu_set_t *, or one to as many bytes. */
#define __assign_cpumask(field, source) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), SIZE_MAX)
#define __assign_rel_cpumask(field, source) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), SIZE_MAX)

#define __assign_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), (size_t)(len))
#define __assign_rel_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), (size_t)(len))

#endif /* TP_ASSIGN_H */
