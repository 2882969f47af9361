/* SPDX-License-Identifier: MIT */
/* dynamic.h - the dynamic section: what an ELF file tells the loader. */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include "elf/image.h"

/* Calls fct for each entry, until it returns false. */
void dynamic_each(struct image *image, bool (*fct)(void *data, const Elf64_Dyn *entry), void *data);

/* The value of the last entry of this tag; 0: there is none. */
uint64_t dynamic_value(struct image *image, int64_t tag);

#endif /* ELF_DYNAMIC_H */
