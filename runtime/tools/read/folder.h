/* SPDX-License-Identifier: MIT */
/* folder.h - a folder with the files of a trace: a directory, or a part of a packed trace. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "read/pack.h"

struct folder {
	char *path;        /* in messages */
	int fd;            /* of the directory */
	struct pack *pack; /* NULL: it is a directory */
	char *inside;      /* what its files' names begin with in the pack */
};

/* A file of it, open. */
struct folder_file {
	int fd;
	uint64_t begin; /* in fd */
	uint64_t size;
	bool is_packed;
};

/* All of these say what is wrong where they fail. Zeros are no folder. */

/* A directory. */
bool folder_open(struct folder *folder, const char *path);

/* What is in the pack below the path inside, "" for all of it. */
bool folder_open_packed(struct folder *folder, struct pack *pack, const char *inside, const char *path);
void folder_close(struct folder *folder);

/* The folder of that name in the other one. *absent: there is none, which is no failure. */
bool folder_open_below(struct folder *below, const struct folder *folder, const char *name, bool *absent);

/* Calls fn for each name in it, but those that begin with a dot, until it returns false. */
bool folder_each(const struct folder *folder, bool (*fn)(void *data, const char *name), void *data);

/* A plain file. The message ends in absent where there is none. */
bool folder_open_file(const struct folder *folder, const char *name, const char *absent, struct folder_file *file);
void folder_close_file(const struct folder_file *file);

/* As pread(), and never more than the file has. */
ssize_t folder_read(const struct folder_file *file, void *to, size_t size, uint64_t offset);

/* A text of at most max bytes, with a NUL behind, for free(). */
char *folder_read_text(const struct folder *folder, const char *name, size_t max, size_t *len);

#endif /* FOLDER_H */
