/* SPDX-License-Identifier: MIT */
/* listing.h - the events of a process. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>

#include "events_text.h"
#include "client/connect.h"

/*
 * Adds the events that match the patterns, "": all, by id. with_formats: with the texts of their formats. False, and a
 * message. list is to be freed in any case.
 */
bool listing_read(struct event_list *list, struct connection *connection, const char *patterns, bool with_formats);

#endif /* LISTING_H */
