/* SPDX-License-Identifier: MIT */
/*
 * find_object.c - for unit tests with musl: what Debian's unwinder, which was built for glibc, asks glibc's loader.
 */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct dl_find_object { /* as <dlfcn.h> of glibc has it */
	unsigned long long flags;
	void *begin, *end;
	struct link_map *map;
	void *eh_frame_header;
	unsigned long long reserved[7];
};

struct search {
	uintptr_t address;
	struct dl_find_object *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct search *search = data;
	int is_here = 0;

	(void)size;
	*search->found = (struct dl_find_object){.flags = 0};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_GNU_EH_FRAME)
			search->found->eh_frame_header = (void *)begin;
		if (segment->p_type == PT_LOAD && search->address - begin < segment->p_memsz) {
			search->found->begin = (void *)begin;
			search->found->end = (void *)(begin + segment->p_memsz);
			is_here = 1;
		}
	}
	return is_here && search->found->eh_frame_header;
}

int _dl_find_object(void *address, struct dl_find_object *found);
int _dl_find_object(void *address, struct dl_find_object *found)
{
	struct search search = {.address = (uintptr_t)address, .found = found};

	return dl_iterate_phdr(look, &search) ? 0 : -1;
}
