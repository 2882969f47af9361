/* SPDX-License-Identifier: MIT */
#ifndef TP_DESCRIBE_H
#define TP_DESCRIBE_H
#include <stddef.h>
#include <tp/describe_cxx.h>
#include <tp/event.h>
#ifdef __cplusplus
#define TP_IN_CPP(...) __VA_ARGS__
#define TP_ALIGN_OF(type) alignof(type)
#ifdef __clang__
#define TP_CONSTANT __attribute__((require_constant_initialization))
#elif __GNUC__ >= 10
#define TP_CONSTANT __constinit
#else
#define TP_CONSTANT
#endif
#else
#define TP_IN_CPP(...)
#define TP_CONSTANT
#define TP_ALIGN_OF(type) _Alignof(type)
#endif
#define TP_TYPE_CLASSES ((~0ULL << 18) | (TP_FLOAT << 16) | (TP_OTHER << 14) | (TP_OTHER << 12) | (TP_POINTER << 10))
#define TP_TYPE_CLASS(lvalue) ((int)((TP_TYPE_CLASSES >> (2 * (__builtin_classify_type(lvalue) & 31))) & TP_OTHER))
#ifdef __cplusplus
#define TP_C_TYPE(lvalue) TP_C_TYPE_OF(decltype(tp_type_of((__typeof__(lvalue) *)0)))
#define TP_C_TYPE_OF(type) TP_BITS(type::number, type::is_signed, type::is_char)
#else
#define TP_C_TYPE(lvalue)                                                                                        \
	_Generic((lvalue), char: TP_BITS(1, (char)-1 < (char)1, 1), signed char: TP_BITS(2, 1, 0),               \
		 unsigned char: TP_BITS(3, 0, 0), short: TP_BITS(4, 1, 0), unsigned short: TP_BITS(5, 0, 0),     \
		 int: TP_BITS(6, 1, 0), unsigned int: TP_BITS(7, 0, 0), long: TP_BITS(8, 1, 0),                  \
		 unsigned long: TP_BITS(9, 0, 0), long long: TP_BITS(10, 1, 0), unsigned long long: TP_BITS(11, 0, 0), \
		 _Bool: TP_BITS(12, 0, 0), float: TP_BITS(13, 0, 0), double: TP_BITS(14, 0, 0), default: 0)
#endif
#define TP_BITS(number, is_signed, is_char) \
	((number) << TP_BIT_TYPE | (is_signed) << TP_BIT_SIGNED | (is_char) << TP_BIT_CHAR)
#define TP_TEXTS(kind, record, name, type, extra) #name "\0" type "\0"
#define TP_NUMBERS(kind, record, name, type, extra) \
	TP_NUMBERS_OF_##kind(record, name, __data_loc_##name, __rel_loc_##name, extra)
#define TP_NUMBERS_OF_FIELD(record, name, loc, rel, table) \
	TP_NUMBERS_OF(TP_FIELD, 0, ~0, record, name, TP_MEMBER(record, name), table)
#define TP_NUMBERS_OF_STRUCT(record, name, loc, rel, table) \
	TP_NUMBERS_OF(TP_STRUCT, 0, ~(1 << TP_BIT_SIGNED), record, name, TP_MEMBER(record, name), table)
#define TP_NUMBERS_OF_ARRAY(record, name, loc, rel, table) \
	TP_NUMBERS_OF(TP_ARRAY, 0, ~0, record, name, *TP_MEMBER(record, name), table)
#define TP_NUMBERS_OF_STRING(record, name, loc, rel, type) TP_NUMBERS_OF(TP_STRING, 0, ~0, record, loc, *(type *)0, 0)
#define TP_NUMBERS_OF_BITMASK(record, name, loc, rel, type) TP_NUMBERS_OF(TP_BITMASK, 0, ~0, record, loc, *(type *)0, 0)
#define TP_NUMBERS_OF_CPUMASK(record, name, loc, rel, type) TP_NUMBERS_OF(TP_CPUMASK, 0, ~0, record, loc, *(type *)0, 0)
#define TP_NUMBERS_OF_SOCKADDR(record, name, loc, rel, type) TP_NUMBERS_OF(TP_SOCKADDR, 0, ~0, record, loc, *(type *)0, 0)
#define TP_NUMBERS_OF_DYNAMIC_ARRAY(record, name, loc, rel, type) \
	TP_NUMBERS_OF(TP_DYNAMIC_ARRAY, 0, ~0, record, loc, *(type *)0, 0)
#define TP_NUMBERS_OF_REL_STRING(record, name, loc, rel, type) TP_NUMBERS_OF(TP_STRING, 1, ~0, record, rel, *(type *)0, 0)
#define TP_NUMBERS_OF_REL_BITMASK(record, name, loc, rel, type) TP_NUMBERS_OF(TP_BITMASK, 1, ~0, record, rel, *(type *)0, 0)
#define TP_NUMBERS_OF_REL_CPUMASK(record, name, loc, rel, type) TP_NUMBERS_OF(TP_CPUMASK, 1, ~0, record, rel, *(type *)0, 0)
#define TP_NUMBERS_OF_REL_SOCKADDR(record, name, loc, rel, type) \
	TP_NUMBERS_OF(TP_SOCKADDR, 1, ~0, record, rel, *(type *)0, 0)
#define TP_NUMBERS_OF_REL_DYNAMIC_ARRAY(record, name, loc, rel, type) \
	TP_NUMBERS_OF(TP_DYNAMIC_ARRAY, 1, ~0, record, rel, *(type *)0, 0)
#define TP_MEMBER(record, name) (((struct record *)0)->name)
#define TP_NUMBERS_OF(kind, is_relative, mask, record, member, element, table)                                    \
	{                                                                                                         \
		offsetof(struct record, member), sizeof(TP_MEMBER(record, member)), sizeof(element),              \
			(((kind) << TP_BIT_KIND) | (is_relative) << TP_BIT_RELATIVE |                             \
			 TP_TYPE_CLASS(element) << TP_BIT_CLASS | (TP_C_TYPE(element) & (mask)) |                 \
			 __builtin_ctz((unsigned int)TP_ALIGN_OF(__typeof__(element))) << TP_BIT_ALIGN),             \
			table,                                                                                    \
	},
#define TP_DEFINE_CLASS(storage, name, fields_, evals_, ...)                                                 \
	__extension__ TP_CONSTANT storage const struct {                                                     \
		struct tp_event_class head;                                                                  \
		struct tp_field_numbers fields[fields_];                                                     \
		struct tp_eval evals[evals_];                                                                \
		__VA_ARGS__                                                                                  \
		char text[TP_CPP_OR_C(sizeof(tp_class_text_##name), )];                                      \
	} __tp_class_##name __attribute__((aligned(8)))
#define TP_DESCRIBE(name, record, nr_fields, nr_evals)                                                       \
	TP_DESCRIBE_AS(__tp_class_##name, record, nr_fields, nr_evals), .fields = { tp_fields_##name(TP_NUMBERS, record) }
#define TP_DESCRIBE_EMPTY(name, record, nr_fields, nr_evals) \
	TP_DESCRIBE_AS(__tp_class_##name, record, nr_fields, nr_evals) TP_IN_CPP(, .fields = {})
#define TP_NO_EVALS TP_IN_CPP(.evals = {}, )
#define TP_DESCRIBE_AS(class_, record, nr_fields, nr_evals)                                                  \
	.head = {                                                                                            \
		offsetof(struct record, __data), offsetof(__typeof__(class_), text), nr_fields, nr_evals,    \
		sizeof(struct tp_event_class), sizeof(struct tp_field_numbers),                              \
	}
#define TP_SYMBOLS(number, count, texts)                                                                     \
	struct {                                                                                             \
		struct tp_symbols head;                                                                      \
		unsigned long long values[count];                                                            \
		char names[sizeof(texts)];                                                                   \
	} __attribute__((aligned(8))) table_##number;
#define TP_DESCRIBE_SYMBOLS(name, number, count, is_flags) \
	{ count, is_flags, offsetof(__typeof__(__tp_class_##name.table_##number), names) },
#define TP_TABLE(name, number) offsetof(__typeof__(__tp_class_##name), table_##number) / 8
#define TP_TABLE_OF(name, number) (&__tp_class_##name.table_##number.head)
#ifdef __cplusplus
#define TP_IS_CONSTANT(x) (decltype(tp_value_type_of(x))::is_integer && __builtin_constant_p(tp_value_of(x)))
#define TP_EVAL(x) { TP_IS_CONSTANT(x) ? tp_value_of(x) : 0, TP_IS_CONSTANT(x) }
#else
#define TP_IS_CONSTANT(x)                                                            \
	(_Generic(1 ? (void *)((long)(x) * 0) : (int *)0, int *: 1, default: 0) &&   \
	 _Generic((x), float: 0, double: 0, long double: 0, default: 1))
#define TP_EVAL(x)                                                                   \
	{                                                                            \
		__builtin_choose_expr(TP_IS_CONSTANT(x), (long long)(x), 0),         \
			TP_IS_CONSTANT(x),                                           \
	}
#endif
#define TP_NO_EVAL { 0, 0 }
#endif
