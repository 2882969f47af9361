/* SPDX-License-Identifier: MIT */
/*
 * events/retired.h - memory that only readers may still use: it is freed when they are gone.
 */
#ifndef TP_RETIRED_H
#define TP_RETIRED_H

#include <stdbool.h>

#include <tp/module.h>

/* In front of what is retired. */
struct tp_retired {
	struct tp_retired *next;
	const struct tp_module *module; /* that waits for the readers; NULL: none does yet */
	void (*free)(struct tp_retired *retired);
};

/* No reader that comes can find it any more. Under tp_events_lock. */
void tp_retire(struct tp_retired *retired, void (*free)(struct tp_retired *retired));

/*
 * Waits for readers where there is something for which nobody waits, or a probe array, and frees that. In a reader it
 * does nothing. Not under tp_events_lock.
 */
void tp_retired_settle(void);

/*
 * The module's unloading will wait for readers if this is true: there is something; and free it afterwards. Both under
 * tp_events_lock.
 */
bool tp_retired_leave_to(const struct tp_module *module);
void tp_retired_free_of(const struct tp_module *module);

#endif /* TP_RETIRED_H */
