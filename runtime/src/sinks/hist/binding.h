/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/binding.h - histograms whose variables others read come and go: for sink.c.
 *
 * A histogram that is closed takes its variables along: to those that read them they are not set. A reader finds them again in
 * a histogram that is opened later, if what it has written means that one.
 */
#ifndef TP_HIST_BINDING_H
#define TP_HIST_BINDING_H

#include "sinks/hist/own.h"

/* All under tp_hist_lock. */

/* Another histogram, which reads a variable that would be gone if this one were closed. NULL: there is none. */
const struct tp_hist *tp_hist_reader_of(const struct tp_hist *hist);

/* The histogram has an event more: whoever lacks its variables finds them. */
void tp_hist_bind(const struct tp_hist *hist);

#endif /* TP_HIST_BINDING_H */
