/* SPDX-License-Identifier: MIT */
#include "elf/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "elf/dynamic.h"

/* As many as a program of some gigabytes has; a file of holes may claim any number. */
#define POINTERS_MAX ((uint64_t)1 << 24)

enum kind {
	OTHER,    /* no pointer to data; such as IRELATIVE, whose function would have to be called */
	RELATIVE, /* to a place in this file */
	SYMBOL,   /* to a symbol, which may be another file's */
};

static enum kind kind_of(const struct image *image, uint32_t type)
{
	const bool arm = image->header.e_machine == EM_AARCH64;

	if (type == (arm ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE) || (!arm && type == R_X86_64_RELATIVE64))
		return RELATIVE;
	if (type == (arm ? R_AARCH64_ABS64 : R_X86_64_64) || type == (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT))
		return SYMBOL;
	return OTHER;
}

/* The address of a symbol that this file defines; 0: another does. */
static uint64_t symbol_value(struct image *image, uint64_t symbols, uint32_t number)
{
	Elf64_Sym symbol;

	if (!symbols || !image_read(image, symbols + number * sizeof(symbol), &symbol, sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF)
		return 0;
	return symbol.st_value;
}

static int compare(const void *a, const void *b)
{
	const struct image_pointer *one = a, *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

static void add(struct image *image, const Elf64_Rela *rela, uint64_t symbols)
{
	const enum kind kind = kind_of(image, (uint32_t)ELF64_R_TYPE(rela->r_info));
	uint64_t value = (uint64_t)rela->r_addend;

	if (kind == OTHER)
		return;
	if (kind == SYMBOL) {
		const uint64_t symbol = symbol_value(image, symbols, (uint32_t)ELF64_R_SYM(rela->r_info));
		value = symbol ? symbol + value : 0;
	}
	image->pointers[image->nr_pointers++] = (struct image_pointer){rela->r_offset, value};
}

const char *pointers_read(struct image *image)
{
	const uint64_t table = dynamic_value(image, DT_RELA);
	const uint64_t nr = table ? dynamic_value(image, DT_RELASZ) / sizeof(Elf64_Rela) : 0;
	const uint64_t symbols = dynamic_value(image, DT_SYMTAB);

	if (!nr)
		return NULL;
	if (nr > POINTERS_MAX || nr > image->bytes.size / sizeof(Elf64_Rela))
		return "has more relocations than fit into it: it is damaged";
	image->pointers = calloc(nr, sizeof(*image->pointers));
	if (!image->pointers)
		return "can't be read: there is not enough memory";
	for (uint64_t i = 0; i < nr; i++) {
		Elf64_Rela rela;
		if (!image_read(image, table + i * sizeof(rela), &rela, sizeof(rela)))
			return "ends before its relocations do: it is damaged, or not all of it was copied";
		add(image, &rela, symbols);
	}
	qsort(image->pointers, image->nr_pointers, sizeof(*image->pointers), compare);
	return NULL;
}
