/* SPDX-License-Identifier: MIT */
#include "elf/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/sections.h"

/* More than the largest browsers have; a file of holes may claim any number. */
#define SYMBOLS_MAX ((uint64_t)1 << 24)
#define NAMES_MAX ((uint64_t)1 << 29)

#define NOTES_MAX ((uint64_t)64 << 10)

/* Functions lie in one another in hand-written code at most: so many that begin later are passed over. */
#define NESTED_MAX 16u

struct function {
	uint64_t begin;
	uint64_t size; /* 0: it is not said, and it goes up to the next one */
	uint32_t name; /* in names */
	unsigned char binding;
};

struct symbols {
	struct image image; /* the segments are all that is needed of it */
	struct function *functions; /* by begin; of those of one begin, the one to be named is last */
	size_t nr;
	char *names;
	size_t names_size;
};

/* ---- Whether it is the right file ---- */

static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~(uint64_t)3;
}

static bool is_build_id(const unsigned char *bytes, uint32_t size, const char *build_id)
{
	const size_t digits = strlen(build_id);
	char two[3];

	/* A mapping's may have been cut off. */
	if (digits % 2 || 2 * (uint64_t)size < digits)
		return false;
	for (size_t i = 0; i < digits; i += 2) {
		snprintf(two, sizeof(two), "%02x", bytes[i / 2]);
		if (memcmp(two, build_id + i, 2) != 0)
			return false;
	}
	return true;
}

/* Whether one of some notes is the build id. Each is a head, a name and a text, which begin at multiples of 4. */
static bool notes_have(const unsigned char *at, uint64_t size, const char *build_id)
{
	Elf64_Nhdr note;

	while (size >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		const uint64_t text = sizeof(note) + padded(note.n_namesz), whole = text + padded(note.n_descsz);
		if (text > size || note.n_descsz > size - text)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof(note), "GNU", 4) == 0)
			return is_build_id(at + text, note.n_descsz, build_id);
		if (whole >= size)
			return false;
		at += whole;
		size -= whole;
	}
	return false;
}

static bool has_build_id(struct section_headers *headers, const char *build_id)
{
	unsigned char *notes = malloc(NOTES_MAX);
	Elf64_Shdr header;
	bool has = false;

	for (uint64_t i = 1; notes && !has && i < headers->nr && section_header(headers, i, &header); i++) {
		if (header.sh_type == SHT_NOTE && header.sh_size <= NOTES_MAX &&
		    bytes_read(&headers->image->bytes, header.sh_offset, notes, (size_t)header.sh_size))
			has = notes_have(notes, header.sh_size, build_id);
	}
	free(notes);
	return has;
}

/* ---- Functions ---- */

static bool is_function(const Elf64_Sym *symbol)
{
	const unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_name && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* What is no part of a function's address: on 32-bit ARM, whether its instructions are of the smaller kind. */
static uint64_t in_address(const struct symbols *symbols)
{
	return symbols->image.header.e_machine == EM_ARM;
}

static bool add(struct symbols *symbols, const Elf64_Sym *symbol)
{
	/* Twice as many whenever their number is a power of two. */
	if ((symbols->nr & (symbols->nr - 1)) == 0) {
		struct function *more = reallocarray(symbols->functions, symbols->nr ? 2 * symbols->nr : 1, sizeof(*more));
		if (!more)
			return false;
		symbols->functions = more;
	}
	symbols->functions[symbols->nr++] = (struct function){
		.begin = symbol->st_value & ~in_address(symbols), .size = symbol->st_size, .name = symbol->st_name,
		.binding = ELF64_ST_BIND(symbol->st_info),
	};
	return true;
}

static bool read_names(struct symbols *symbols, struct section_headers *headers, const Elf64_Shdr *table)
{
	Elf64_Shdr names;

	if (!section_header(headers, table->sh_link, &names) || names.sh_type != SHT_STRTAB || !names.sh_size ||
	    names.sh_size > NAMES_MAX || names.sh_size > headers->image->bytes.size)
		return false;
	symbols->names_size = (size_t)names.sh_size;
	symbols->names = malloc(symbols->names_size);
	if (!symbols->names ||
	    !bytes_read(&headers->image->bytes, names.sh_offset, symbols->names, symbols->names_size))
		return false;
	symbols->names[symbols->names_size - 1] = '\0';
	return true;
}

static bool read_functions(struct symbols *symbols, struct section_headers *headers, const Elf64_Shdr *table)
{
	const uint64_t size = image_structure_size(headers->image, ELF_SYMBOL), nr = table->sh_size / size;
	Elf64_Sym symbol;

	for (uint64_t i = 1; i < nr && i < SYMBOLS_MAX; i++) {
		if (!image_structure(headers->image, ELF_SYMBOL, table->sh_offset + i * size, &symbol))
			return true; /* it was cut off: these are there */
		if (is_function(&symbol) && symbol.st_name < symbols->names_size && !add(symbols, &symbol))
			return false;
	}
	return true;
}

/* What an order is by: 1, 0 or -1. */
static int order(uint64_t one, uint64_t other)
{
	return one > other ? 1 : one < other ? -1 : 0;
}

/* Global names before others: they are the ones that people know. */
static uint64_t rank(const struct function *function)
{
	return function->binding == STB_GLOBAL ? 2 : function->binding == STB_WEAK ? 1 : 0;
}

/* The one to be named is behind the others: of names that differ in nothing else, write and not __write. */
static int compare(const void *a, const void *b, void *data)
{
	const struct function *one = a, *other = b;
	const char *names = data;
	int result = order(one->begin, other->begin);

	if (!result)
		result = order(one->size != 0, other->size != 0);
	if (!result)
		result = order(rank(one), rank(other));
	if (!result)
		result = order(strspn(names + other->name, "_"), strspn(names + one->name, "_"));
	return result ? result : strcmp(names + other->name, names + one->name);
}

/* False: there is no memory. That a file has no symbols is no failure. */
static bool read_symbols(struct symbols *symbols, struct section_headers *headers)
{
	Elf64_Shdr header, table = {.sh_type = SHT_NULL};

	for (uint64_t i = 1; i < headers->nr && section_header(headers, i, &header); i++) {
		if (header.sh_entsize == image_structure_size(headers->image, ELF_SYMBOL) &&
		    (header.sh_type == SHT_SYMTAB || (header.sh_type == SHT_DYNSYM && table.sh_type == SHT_NULL)))
			table = header;
	}
	if (table.sh_type == SHT_NULL || !read_names(symbols, headers, &table))
		return true;
	if (!read_functions(symbols, headers, &table))
		return false;
	if (symbols->nr)
		qsort_r(symbols->functions, symbols->nr, sizeof(*symbols->functions), compare, symbols->names);
	return true;
}

/* ---- A file ---- */

/* Such as a device, whose opening may do something. */
static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool read_file(struct symbols *symbols, const char *path, const char *build_id)
{
	struct section_headers headers;

	if (image_open(&symbols->image, path) != NULL)
		return false;
	const bool has_sections = section_headers_open(&headers, &symbols->image) == NULL;
	if (*build_id && !(has_sections && has_build_id(&headers, build_id)))
		return false;
	return !has_sections || read_symbols(symbols, &headers);
}

struct symbols *symbols_open(const char *path, const char *build_id)
{
	struct symbols *symbols = is_regular(path) ? calloc(1, sizeof(*symbols)) : NULL;

	if (!symbols)
		return NULL;
	symbols->image.bytes.fd = -1;
	if (!read_file(symbols, path, build_id)) {
		symbols_free(symbols);
		return NULL;
	}
	bytes_close(&symbols->image.bytes);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	image_close(&symbols->image);
	free(symbols->functions);
	free(symbols->names);
	free(symbols);
}

size_t symbols_size(const struct symbols *symbols)
{
	return sizeof(*symbols) + 2 * symbols->nr * sizeof(*symbols->functions) + symbols->names_size;
}

bool symbols_address(const struct symbols *symbols, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < symbols->image.nr_segments; i++) {
		const struct image_segment *segment = &symbols->image.segments[i];
		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* How many functions begin at the address or before it. */
static size_t number_up_to(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (symbols->functions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *symbols_name(const struct symbols *symbols, uint64_t address, uint64_t *begin)
{
	const size_t nr = number_up_to(symbols, address);

	for (size_t i = nr; i > 0 && nr - i < NESTED_MAX; i--) {
		const struct function *function = &symbols->functions[i - 1];
		/* One without a size ends where another begins, also that of another name. */
		if (function->size ? address - function->begin < function->size
				   : i == nr || function->begin == symbols->functions[nr - 1].begin) {
			*begin = function->begin;
			return symbols->names + function->name;
		}
	}
	return NULL;
}
