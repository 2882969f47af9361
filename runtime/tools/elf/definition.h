/* SPDX-License-Identifier: MIT */
/* definition.h - a struct tp_definition in an ELF file, and the description to which it leads. */
#ifndef ELF_DEFINITION_H
#define ELF_DEFINITION_H

#include <tp/event.h>

#include "elf/image.h"

struct definition {
	const char *name, *proto, *file, *system; /* one behind the other */
	int line;
	enum tp_loglevel level;
	uint64_t event_class; /* its address; 0: it is no event */
};

/*
 * Reads the definition at an address; to be freed by definition_free() in any case. budget is how many bytes of
 * copies may still be made: those of a damaged file may all lead to the same texts and classes, and so be any number of
 * times what is in the file. False: it is not in the file, or not a sensible one.
 */
bool definition_read(struct image *image, uint64_t address, struct definition *definition, uint64_t *budget);

/* The same for a struct tp_marker_pointers. The name is NULL if the loader would set the pointers. */
bool definition_read_pointers(struct image *image, uint64_t address, struct definition *definition, uint64_t *budget);

/* Bytes of one in the file. */
uint64_t definition_pointers_size(const struct image *image);

void definition_free(struct definition *definition);

/* Its class, to be freed. NULL: it is not in the file, or not a sensible one. */
struct tp_event_class *definition_class(struct image *image, const struct definition *definition, uint64_t *budget);

#endif /* ELF_DEFINITION_H */
