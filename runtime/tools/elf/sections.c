/* SPDX-License-Identifier: MIT */
#include "elf/sections.h"

#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 32
/* Programs with a section for each function have as many. */
#define HEADERS_MAX ((uint64_t)1 << 20)

static const char truncated[] =
	"ends before the table of its sections does: it is damaged, or not all of it was copied";

bool section_header(const struct section_headers *headers, uint64_t i, Elf64_Shdr *header)
{
	struct image *image = headers->image;

	return image_structure(image, ELF_SECTION_HEADER,
			       image->header.e_shoff + i * image_structure_size(image, ELF_SECTION_HEADER), header);
}

const char *section_headers_open(struct section_headers *headers, struct image *image)
{
	const Elf64_Ehdr *file = &image->header;
	Elf64_Shdr first;

	*headers = (struct section_headers){.image = image};
	if (!file->e_shoff)
		return "has no table of sections, by which tracepoints are found: something like sstrip, or a packer "
		       "such as upx, has removed it; run the program, and list the events of the process";
	if (file->e_shentsize != image_structure_size(image, ELF_SECTION_HEADER))
		return "has section headers of another size: it is damaged";
	if (!section_header(headers, 0, &first))
		return truncated;
	/* Numbers that don't fit in the file's header are in the first section's. */
	headers->nr = file->e_shnum ? file->e_shnum : first.sh_size;
	if (headers->nr > HEADERS_MAX || !section_header(headers, headers->nr ? headers->nr - 1 : 0, &headers->names) ||
	    !section_header(headers, file->e_shstrndx == SHN_XINDEX ? first.sh_link : file->e_shstrndx, &headers->names))
		return truncated;
	return NULL;
}

/* What a name says: false for another section's. */
static bool parse_name(const char *name, struct section *section)
{
	static const char *const names[] = {
		[SECTION_DEFINITIONS] = "tp_definitions",
		[SECTION_MARKERS] = "tp_markers",
		[SECTION_MARKER_POINTERS] = "tp_marker_pointers",
	};

	for (size_t kind = 0; kind < sizeof(names) / sizeof(names[0]); kind++) {
		const char *end = name + strlen(names[kind]);
		char *stop = NULL;
		if (strncmp(name, names[kind], strlen(names[kind])) != 0)
			continue;
		const bool numbered = end[0] == '_' && end[1] >= '1' && end[1] <= '9';
		const unsigned long number = numbered ? strtoul(end + 1, &stop, 10) : 0;
		section->kind = (enum section_kind)kind;
		section->interface = number < 1000000 ? (unsigned int)number : 1000000;
		return numbered && *stop == '\0';
	}
	return false;
}

/* A longer name is none of those that are looked for. */
static void read_name(const struct section_headers *headers, const Elf64_Shdr *header, char name[NAME_SIZE])
{
	struct bytes *bytes = &headers->image->bytes;
	const uint64_t at = headers->names.sh_offset + header->sh_name;
	size_t size = NAME_SIZE;

	if (at < bytes->size && bytes->size - at < size)
		size = (size_t)(bytes->size - at);
	if (!bytes_read(bytes, at, name, size) || !memchr(name, '\0', size))
		name[0] = '\0';
}

static const char *add(struct sections *sections, const Elf64_Shdr *header, struct section section)
{
	if (header->sh_type == SHT_NOBITS)
		return "holds debugging information only: give the program that it was separated from";
	if (!(header->sh_flags & SHF_ALLOC) || !header->sh_addr || sections->nr == SECTIONS_MAX)
		return "has tracepoints' sections that no linker makes: it is damaged";
	section.address = header->sh_addr;
	section.size = header->sh_size;
	sections->all[sections->nr++] = section;
	return NULL;
}

const char *sections_read(struct sections *sections, struct image *image)
{
	struct section_headers headers;
	const char *why = section_headers_open(&headers, image);

	sections->nr = 0;
	for (uint64_t i = 1; !why && i < headers.nr; i++) {
		struct section section;
		Elf64_Shdr header;
		char name[NAME_SIZE];
		if (!section_header(&headers, i, &header))
			return truncated;
		read_name(&headers, &header, name);
		if (header.sh_size && parse_name(name, &section))
			why = add(sections, &header, section);
	}
	return why;
}
