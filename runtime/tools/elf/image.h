/* SPDX-License-Identifier: MIT */
/*
 * image.h - an ELF file as the loader would put it into memory: its segments at
 * their addresses, with the pointers that relocations say. An address is one of
 * the file, before the loader adds where it has put all of it.
 *
 * The file may be anything. Nothing outside of it is read, and what it claims
 * decides neither how much memory is used nor how long it takes, beyond its size.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/bytes.h"

/* Bytes of the longest text in a file, with its NUL. */
#define IMAGE_STRING_MAX ((size_t)1 << 20)

/* A part of the file that has an address. */
struct image_segment {
	uint64_t address, offset, size;
};

/* A pointer that the loader would set. */
struct image_pointer {
	uint64_t at, value; /* 0: it leads to another file */
};

struct image {
	struct bytes bytes;
	Elf64_Ehdr header;
	Elf64_Phdr dynamic; /* p_filesz 0: there is none, as in a static program */
	struct image_segment *segments;
	size_t nr_segments;
	struct image_pointer *pointers; /* by address; pointers_read() fills them in */
	size_t nr_pointers;
	char wrong[512];
};

/*
 * NULL, or what is wrong, to follow the file's name in a message: "is a script ...".
 * It stays until image_close(), which is to be called in any case.
 */
const char *image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* The bytes at an address. False: not all are in the file. */
bool image_read(struct image *image, uint64_t address, void *to, size_t size);

/*
 * The pointer at an address, as the loader would set it, after pointers_read(); 0: NULL,
 * or it leads to another file. False: see above.
 */
bool image_read_pointer(struct image *image, uint64_t address, uint64_t *value);

/*
 * The text at an address, to be freed. NULL: it does not end in its segment, or is
 * longer than IMAGE_STRING_MAX, or there is no memory.
 */
char *image_read_string(struct image *image, uint64_t address);

#endif /* ELF_IMAGE_H */
