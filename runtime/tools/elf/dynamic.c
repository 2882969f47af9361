/* SPDX-License-Identifier: MIT */
#include "elf/dynamic.h"

/* A program that is linked with 10,000 libraries has as many. */
#define ENTRIES_MAX 65536u

void dynamic_each(struct image *image, bool (*fct)(void *data, const Elf64_Dyn *entry), void *data)
{
	const uint64_t size = image_structure_size(image, ELF_DYNAMIC), nr = image->dynamic.p_filesz / size;
	Elf64_Dyn entry;

	for (uint64_t i = 0; i < nr && i < ENTRIES_MAX; i++) {
		if (!image_structure(image, ELF_DYNAMIC, image->dynamic.p_offset + i * size, &entry) ||
		    entry.d_tag == DT_NULL || !fct(data, &entry))
			return;
	}
}

static bool keep_value(void *data, const Elf64_Dyn *entry)
{
	Elf64_Dyn *wanted = data;

	if (entry->d_tag == wanted->d_tag)
		wanted->d_un.d_val = entry->d_un.d_val;
	return true;
}

uint64_t dynamic_value(struct image *image, int64_t tag)
{
	Elf64_Dyn wanted = {.d_tag = tag};

	dynamic_each(image, keep_value, &wanted);
	return wanted.d_un.d_val;
}
