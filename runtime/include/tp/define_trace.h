/* SPDX-License-Identifier: MIT */
/*
 * tp/define_trace.h - what generated code needs where CREATE_TRACE_POINTS is
 * defined: the read side of the probe arrays (tp/read.h) and the field descriptions.
 *
 * Not for call sites: it includes liburcu's inline functions, and is C only.
 */
#ifndef TP_DEFINE_TRACE_H
#define TP_DEFINE_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tp/announce.h>
#include <tp/assign.h>
#include <tp/event.h>
#include <tp/print.h>
#include <tp/read.h>
#include <tp/sink.h>
#include <tp/tracepoint.h>

/* ---- Functions in which there is nothing to optimize ---- */

/*
 * gcc -O2 spends milliseconds on each function, however short; in these, it
 * finds nothing that -Og doesn't: printers, which are an argument list, and
 * writers that store their parameters and neither call the program's functions nor loop.
 */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define TP_PLAIN __attribute__((optimize("Og")))
#else
#define TP_PLAIN
#endif
#define TP_PRINTER TP_PLAIN __attribute__((cold))

/*
 * The record structure as sinks provide room for it, which is aligned to 8
 * bytes: with a member like __int128 the compiler would count on more.
 */
#define TP_RECORD_TYPE(record) typedef struct record __record __attribute__((aligned(8)))

/* ---- One file, one class of a name ---- */

/*
 * Two .tp files of a program can't have an event class of one name. Each defines
 * this symbol, in a section that is called like the file: so the linker names both.
 * In quotes, as clang wants names that are not ASCII.
 */
#define TP_ONE_EVENT_CLASS(name, what)                                                  \
	__asm__(".pushsection \".rodata." what "\", \"a\", %progbits\n\t"               \
		".globl \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n\t" \
		".hidden \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n"  \
		"\"event_class_" #name "_is_in_two_tp_files__rename_one\":\n\t"       \
		".popsection")

/* ---- Describing fields ---- */

/*
 * The class by what __builtin_classify_type says, two bits for each: 8 is a
 * float, 5 a pointer, what is less an integer, which is 0; gcc says -1 of a
 * vector. Comparisons would have the compiler parse lvalue for each.
 */
#define TP_TYPE_CLASSES ((~0ULL << 18) | (TP_FLOAT << 16) | (TP_OTHER << 14) | (TP_OTHER << 12) | (TP_POINTER << 10))

/* None of these evaluates lvalue. */
#define TP_TYPE_CLASS(lvalue) \
	((enum tp_field_class)((TP_TYPE_CLASSES >> (2 * (__builtin_classify_type(lvalue) & 31))) & TP_OTHER))
#define TP_IS_SIGNED(lvalue)                                                                          \
	_Generic((lvalue), char : (char)-1 < (char)1, signed char : 1, short : 1, int : 1, long : 1, \
		 long long : 1, default : 0)
#define TP_IS_CHAR(lvalue) _Generic((lvalue), char : 1, default : 0)
/* The name of a type that is written as typeof(): readers of a format know C's own. */
#define TP_TYPE_NAME(type)                                                                                           \
	_Generic(*(type *)0, char: "char", signed char: "signed char", unsigned char: "unsigned char", short: "short", \
		 unsigned short: "unsigned short", int: "int", unsigned int: "unsigned int", long: "long",             \
		 unsigned long: "unsigned long", long long: "long long", unsigned long long: "unsigned long long",     \
		 _Bool: "bool", float: "float", double: "double",                                                      \
		 default: __builtin_choose_expr(TP_TYPE_CLASS(*(type *)0) == TP_POINTER, "void *", "struct typeof"))

/*
 * An element of a tp_event_field array. kind is that of enum tp_field_kind,
 * is_relative says whether member is a __rel_loc word, record is the
 * structure's tag, element_type the C type, member the structure's member that
 * holds the field or its word; the last are its symbols: NULL, a table, or
 * a table of flags and their delimiter. By value, structures and what stands
 * for them have no sign (as in the kernel). What stands in the record itself
 * has the member's type: where the compiler does not know it, it has said so.
 */
#define TP_DESCRIBE(field_kind, is_relative, record, member, field_name, element_type, type_text, ...)       \
	TP_DESCRIBE_AS(field_kind, is_relative, record, member, field_name,                                  \
		       TP_ELEMENT_OF_##field_kind((((struct record *)0)->member), element_type), type_text, __VA_ARGS__)

#define TP_ELEMENT_OF_TP_FIELD(member, type) member
#define TP_ELEMENT_OF_TP_STRUCT(member, type) member
#define TP_ELEMENT_OF_TP_ARRAY(member, type) *member
#define TP_ELEMENT_OF_TP_DYNAMIC_ARRAY(member, type) *(type *)0
#define TP_ELEMENT_OF_TP_STRING(member, type) *(type *)0
#define TP_ELEMENT_OF_TP_BITMASK(member, type) *(type *)0
#define TP_ELEMENT_OF_TP_CPUMASK(member, type) *(type *)0
#define TP_ELEMENT_OF_TP_SOCKADDR(member, type) *(type *)0

#define TP_DESCRIBE_AS(field_kind, is_relative, record, member, field_name, element, type_text, ...)         \
	{                                                                                                    \
		.name = field_name, .type = type_text, .kind = field_kind, .relative = is_relative,          \
		.type_class = TP_TYPE_CLASS(element), .offset = offsetof(struct record, member),             \
		.size = sizeof(((struct record *)0)->member), .element_size = sizeof(element),               \
		.element_align = _Alignof(__typeof__(element)),                                              \
		.is_signed = (field_kind) != TP_STRUCT && TP_IS_SIGNED(element),                             \
		.is_char = TP_IS_CHAR(element), .symbols = __VA_ARGS__,                                      \
	}

/* ---- The values of names ---- */

/*
 * An element of a tp_eval array: x, if it is a constant integer to C; else one
 * that no format names. x is any expression, which is not evaluated: 0 times a
 * constant is a null pointer, of which the other pointer's type becomes that
 * of both. By their types, floating-point numbers are told from integers.
 */
#define TP_IS_CONSTANT(x)                                                            \
	(_Generic(1 ? (void *)((long)(x) * 0) : (int *)0, int *: 1, default: 0) &&   \
	 _Generic((x), float: 0, double: 0, long double: 0, default: 1))
#define TP_EVAL(x)                                                                   \
	{                                                                            \
		__builtin_choose_expr(TP_IS_CONSTANT(x), #x, ""),                    \
			__builtin_choose_expr(TP_IS_CONSTANT(x), (long long)(x), 0), \
	}

#endif /* TP_DEFINE_TRACE_H */
