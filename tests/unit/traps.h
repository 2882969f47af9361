/* SPDX-License-Identifier: MIT */
/*
 * traps.h - what tests that look at a thread after each of its instructions share. By the processor's
 * trap flag, so on x86-64 only.
 */
#ifndef TRAPS_H
#define TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/stream.h"
#include "sample.h"

/* The first thing that was wrong; no assertion may leave a handler. */
static const char *wrong;
static unsigned long wrong_step, steps;

static inline void must(bool right, const char *what)
{
	if (!right && !wrong) {
		wrong = what;
		wrong_step = steps;
	}
}

#define must_be(condition) must(condition, #condition)

/* What a record of sample_int takes, with its time. */
struct recorded {
	uint64_t time;
	struct trace_entry entry;
	int32_t value;
} __attribute__((aligned(8)));

_Static_assert(sizeof(struct recorded) == 24, "as PER_PACKET says");

static inline size_t nr_in(const struct tp_packet *packet)
{
	return (packet->content_size / 8 - sizeof(*packet) + 4) / sizeof(struct recorded);
}

/* The trap flag: each instruction raises SIGTRAP, whose handler runs without the flag. */
static inline __attribute__((always_inline)) void traps_on(void)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static inline __attribute__((always_inline)) void traps_off(void)
{
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

#endif /* TRAPS_H */
