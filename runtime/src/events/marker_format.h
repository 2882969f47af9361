/* SPDX-License-Identifier: MIT */
/*
 * events/marker_format.h - what the format of a marker says of its arguments: how
 * they are taken, recorded and printed.
 */
#ifndef TP_MARKER_FORMAT_H
#define TP_MARKER_FORMAT_H

#include <tp/event.h>
#include <tp/marker.h>

#include "base/text.h"

/* What va_arg() takes, up to its sign. */
enum tp_argument {
	TP_ARGUMENT_INT,
	TP_ARGUMENT_LONG,
	TP_ARGUMENT_LONG_LONG,
	TP_ARGUMENT_DOUBLE,
	TP_ARGUMENT_LONG_DOUBLE,
	TP_ARGUMENT_POINTER,
	TP_ARGUMENT_STRING,
};

/* A conversion, and the argument that it takes. There is a field for each. */
struct tp_conversion {
	enum tp_argument argument;
	bool width_star, precision_star; /* an int each in front of it */
	int precision;                   /* -1: none */
	const char *text;                /* what is in front of it, and itself, for printf */
};

struct tp_marker_format {
	unsigned int nr; /* conversions, and fields */
	struct tp_conversion conversions[TP_MARKER_ARGS_MAX];
	struct tp_event_field fields[TP_MARKER_ARGS_MAX];
	uint32_t fixed_size;
	const char *rest; /* the text behind the last, for printf */
	const char *print_fmt;
	struct tp_buffer strings; /* in which all these are */
};

/*
 * NULL, or why the arguments can't be recorded: a part of the format, for a message. Where
 * strings.failed is set there was no memory. The caller frees strings in any case. word: bytes of a long and of a pointer in
 * the marker's program, which may be a file that is only read.
 */
const char *tp_marker_format_parse(struct tp_marker_format *parsed, const char *format, uint32_t word);

/* Names of fields that readers of format files take for something else. */
bool tp_field_name_is_reserved(const char *name);

#endif /* TP_MARKER_FORMAT_H */
