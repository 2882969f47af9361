/* SPDX-License-Identifier: MIT */
/*
 * leaves.c - leaf functions whose sites have arguments that an ordinary call
 * needs more registers for. core.py counts their instructions, and never runs
 * them. LEAVES is the header of the events, if there is any: ours, or LTTng-UST's.
 */
#include <stdint.h>

#ifdef LEAVES
#include LEAVES
#endif
#ifndef REAL
#define REAL(histogram, value) (void)0
#define SIX(...) (void)0
#endif

struct histogram {
	uint64_t count;
	double sum;
};
void leaf_real(struct histogram *histogram, double value);
void leaf_real(struct histogram *histogram, double value)
{
	REAL(histogram, value);
	histogram->count++;
	histogram->sum += value;
}

struct request {
	uint64_t offset, size;
	uint32_t id, flags;
};
int leaf_six(struct request *request, int result);
int leaf_six(struct request *request, int result)
{
	SIX(request, request->id, request->offset, request->size, request->flags, result);
	request->offset += request->size;
	return result;
}
