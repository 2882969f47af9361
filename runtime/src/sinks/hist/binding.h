/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/binding.h - histograms whose variables others read come and go: for sink.c and list.c.
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

/* Nobody reads the map's variables from here on; hits may still be about it. Returns how many references it has lost, which are to
 * be given back after a grace period. */
unsigned int tp_hist_unbind(struct tp_hist_map *map);

/* The same of the links of a histogram that nobody hits yet, to maps whose histograms were closed while it was made. Their number. */
uint32_t tp_hist_unbind_closed(struct tp_hist_links *links, struct tp_hist_map *closed[TP_HIST_LINKS]);

/* The histogram has an event more: whoever lacks its variables finds them. */
void tp_hist_bind(const struct tp_hist *hist);

#endif /* TP_HIST_BINDING_H */
