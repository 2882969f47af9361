/* SPDX-License-Identifier: MIT */
/*
 * structures.h - the structures of ELF files, of both classes: those of 32-bit files are widened, and so all others know
 * only those of 64 bits.
 */
#ifndef ELF_STRUCTURES_H
#define ELF_STRUCTURES_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "elf/bytes.h"

enum elf_structure {
	ELF_FILE_HEADER,    /* Elf64_Ehdr */
	ELF_SEGMENT_HEADER, /* Elf64_Phdr */
	ELF_SECTION_HEADER, /* Elf64_Shdr */
	ELF_SYMBOL,         /* Elf64_Sym */
	ELF_DYNAMIC,        /* Elf64_Dyn */
};

/* Bytes of it in a file of the class, ELFCLASS32 or ELFCLASS64. */
uint64_t elf_structure_size(unsigned char class, enum elf_structure structure);

/* Reads one at an offset. False: not all of it is in the file. */
bool elf_structure_read(struct bytes *bytes, unsigned char class, enum elf_structure structure, uint64_t offset, void *to);

#endif /* ELF_STRUCTURES_H */
