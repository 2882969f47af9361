/* SPDX-License-Identifier: MIT */
/* pointers.h - the pointers in an ELF file that the loader would set, by its relocations. */
#ifndef ELF_POINTERS_H
#define ELF_POINTERS_H

#include "elf/image.h"

/* Fills in the image's pointers. NULL, or what is wrong, as for image_open(). */
const char *pointers_read(struct image *image);

#endif /* ELF_POINTERS_H */
