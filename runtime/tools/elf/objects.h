/* SPDX-License-Identifier: MIT */
/*
 * objects.h - libtp's structures in an ELF file, as structures of this program:
 * the pointers in them lead to copies.
 */
#ifndef ELF_OBJECTS_H
#define ELF_OBJECTS_H

#include <tp/event.h>

#include "elf/image.h"
#include "elf/layout.h"

struct objects {
	struct image *image;
	/*
	 * How many bytes of copies may still be made. Structures of a damaged file may all lead
	 * to the same ones, and so be any number of times what is in the file.
	 */
	uint64_t budget;
	void **kept;
	size_t nr_kept;
};

/* All return false if the structure is not in the file, or not a sensible one. */

/* The name, the prototype, the file and the line. file is NULL for that of a TRACE_CUSTOM_EVENT. */
bool objects_tracepoint(struct objects *objects, uint64_t address, struct tracepoint *tp);

/* The system, the name and the level. */
bool objects_event(struct objects *objects, uint64_t address, struct tp_event *event);

/* The class of the event at the address; NULL if it is not in the file, or not a sensible one. */
const struct tp_event_class *objects_class(struct objects *objects, uint64_t event);

/* Frees the copies, to which no structure may lead from then on. */
void objects_release(struct objects *objects);

#endif /* ELF_OBJECTS_H */
