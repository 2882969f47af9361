/* SPDX-License-Identifier: MIT */
/*
 * image.h - an ELF file as the loader would put it into memory: its segments at
 * their addresses. An address is one of the file, before the loader adds where it
 * has put all of it.
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
#include "elf/structures.h"

#define IMAGE_TEXTS_MAX ((size_t)1 << 20) /* bytes */

/* A part of the file that has an address. */
struct image_segment {
	uint64_t address, offset, size;
};

struct image {
	struct bytes bytes;
	Elf64_Ehdr header;
	Elf64_Phdr dynamic; /* p_filesz 0: there is none, as in a static program */
	struct image_segment *segments;
	size_t nr_segments;
	char wrong[512];
};

/* The structure at an offset of the file. False: it is not in the file. */
bool image_structure(struct image *image, enum elf_structure structure, uint64_t offset, void *to);

/* Bytes of one in this file; and whether pointers have 4 bytes in it. */
uint64_t image_structure_size(const struct image *image, enum elf_structure structure);
bool image_is_32_bit(const struct image *image);

/* What Debian calls its processor in names of directories: "x86_64-linux-gnu". */
const char *image_triplet(const struct image *image);

/*
 * NULL, or what is wrong, to follow the file's name in a message: "is a script ...".
 * It stays until image_close(), which is to be called in any case.
 */
const char *image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* The bytes at an address. False: not all are in the file. */
bool image_read(struct image *image, uint64_t address, void *to, size_t size);

/*
 * The nr texts at an address, one behind the other, to be freed; *size is in bytes, with each NUL. NULL: they
 * do not end in their segment, or are longer than IMAGE_TEXTS_MAX, or there is no memory.
 */
char *image_read_texts(struct image *image, uint64_t address, size_t nr, size_t *size);

#endif /* ELF_IMAGE_H */
