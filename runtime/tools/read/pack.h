/* SPDX-License-Identifier: MIT */
/* pack.h - the files in a packed trace: a tar archive, of which only the list is in memory. */
#ifndef PACK_H
#define PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packed_file {
	char *name; /* its path in the archive: relative, without "." and ".." */
	uint64_t begin;
	uint64_t size;
};

struct pack {
	unsigned int users;
	int fd;
	struct packed_file *files; /* in the order of their names */
	size_t nr;
};

/* The archive in fd, which is closed in any case; messages call it by its path. NULL, and a message: it is none. */
struct pack *pack_open(int fd, const char *path);

/* As many calls of pack_close() as of the other two. NULL is allowed there. */
struct pack *pack_share(struct pack *pack);
void pack_close(struct pack *pack);

/* The first file whose name is not before this one, in the order of their names; nr: there is none. */
size_t pack_find(const struct pack *pack, const char *name);

#endif /* PACK_H */
