/* SPDX-License-Identifier: MIT */
/* new_file.h - a file that gets its name when it is complete. What ends tp before leaves none behind. One at a time. */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct new_file {
	const char *path;
	char *hidden; /* the file's name, until it is complete */
	bool replace; /* what has the name; else that is refused */
	FILE *file;
};

/* All of these say what is wrong where they return false. Zeros are no file. */
bool new_file_open(struct new_file *new, const char *path, mode_t mode, bool replace);

/* A message by errno. */
bool new_file_failed(const struct new_file *new);

/* Writes what is left, and gives the file its name. */
bool new_file_finish(struct new_file *new);

/* Takes it away, where it was not finished. */
void new_file_close(struct new_file *new);

#endif /* NEW_FILE_H */
