/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where the members of libtp's structures are in a 64-bit program, by
 * the interface that it was compiled with: see docs/architecture.md, "Interfaces".
 */
#ifndef ELF_LAYOUT_H
#define ELF_LAYOUT_H

#include <stdint.h>

/* What is the same in all of them. */
enum {
	TRACEPOINT_LINE = 4,
	TRACEPOINT_NAME = 24,
	TRACEPOINT_PROTO = 32,
	TRACEPOINT_FILE = 40,

	EVENT_SYSTEM = 0,
	EVENT_NAME = 8,
	EVENT_CLASS = 16,
	EVENT_TRACEPOINT = 24,

	CLASS_FIELDS = 0,
	CLASS_NR_FIELDS = 8,

	FIELD_NAME = 0,
	FIELD_TYPE = 8,
	FIELD_KIND = 16,
	FIELD_RELATIVE = 20,
	FIELD_TYPE_CLASS = 24,
	FIELD_OFFSET = 28,
	FIELD_SIZE = 32,
	FIELD_ELEMENT_SIZE = 36,
	FIELD_IS_SIGNED = 44,

	EVAL_NAME = 0,
	EVAL_VALUE = 8,
	EVAL_SIZE = 16,
};

struct layout {
	unsigned int interface;
	/* 0: there is no such member. */
	uint32_t event_level;
	uint32_t class_field_size;
	uint32_t class_print_fmt;
	uint32_t class_evals;
	uint32_t field_size; /* of a field's description, if the class does not say */
};

/* NULL: it is none that this tp knows. */
const struct layout *layout_of(unsigned int interface);

#endif /* ELF_LAYOUT_H */
