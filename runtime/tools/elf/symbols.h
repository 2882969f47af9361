/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the functions of an ELF file, by their names. As for image.h, the file may be anything.
 */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/*
 * Reads .symtab, or .dynsym if there is no other; a file without either has no functions. build_id is the one that the file
 * must have, in hexadecimal digits; "": any. NULL: the file can't be read, or is another one; or there is no memory.
 */
struct symbols *symbols_open(const char *path, const char *build_id);
void symbols_free(struct symbols *symbols);

/* Bytes of memory. */
size_t symbols_size(const struct symbols *symbols);

/* The address at which the loader has an offset of the file, less the base. False: it loads no such offset. */
bool symbols_address(const struct symbols *symbols, uint64_t offset, uint64_t *address);

/* The function that an address is in, and where it begins. NULL: none is known there. */
const char *symbols_name(const struct symbols *symbols, uint64_t address, uint64_t *begin);

#endif /* ELF_SYMBOLS_H */
