/* SPDX-License-Identifier: MIT */
/*
 * triggers/refusal.h - what is wrong with a request, as a text in it.
 */
#ifndef TP_TRIGGERS_REFUSAL_H
#define TP_TRIGGERS_REFUSAL_H

#include <stddef.h>

#include "filter/filter.h"
#include "triggers/triggers.h"

/* Of the part of the trigger that begins there; without memory, nothing. Frees *wrong, and returns its error. */
int tp_trigger_tell_wrong(struct tp_trigger_request *request, struct tp_filter_error *wrong, size_t begin);

/* Returns -EINVAL. */
int tp_trigger_refuse(struct tp_trigger_request *request, const char *why);

#endif /* TP_TRIGGERS_REFUSAL_H */
