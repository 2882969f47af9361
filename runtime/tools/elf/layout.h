/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where the members of libtp's structures are in a 64-bit program. The tp that reads it may
 * be a 32-bit one.
 */
#ifndef ELF_LAYOUT_H
#define ELF_LAYOUT_H

#include <stdint.h>

enum {
	TRACEPOINT_LINE = 4,
	TRACEPOINT_NAME = 24,
	TRACEPOINT_PROTO = 32,
	TRACEPOINT_FILE = 40,

	EVENT_SYSTEM = 0,
	EVENT_NAME = 8,
	EVENT_CLASS = 16,
	EVENT_TRACEPOINT = 24,
	EVENT_LEVEL = 48,
};

#endif /* ELF_LAYOUT_H */
