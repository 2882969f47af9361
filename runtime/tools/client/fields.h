/* SPDX-License-Identifier: MIT */
/* fields.h - whether the fields that statistics are to count are there. */
#ifndef CLIENT_FIELDS_H
#define CLIENT_FIELDS_H

#include <stdbool.h>

#include "client/request.h"

/*
 * options: of statistics, "by=thread,field=net:*.size+net:net_request.peer". False, and a message: there are events of that
 * name, but none of them has the field. Events that are not there may come later.
 */
bool fields_are_there(struct connection *connection, const char *options);

#endif /* CLIENT_FIELDS_H */
