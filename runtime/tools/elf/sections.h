/* SPDX-License-Identifier: MIT */
/*
 * sections.h - the sections of an ELF file in which its tracepoints are. Each
 * holds the struct tp_definition of an interface: docs/internals/architecture.md,
 * "Anatomy of a generated header" and "Interfaces".
 */
#ifndef ELF_SECTIONS_H
#define ELF_SECTIONS_H

#include "elf/image.h"

/* Several of one name would be odd, but linkers may be told to make them. */
#define SECTIONS_MAX 64u

enum section_kind {
	SECTION_DEFINITIONS, /* of tracepoints and their events */
	SECTION_MARKERS,
	SECTION_MARKER_POINTERS,
};

struct section {
	enum section_kind kind;
	unsigned int interface;
	uint64_t address, size;
};

struct sections {
	struct section all[SECTIONS_MAX];
	size_t nr;
};

/* The table of all sections. */
struct section_headers {
	struct image *image;
	uint64_t nr;
	Elf64_Shdr names; /* of the section with their names */
};

/* NULL, or what is wrong, as for image_open(). */
const char *section_headers_open(struct section_headers *headers, struct image *image);

/* False: it is not in the file. */
bool section_header(const struct section_headers *headers, uint64_t i, Elf64_Shdr *header);

/* Finds them. NULL, or what is wrong, as for image_open(). That there are none is not wrong. */
const char *sections_read(struct sections *sections, struct image *image);

#endif /* ELF_SECTIONS_H */
