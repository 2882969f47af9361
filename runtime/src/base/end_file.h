/* SPDX-License-Identifier: MIT */
/*
 * base/end_file.h - a file that a process writes once, as a whole, at its end. A forked child that writes has a file of its
 * own: PATH-PID, unless the path says where the process's id is to be (%p).
 */
#ifndef TP_END_FILE_H
#define TP_END_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

struct tp_end_file {
	char *path;           /* absolute: the program may change its directory */
	size_t directory_len; /* what of it is not the user's */
	pid_t begun_by;
};

/* path is copied; NULL: there is no file. False: no memory. */
bool tp_end_file_begin(struct tp_end_file *file, const char *path);
void tp_end_file_free(struct tp_end_file *file);

/* Whether this process was forked since. */
bool tp_end_file_in_child(const struct tp_end_file *file);

/* 0, or an errno; a file of another user's in a directory of others is told. */
int tp_end_file_write(const struct tp_end_file *file, const struct tp_buffer *text);

#endif /* TP_END_FILE_H */
