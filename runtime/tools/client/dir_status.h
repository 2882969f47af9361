/* SPDX-License-Identifier: MIT */
/* dir_status.h - what is to be said of the directories in which processes listen. */
#ifndef DIR_STATUS_H
#define DIR_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Prints each of them, whose it is, and who listens there. path is the one in which the user's programs listen that are started
 * now. False after a message: they would not, and what to do; remedy makes the directory.
 */
bool dir_status_print(const char *path, uid_t uid, const char *remedy);

#endif /* DIR_STATUS_H */
