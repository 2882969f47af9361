/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic_format.h - the definition of a synthetic event, in the grammar of the kernel's file "synthetic_events".
 */
#ifndef TP_SYNTHETIC_FORMAT_H
#define TP_SYNTHETIC_FORMAT_H

#include <stdint.h>

#include <tp/event.h>

#include "filter/filter.h"

#define TP_SYNTHETIC_FIELDS_MAX 64

/* Bytes of an event's name: as many as a directory's name has, which it is in the kernel, and as a marker's may have. */
#define TP_SYNTHETIC_NAME_MAX 255

/* Bytes of a char array. */
#define TP_SYNTHETIC_TEXT_MAX 256

struct tp_synthetic_format {
	char *text; /* the definition's, in which the names are */
	const char *name;
	uint32_t nr;
	struct tp_event_field fields[TP_SYNTHETIC_FIELDS_MAX];
	const char *conversions[TP_SYNTHETIC_FIELDS_MAX]; /* of printf, for the fields' values */
	uint32_t fixed_size;
	struct tp_event_class *event_class;
};

/*
 * "NAME TYPE FIELD; TYPE FIELD". 0, or -EINVAL or -ENOMEM, and *error says what is wrong; its places count from the
 * definition's begin. The caller frees *parsed in any case.
 */
int tp_synthetic_format_parse(struct tp_synthetic_format *parsed, const char *definition, struct tp_filter_error *error);
void tp_synthetic_format_free(struct tp_synthetic_format *parsed);

#endif /* TP_SYNTHETIC_FORMAT_H */
