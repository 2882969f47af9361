/* SPDX-License-Identifier: MIT */
#include "elf/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX 256u /* linkers make a dozen; each read looks through all */

static const char *wrong(struct image *image, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *wrong(struct image *image, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(image->wrong, sizeof(image->wrong), format, args);
	va_end(args);
	return image->wrong;
}

/* ---- What the file is ---- */

/* Of a file that is no ELF file. */
static const char *wrong_kind(struct image *image)
{
	char line[128] = "";
	const uint64_t size = image->bytes.size;

	if (!bytes_read(&image->bytes, 0, line, size < sizeof(line) - 1 ? (size_t)size : sizeof(line) - 1) ||
	    strncmp(line, "#!", 2) != 0)
		return wrong(image, size ? "is no program: it is no ELF file" : "is no program: it is empty");
	line[strcspn(line, "\n")] = '\0';
	return wrong(image, "is a script (%s): give the program that it runs", line);
}

#define PROCESSORS "x86-64, arm64, 32-bit ARM and i386"

static const struct processor {
	unsigned int machine;
	unsigned char class;
	const char *triplet;
} processors[] = {
	{EM_X86_64, ELFCLASS64, "x86_64-linux-gnu"}, {EM_AARCH64, ELFCLASS64, "aarch64-linux-gnu"},
	{EM_ARM, ELFCLASS32, "arm-linux-gnueabihf"}, {EM_386, ELFCLASS32, "i386-linux-gnu"},
};

static unsigned char class_of(const struct image *image)
{
	return image->header.e_ident[EI_CLASS];
}

/* NULL: it is another one. */
static const struct processor *processor_of(const struct image *image)
{
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
		if (processors[i].machine == image->header.e_machine && processors[i].class == class_of(image))
			return &processors[i];
	}
	return NULL;
}

const char *image_triplet(const struct image *image)
{
	return processor_of(image)->triplet;
}

bool image_structure(struct image *image, enum elf_structure structure, uint64_t offset, void *to)
{
	return elf_structure_read(&image->bytes, class_of(image), structure, offset, to);
}

uint64_t image_structure_size(const struct image *image, enum elf_structure structure)
{
	return elf_structure_size(class_of(image), structure);
}

bool image_is_32_bit(const struct image *image)
{
	return class_of(image) == ELFCLASS32;
}

static const char *check_header(struct image *image)
{
	const Elf64_Ehdr *header = &image->header;
	unsigned char ident[EI_NIDENT];

	if (!bytes_read(&image->bytes, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return wrong_kind(image);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return wrong(image, "is of a big-endian processor: events can only be listed from files of " PROCESSORS);
	if (!elf_structure_read(&image->bytes, ident[EI_CLASS], ELF_FILE_HEADER, 0, &image->header))
		return wrong(image, "ends in the middle of its header: copy it again");
	if (!processor_of(image))
		return wrong(image, "is of another processor (ELF machine %u, %s bits): events can only be listed from files of "
				    PROCESSORS, header->e_machine, image_is_32_bit(image) ? "32" : "64");
	if (header->e_type == ET_REL)
		return wrong(image, "is an object file: give the program or the library that it is linked into");
	if (header->e_type == ET_CORE)
		return wrong(image, "is a core file: give the program that has made it");
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return wrong(image, "is no program (ELF type %u)", header->e_type);
	return NULL;
}

/* ---- Segments ---- */

/* Where there are more than fit in the header, the first section's header says how many. */
static size_t number_of_segments(struct image *image)
{
	Elf64_Shdr first;

	if (image->header.e_phnum != PN_XNUM)
		return image->header.e_phnum;
	return image_structure(image, ELF_SECTION_HEADER, image->header.e_shoff, &first) ? first.sh_info : 0;
}

static const char *read_segments(struct image *image)
{
	const size_t nr = number_of_segments(image);
	const uint64_t size = image_structure_size(image, ELF_SEGMENT_HEADER);

	if (image->header.e_phentsize != size || !nr || nr > SEGMENTS_MAX)
		return wrong(image, "has no segments, or too many: it is damaged");
	image->segments = calloc(nr, sizeof(*image->segments));
	if (!image->segments)
		return wrong(image, "can't be read: there is not enough memory");
	for (size_t i = 0; i < nr; i++) {
		Elf64_Phdr segment;
		if (!image_structure(image, ELF_SEGMENT_HEADER, image->header.e_phoff + i * size, &segment))
			return wrong(image, "ends before the table of its segments does: it is damaged, or not all of "
					    "it was copied");
		if (segment.p_type == PT_DYNAMIC)
			image->dynamic = segment;
		if (segment.p_type == PT_LOAD && segment.p_filesz)
			image->segments[image->nr_segments++] =
				(struct image_segment){segment.p_vaddr, segment.p_offset, segment.p_filesz};
	}
	return NULL;
}

/* How many bytes of the segment are in it from the address on; where the first of them is in the file. */
static uint64_t locate(const struct image *image, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < image->nr_segments; i++) {
		const struct image_segment *segment = &image->segments[i];
		if (address >= segment->address && address - segment->address < segment->size) {
			const uint64_t skip = address - segment->address;
			*offset = segment->offset + skip;
			return *offset >= skip ? segment->size - skip : 0;
		}
	}
	return 0;
}

bool image_read(struct image *image, uint64_t address, void *to, size_t size)
{
	uint64_t offset = 0;

	return locate(image, address, &offset) >= size && bytes_read(&image->bytes, offset, to, size);
}

/* How many bytes the first nr texts of some bytes have; 0: not all of them are there. */
static size_t size_of_texts(const char *bytes, size_t len, size_t nr)
{
	const char *at = bytes;

	for (size_t i = 0; at && i < nr; i++) {
		at = memchr(at, '\0', len - (size_t)(at - bytes));
		at = at ? at + 1 : NULL;
	}
	return at ? (size_t)(at - bytes) : 0;
}

char *image_read_texts(struct image *image, uint64_t address, size_t nr, size_t *size)
{
	char *texts = NULL;
	uint64_t offset = 0;
	uint64_t left = locate(image, address, &offset);

	/* The rest of the segment may not be in the file, if that was cut off; the texts may be. */
	if (offset < image->bytes.size && left > image->bytes.size - offset)
		left = image->bytes.size - offset;
	const size_t most = left < IMAGE_TEXTS_MAX ? (size_t)left : IMAGE_TEXTS_MAX;
	for (size_t len = 0, part = 256; len < most; len += part, part = len) {
		if (part > most - len)
			part = most - len;
		char *longer = realloc(texts, len + part);
		if (!longer)
			break;
		texts = longer;
		if (!bytes_read(&image->bytes, offset + len, texts + len, part))
			break;
		*size = size_of_texts(texts, len + part, nr);
		if (*size)
			return texts;
	}
	free(texts);
	return NULL;
}

/* ---- All of it ---- */

const char *image_open(struct image *image, const char *path)
{
	*image = (struct image){.bytes = {.fd = -1}};
	const int error = bytes_open(&image->bytes, path);

	if (error == EINVAL)
		return wrong(image, "is no program: it is no regular file");
	if (error)
		return wrong(image, "can't be read: %s", strerror(error));
	const char *why = check_header(image);
	return why ? why : read_segments(image);
}

void image_close(struct image *image)
{
	bytes_close(&image->bytes);
	free(image->segments);
	image->segments = NULL;
}
