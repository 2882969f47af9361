/* SPDX-License-Identifier: MIT */
/* directory.h - directories that tp makes: for traces, and its own ones. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A new directory, or one that is empty, for a trace. Root gives it to the user uid and its group: -1 for nobody.
 * Returns a descriptor; -1 and a message. *made: it was not there before.
 */
int directory_for_trace(const char *path, uid_t uid, gid_t gid, bool *made);

/* True after a message: tp_file_is_foreign(). */
bool fail_if_foreign(const char *path);

/* Whether there is nothing in it. */
bool directory_is_empty(int fd);

/* A directory of tp's own, of which nobody else knows, for free(); NULL, and a message. */
char *directory_private(void);

/* Removes it and the files in it. */
void directory_remove(const char *path);

/* The path from the root, for free(), as programs may change their directory; NULL, and a message. */
char *absolute_path(const char *path);

#endif /* DIRECTORY_H */
