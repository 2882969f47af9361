/* SPDX-License-Identifier: MIT */
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
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define TP_PLAIN __attribute__((optimize("Og")))
#else
#define TP_PLAIN
#endif
#define TP_PRINTER TP_PLAIN __attribute__((cold))
#define TP_RECORD_TYPE(record) typedef struct record __record __attribute__((aligned(8)))
#define TP_TYPE_CLASS(lvalue)                                  \
	(__builtin_classify_type(lvalue) == 5   ? TP_POINTER : \
	 __builtin_classify_type(lvalue) == 8   ? TP_FLOAT :   \
	 __builtin_classify_type(lvalue) < 5    ? TP_INTEGER : \
						  TP_OTHER)
#define TP_IS_SIGNED(lvalue)                                                                          \
	_Generic((lvalue), char : (char)-1 < (char)1, signed char : 1, short : 1, int : 1, long : 1, \
		 long long : 1, default : 0)
#define TP_IS_CHAR(lvalue) _Generic((lvalue), char : 1, default : 0)
#define TP_DESCRIBE(field_kind, is_relative, record, member, field_name, element_type, type_text, ...)       \
	{                                                                                                    \
		.name = field_name, .type = type_text, .kind = field_kind, .relative = is_relative,          \
		.type_class = TP_TYPE_CLASS(*(element_type *)0),                                             \
		.offset = offsetof(struct record, member),                                                   \
		.size = sizeof(((struct record *)0)->member), .element_size = sizeof(element_type),          \
		.element_align = _Alignof(element_type),                                                     \
		.is_signed = (field_kind) != TP_STRUCT && TP_IS_SIGNED(*(element_type *)0),                  \
		.is_char = TP_IS_CHAR(*(element_type *)0), .symbols = __VA_ARGS__,                           \
	}
#endif
