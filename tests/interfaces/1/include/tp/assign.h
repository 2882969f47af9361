/* SPDX-License-Identifier: MIT */
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
#define TRACE_EVENT_STR_MAX 512
struct tp_dynamic {
	const char *source;
	tp_data_loc_t loc;
	uint16_t count_at;
	uint16_t count;
};
static inline __attribute__((always_inline)) const char *tp_as_text(const volatile void *source)
{
	return (const char *)(uintptr_t)source;
}
TP_PUBLIC size_t tp_size_string(struct tp_dynamic *d, size_t size, const char *source);
TP_PUBLIC size_t tp_size_string_len(struct tp_dynamic *d, size_t size, const char *source, size_t len);
TP_PUBLIC size_t tp_size_vstring(struct tp_dynamic *d, size_t size, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));
TP_PUBLIC size_t tp_size_array(struct tp_dynamic *d, size_t size, size_t element, size_t align, size_t count);
TP_PUBLIC size_t tp_size_bitmask(struct tp_dynamic *d, size_t size, size_t nr_bits);
TP_PUBLIC size_t tp_size_cpumask(struct tp_dynamic *d, size_t size);
TP_PUBLIC size_t tp_size_sockaddr(struct tp_dynamic *d, size_t size, size_t len);
TP_PUBLIC tp_data_loc_t tp_place(void *entry, const struct tp_dynamic *d);
TP_PUBLIC tp_data_loc_t tp_place_rel(void *entry, const tp_data_loc_t *word, const struct tp_dynamic *d);
TP_PUBLIC void tp_assign_str(void *entry, const struct tp_dynamic *d);
TP_PUBLIC void tp_assign_vstr(void *entry, const struct tp_dynamic *d, const char *fmt, va_list *args)
	__attribute__((format(printf, 3, 0)));
TP_PUBLIC void tp_assign_bytes(void *entry, const struct tp_dynamic *d, const void *source, size_t len);
TP_PUBLIC void tp_assign_bitmask(void *entry, const struct tp_dynamic *d, const void *source, size_t nr_bits);
#ifdef __cplusplus
}
struct tp_sized_text {
	const char *data;
	size_t size;
};
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
	return tp_size_string_len(d, size, text.data ? text.data : "", text.size < len && len <= PTRDIFF_MAX ? text.size : len);
}
inline size_t tp_size_string(struct tp_dynamic *d, size_t size, tp_sized_text text)
{
	return tp_size_string_len(d, size, text, text.size);
}
#endif
#pragma GCC system_header
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
#define __get_bitmask(field) ((char *)__get_dynamic_array(field))
#define __get_cpumask(field) __get_bitmask(field)
#define __get_rel_bitmask(field) ((char *)__get_rel_dynamic_array(field))
#define __get_rel_cpumask(field) __get_rel_bitmask(field)
#define TP_DATA_LOC(field) ((void)sizeof(__entry->__data_loc_##field), &__dyn.field)
#define TP_REL_LOC(field) ((void)sizeof(__entry->__rel_loc_##field), &__dyn.field)
#define __assign_str(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_str_len(...) TP_ASSIGN_STR(__VA_ARGS__, 0)
#define __assign_rel_str(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define __assign_rel_str_len(...) TP_ASSIGN_REL_STR(__VA_ARGS__, 0)
#define TP_ASSIGN_STR(field, ...) tp_assign_str(__entry, TP_DATA_LOC(field))
#define TP_ASSIGN_REL_STR(field, ...) tp_assign_str(__entry, TP_REL_LOC(field))
#define __assign_vstr(field, fmt, va) tp_assign_vstr(__entry, TP_DATA_LOC(field), (fmt), (va))
#define __assign_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_DATA_LOC(field), (source), (size_t)(nr_bits))
#define __assign_rel_bitmask(field, source, nr_bits) \
	tp_assign_bitmask(__entry, TP_REL_LOC(field), (source), (size_t)(nr_bits))
#define __assign_cpumask(field, source) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), SIZE_MAX)
#define __assign_rel_cpumask(field, source) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), SIZE_MAX)
#define __assign_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_DATA_LOC(field), (source), (size_t)(len))
#define __assign_rel_sockaddr(field, source, len) tp_assign_bytes(__entry, TP_REL_LOC(field), (source), (size_t)(len))
#endif
