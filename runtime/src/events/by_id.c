/* SPDX-License-Identifier: MIT */
/*
 * events/by_id.c - see by_id.h. Ids are given out one after the other, and stay with their layout.
 */
#include <string.h>

#include "base/memory.h"
#include "events/by_id.h"
#include "events/events.h"

#define IDS_A_PAGE 256u

static const void **pages[TP_NR_IDS / IDS_A_PAGE];

bool tp_by_id_set(uint16_t id, const void *printed_by)
{
	const void ***page = &pages[id / IDS_A_PAGE];

	if (!*page) {
		const void **fresh = tp_malloc(IDS_A_PAGE * sizeof(*fresh));
		if (!fresh)
			return false;
		memset(fresh, 0, IDS_A_PAGE * sizeof(*fresh));
		__atomic_store_n(page, fresh, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&(*page)[id % IDS_A_PAGE], printed_by, __ATOMIC_RELEASE);
	return true;
}

const void *tp_by_id(uint16_t id)
{
	const void **page = __atomic_load_n(&pages[id / IDS_A_PAGE], __ATOMIC_ACQUIRE);

	return page ? __atomic_load_n(&page[id % IDS_A_PAGE], __ATOMIC_ACQUIRE) : NULL;
}
