/* SPDX-License-Identifier: MIT */
/*
 * tp/assign.h - the helpers that TP_fast_assign can call, and the dynamic
 * fields of a record while it is being written. Included by generated code,
 * under CREATE_TRACE_POINTS.
 *
 * All these functions are in the runtime, and none is inlined: a program can
 * have thousands of record writers, and most of them never run.
 */
#ifndef TP_ASSIGN_H
#define TP_ASSIGN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tp/event.h>

#ifdef __cplusplus
#include <type_traits>

extern "C" {
#endif

/* The longest text of a __vstring, its NUL included, in bytes. As in the kernel. */
#define TRACE_EVENT_STR_MAX 512

/* One dynamic field while its record is being written: the place of its payload, and the source of a string. */
struct tp_dynamic {
	const char *source; /* the text of a string; it need not end with a NUL */
	tp_data_loc_t loc;  /* its __data_loc word */
	uint16_t count_at;  /* bytes from the record's start to the hidden number of elements; 0: no such number */
	uint16_t count;
};

/*
 * Each tp_size function takes the record's size so far, in bytes, and returns
 * the size with the payload added. A payload that is too long for any record
 * (or whose length is below 0) makes the size one byte more than
 * TP_RECORD_MAX, which tp_reserve() refuses.
 */

/* Any pointer as that of a text, as in the kernel; but of a number, compilers say something. */
static inline __attribute__((always_inline)) const char *tp_as_text(const volatile void *source)
{
	return (const char *)(uintptr_t)source;
}

/* The text of source with its NUL. If source is NULL, the text is "(null)". */
TP_PUBLIC size_t tp_size_string(struct tp_dynamic *d, size_t size, const char *source);

/* The same, of at most len bytes. Nothing after them is read, so source need not have a NUL. */
TP_PUBLIC size_t tp_size_string_len(struct tp_dynamic *d, size_t size, const char *source, size_t len);

/* The text that vsnprintf makes of fmt and args, cut to TRACE_EVENT_STR_MAX. *args is not changed. */
TP_PUBLIC size_t tp_size_vstring(struct tp_dynamic *d, size_t size, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));

/* count elements of element bytes each; the payload's offset is a multiple of align. */
TP_PUBLIC size_t tp_size_array(struct tp_dynamic *d, size_t size, size_t element, size_t align, size_t count);

/* nr_bits rounded up to unsigned longs. */
TP_PUBLIC size_t tp_size_bitmask(struct tp_dynamic *d, size_t size, size_t nr_bits);

/*
 * As many bits as the kernel's masks of CPUs have, which sched_getaffinity()
 * tells: at least one for each CPU that the machine can have, rounded up to
 * unsigned longs. At most as many as a cpu_set_t has, since the source is one.
 */
TP_PUBLIC size_t tp_size_cpumask(struct tp_dynamic *d, size_t size);

/* len bytes. */
TP_PUBLIC size_t tp_size_sockaddr(struct tp_dynamic *d, size_t size, size_t len);

/* Returns the field's __data_loc word, and stores the number of elements in the record. Called after tp_reserve(). */
TP_PUBLIC tp_data_loc_t tp_place(void *entry, const struct tp_dynamic *d);

/* The same for a __rel_loc field; word is the address of the field's __rel_loc word. */
TP_PUBLIC tp_data_loc_t tp_place_rel(void *entry, const tp_data_loc_t *word, const struct tp_dynamic *d);

/* Copies as much of the source as tp_size_string() or tp_size_string_len() measured, and ends it with a NUL. */
TP_PUBLIC void tp_assign_str(void *entry, const struct tp_dynamic *d);

TP_PUBLIC void tp_assign_vstr(void *entry, const struct tp_dynamic *d, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));

/* Copies len bytes, but no more than the payload's length. The rest of the payload becomes 0. NULL means no bytes. */
TP_PUBLIC void tp_assign_bytes(void *entry, const struct tp_dynamic *d, const void *source, size_t len);

/* The same for nr_bits rounded up to unsigned longs; source must have all of these longs. */
TP_PUBLIC void tp_assign_bitmask(void *entry, const struct tp_dynamic *d, const void *source, size_t nr_bits);

#ifdef __cplusplus
}

/* ---- Texts in C++ ---- */

/*
 * A text of std::string, std::string_view and their like, which have data() and size(). It need not end with a NUL, and
 * its data can be null: then it is empty. As all texts, it ends at its first NUL.
 */
struct tp_sized_text {
	const char *data;
	size_t size;
};

/* The text is copied after all fields have been measured. So a temporary must be a view: what has a destructor is gone then. */
template <class Text> struct tp_lasts : std::is_trivially_destructible<Text> {
};
template <class Text> struct tp_lasts<Text &> : std::true_type {
};
struct tp_this_text_is_a_temporary_that_is_gone_before_it_is_recorded;

template <class Text>
inline __attribute__((always_inline)) auto tp_as_text(Text &&text)
	-> typename std::enable_if<sizeof(*text.data()) == 1 && tp_lasts<Text>::value,
				   decltype((void)text.size(), tp_sized_text())>::type
{
	return {(const char *)text.data(), (size_t)text.size()};
}
template <class Text>
auto tp_as_text(Text &&text)
	-> typename std::enable_if<sizeof(*text.data()) == 1 && !tp_lasts<Text>::value,
				   tp_this_text_is_a_temporary_that_is_gone_before_it_is_recorded>::type = delete;

inline size_t tp_size_string_len(struct tp_dynamic *d, size_t size, tp_sized_text text, size_t len)
{
	/* A len below 0 is refused. */
	return tp_size_string_len(d, size, text.data ? text.data : "", text.size < len && len <= PTRDIFF_MAX ? text.size : len);
}

inline size_t tp_size_string(struct tp_dynamic *d, size_t size, tp_sized_text text)
{
	return tp_size_string_len(d, size, text, text.size);
}
#endif

/* gcc reports an error in these macros where they are called: in the .tp file. */
#pragma GCC system_header

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

/* ---- For TP_fast_assign: destinations of bits. In TP_printk, tpgen replaces these by __print_bitmask() etc. ---- */

#define __get_bitmask(field) ((char *)__get_dynamic_array(field))
#define __get_cpumask(field) __get_bitmask(field)
#define __get_rel_bitmask(field) ((char *)__get_rel_dynamic_array(field))
#define __get_rel_cpumask(field) __get_rel_bitmask(field)

/* ---- For TP_fast_assign ---- */

/* &__dyn.field, but compiles only if the record has a word of that name for the field. */
#define TP_DATA_LOC(field) ((void)sizeof(__entry->__data_loc_##field), &__dyn.field)
#define TP_REL_LOC(field) ((void)sizeof(__entry->__rel_loc_##field), &__dyn.field)

/*
 * The text is the one that the field's declaration measured, such as
 * __string(field, source). Kernels before 6.10 wanted the source (and length)
 * here again, after the field; these arguments are ignored.
 */
#define __assign_str(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_str_len(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_rel_str(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define __assign_rel_str_len(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define TP_ASSIGN_STR(field, ...) tp_assign_str(__entry, TP_DATA_LOC(field))
#define TP_ASSIGN_REL_STR(field, ...) tp_assign_str(__entry, TP_REL_LOC(field))

/* va is a va_list *; the macro uses a copy of the list. */
#define __assign_vstr(field, fmt, va) tp_assign_vstr(__entry, TP_DATA_LOC(field), (fmt), (va))

/* source has whole unsigned longs. As in the kernel, the bits of the last one after nr_bits are copied too. */
#define __assign_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_DATA_LOC(field), (source), (size_t)(nr_bits))
#define __assign_rel_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_REL_LOC(field), (source), (size_t)(nr_bits))

/* source is a cpu_set_t *, or a pointer to as many bytes. */
#define __assign_cpumask(field, source) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), SIZE_MAX)
#define __assign_rel_cpumask(field, source) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), SIZE_MAX)

#define __assign_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), (size_t)(len))
#define __assign_rel_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), (size_t)(len))

#endif /* TP_ASSIGN_H */
