/* SPDX-License-Identifier: MIT */
#include "elf/structures.h"

#include <stddef.h>
#include <string.h>

/* Where a member is in either class. Files are little-endian, as this machine is: the first bytes are the lowest. */
struct member {
	size_t narrow, size, wide; /* size: of the narrow one */
};

#define MEMBER(type, name) {offsetof(Elf32_##type, name), sizeof(((Elf32_##type *)0)->name), offsetof(Elf64_##type, name)}

static const struct member file_header[] = {
	MEMBER(Ehdr, e_ident), MEMBER(Ehdr, e_type), MEMBER(Ehdr, e_machine), MEMBER(Ehdr, e_version), MEMBER(Ehdr, e_entry),
	MEMBER(Ehdr, e_phoff), MEMBER(Ehdr, e_shoff), MEMBER(Ehdr, e_flags), MEMBER(Ehdr, e_ehsize), MEMBER(Ehdr, e_phentsize),
	MEMBER(Ehdr, e_phnum), MEMBER(Ehdr, e_shentsize), MEMBER(Ehdr, e_shnum), MEMBER(Ehdr, e_shstrndx),
};
static const struct member segment_header[] = {
	MEMBER(Phdr, p_type), MEMBER(Phdr, p_flags), MEMBER(Phdr, p_offset), MEMBER(Phdr, p_vaddr), MEMBER(Phdr, p_paddr),
	MEMBER(Phdr, p_filesz), MEMBER(Phdr, p_memsz), MEMBER(Phdr, p_align),
};
static const struct member one_section_header[] = {
	MEMBER(Shdr, sh_name), MEMBER(Shdr, sh_type), MEMBER(Shdr, sh_flags), MEMBER(Shdr, sh_addr), MEMBER(Shdr, sh_offset),
	MEMBER(Shdr, sh_size), MEMBER(Shdr, sh_link), MEMBER(Shdr, sh_info), MEMBER(Shdr, sh_addralign), MEMBER(Shdr, sh_entsize),
};
static const struct member symbol[] = {
	MEMBER(Sym, st_name), MEMBER(Sym, st_info), MEMBER(Sym, st_other), MEMBER(Sym, st_shndx), MEMBER(Sym, st_value),
	MEMBER(Sym, st_size),
};
static const struct member dynamic[] = {MEMBER(Dyn, d_tag), MEMBER(Dyn, d_un.d_val)};

#define STRUCTURE(type, members) {sizeof(Elf32_##type), sizeof(Elf64_##type), members, sizeof(members) / sizeof(members[0])}

static const struct {
	size_t narrow, wide;
	const struct member *members;
	size_t nr;
} structures[] = {
	[ELF_FILE_HEADER] = STRUCTURE(Ehdr, file_header),
	[ELF_SEGMENT_HEADER] = STRUCTURE(Phdr, segment_header),
	[ELF_SECTION_HEADER] = STRUCTURE(Shdr, one_section_header),
	[ELF_SYMBOL] = STRUCTURE(Sym, symbol),
	[ELF_DYNAMIC] = STRUCTURE(Dyn, dynamic),
};

uint64_t elf_structure_size(unsigned char class, enum elf_structure structure)
{
	return class == ELFCLASS32 ? structures[structure].narrow : structures[structure].wide;
}

static void widen(enum elf_structure structure, const unsigned char *from, unsigned char *to)
{
	memset(to, 0, structures[structure].wide);
	for (size_t i = 0; i < structures[structure].nr; i++) {
		const struct member *member = &structures[structure].members[i];
		memcpy(to + member->wide, from + member->narrow, member->size);
	}
}

bool elf_structure_read(struct bytes *bytes, unsigned char class, enum elf_structure structure, uint64_t offset, void *to)
{
	unsigned char narrow[sizeof(Elf32_Ehdr)]; /* the largest */

	if (class != ELFCLASS32)
		return bytes_read(bytes, offset, to, structures[structure].wide);
	if (!bytes_read(bytes, offset, narrow, structures[structure].narrow))
		return false;
	widen(structure, narrow, to);
	return true;
}
