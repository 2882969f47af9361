/* SPDX-License-Identifier: MIT */
/*
 * filter/cpus.h - sets of processors: lists as in cpuset(7), "0,2-4,8-15:2/4".
 */
#ifndef TP_FILTER_CPUS_H
#define TP_FILTER_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_CPUS_MAX 8192u /* as many as any kernel has */
#define TP_CPUS_BYTES (TP_CPUS_MAX / 8)

/* A bit for each; bit 0 is the lowest of the first byte. */
struct tp_cpus {
	uint8_t bytes[TP_CPUS_BYTES];
	uint32_t nr;   /* processors in it */
	uint32_t last; /* the highest */
};

/* False: no such list, an empty one, or a processor beyond TP_CPUS_MAX. */
bool tp_cpus_parse(struct tp_cpus *cpus, const char *list, size_t len);

static inline bool tp_cpus_has(const uint8_t *bytes, uint32_t size, uint64_t cpu)
{
	return cpu / 8 < size && bytes[cpu / 8] & 1u << cpu % 8;
}

#endif /* TP_FILTER_CPUS_H */
