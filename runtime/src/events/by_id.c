/* SPDX-License-Identifier: MIT */
/*
 * events/by_id.c - see by_id.h. Ids are given out one after the other, and stay with their layout.
 */
#include <string.h>

#include "base/text.h"
#include "events/by_id.h"
#include "events/events.h"

#define IDS_A_PAGE 256u

static const struct tp_event **pages[TP_NR_IDS / IDS_A_PAGE];

bool tp_by_id_set(uint16_t id, const struct tp_event *event)
{
	const struct tp_event ***page = &pages[id / IDS_A_PAGE];

	if (!*page) {
		const struct tp_event **fresh = tp_malloc(IDS_A_PAGE * sizeof(*fresh));
		if (!fresh)
			return false;
		memset(fresh, 0, IDS_A_PAGE * sizeof(*fresh));
		__atomic_store_n(page, fresh, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&(*page)[id % IDS_A_PAGE], event, __ATOMIC_RELEASE);
	return true;
}

const struct tp_event *tp_by_id(uint16_t id)
{
	const struct tp_event **page = __atomic_load_n(&pages[id / IDS_A_PAGE], __ATOMIC_ACQUIRE);

	return page ? __atomic_load_n(&page[id % IDS_A_PAGE], __ATOMIC_ACQUIRE) : NULL;
}
