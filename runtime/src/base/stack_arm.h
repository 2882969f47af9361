/* SPDX-License-Identifier: MIT */
/*
 * base/stack_arm.h - how the unwinder of 32-bit ARM differs from all others. Part of stack.c.
 *
 * Its tables, .ARM.exidx, are sorted by address: two words for each function, of which the first is the distance to the
 * function. Functions of C are in them that were compiled with -funwind-tables. The C library says where the table is for an
 * address.
 */
#ifndef TP_STACK_ARM_H
#define TP_STACK_ARM_H

#include <stdint.h>
#include <unwind.h>

struct exidx {
	uint32_t function; /* 31 bits: the distance from this word */
	uint32_t how;      /* to unwind it */
};

extern _Unwind_Ptr __gnu_Unwind_Find_exidx(_Unwind_Ptr address, int *nr);

#pragma weak _Unwind_VRS_Get
#pragma weak __gnu_Unwind_Find_exidx

#define GET_IP _Unwind_VRS_Get
#define GET_CFA _Unwind_VRS_Get
#define FIND_FUNCTION __gnu_Unwind_Find_exidx

#define STACK_POINTER 13
#define PROGRAM_COUNTER 15
#define THUMB ((uintptr_t)1) /* in the address of code of the smaller instructions */

static uintptr_t address_of(struct _Unwind_Context *context, __typeof__(GET_IP) *get_register)
{
	_uw value = 0;

	get_register(context, _UVRSC_CORE, PROGRAM_COUNTER, _UVRSD_UINT32, &value);
	return value & ~THUMB;
}

/* _Unwind_GetCFA() is not about the frame that the walk is at. */
static uintptr_t frame_of(struct _Unwind_Context *context, __typeof__(GET_CFA) *get_register)
{
	_uw value = 0;

	get_register(context, _UVRSC_CORE, STACK_POINTER, _UVRSD_UINT32, &value);
	return value;
}

static uintptr_t start_of(const struct exidx *entry)
{
	return ((uintptr_t)&entry->function + (uintptr_t)((int32_t)(entry->function << 1) >> 1)) & ~THUMB;
}

static uintptr_t function_of(uintptr_t return_address, __typeof__(FIND_FUNCTION) *find_table)
{
	int nr = 0;
	const struct exidx *table = (const struct exidx *)find_table(return_address, &nr);
	int low = 0, high = table ? nr : 0;

	while (low < high) { /* below low they begin in front of the return address */
		const int middle = low + (high - low) / 2;
		if (start_of(&table[middle]) < return_address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? start_of(&table[low - 1]) : 0;
}

#endif /* TP_STACK_ARM_H */
