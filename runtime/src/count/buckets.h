/* SPDX-License-Identifier: MIT */
/*
 * count/buckets.h - durations by their size: buckets as wide as 1/32 of what they begin at. So a percentile, which is the
 * middle of a bucket, is wrong by 1.6 % at most. Below 64, each number has a bucket of its own.
 */
#ifndef TP_BUCKETS_H
#define TP_BUCKETS_H

#include <stdint.h>

#define TP_BUCKET_BITS 5u
#define TP_NR_BUCKETS ((64u - TP_BUCKET_BITS + 1) << TP_BUCKET_BITS)

static inline uint32_t tp_bucket_of(uint64_t value)
{
	if (value >> (TP_BUCKET_BITS + 1) == 0)
		return (uint32_t)value;
	const uint32_t shift = 63 - TP_BUCKET_BITS - (uint32_t)__builtin_clzll(value);
	return (shift << TP_BUCKET_BITS) + (uint32_t)(value >> shift);
}

/* The least value of the bucket. */
static inline uint64_t tp_bucket_begin(uint32_t bucket)
{
	if (bucket >> (TP_BUCKET_BITS + 1) == 0)
		return bucket;
	const uint32_t shift = (bucket >> TP_BUCKET_BITS) - 1;
	return (uint64_t)((bucket & ((1u << TP_BUCKET_BITS) - 1)) + (1u << TP_BUCKET_BITS)) << shift;
}

/* How many values it has. */
static inline uint64_t tp_bucket_width(uint32_t bucket)
{
	return bucket >> (TP_BUCKET_BITS + 1) == 0 ? 1 : (uint64_t)1 << ((bucket >> TP_BUCKET_BITS) - 1);
}

#endif /* TP_BUCKETS_H */
