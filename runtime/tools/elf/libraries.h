/* SPDX-License-Identifier: MIT */
/*
 * libraries.h - the libraries that a program is linked with, found as the loader
 * does it, but for its cache: see the directories in libraries.c.
 */
#ifndef ELF_LIBRARIES_H
#define ELF_LIBRARIES_H

#include "elf/image.h"

/* An ELF file, and the one that wants it. */
struct library {
	char *name; /* as its user says it; the path of the first */
	char *path; /* NULL: it was not found */
	size_t user;
	char *rpath; /* where it says that libraries are: directories with ":" between them, or NULL; without $ORIGIN */
	char *runpath;
};

/* The program, and its libraries, in the order in which the loader loads them. */
struct libraries {
	struct library *all;
	size_t nr;
	const char *triplet; /* of their processor */
};

/* The list of a program, of which the path and the image are known. False, and a message: there is no memory. */
bool libraries_begin(struct libraries *libraries, const char *path);

/*
 * Adds those that library i, which has this image, is linked with, and that are not in the list yet.
 * False, and a message: there is no memory.
 */
bool libraries_add(struct libraries *libraries, size_t i, struct image *image);

/* Finds library i, and opens it: NULL, or what is wrong with it, as for image_open(). */
const char *libraries_open(struct libraries *libraries, size_t i, struct image *image);

void libraries_free(struct libraries *libraries);

#endif /* ELF_LIBRARIES_H */
