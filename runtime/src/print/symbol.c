/* SPDX-License-Identifier: MIT */
/*
 * print/symbol.c - which function or variable an address is in, for %pS and its like.
 *
 * What is found are dynamic symbols: all global ones of a shared object; of
 * the program, those that shared objects use, or all if it is linked with
 * -rdynamic. Static functions are in no such table, and an address in one is
 * not taken for a part of its neighbour.
 *
 * A module that is unloaded while one of its symbols is being looked up is
 * gone under the reader's feet, unless it has tracepoints: their module waits
 * for the reader. (Its addresses print as numbers once it is gone.)
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "print/symbol.h"

/* What of a module's dynamic section says where its symbols are. */
struct symbol_table {
	const ElfW(Sym) *symbols;
	const char *names;
	size_t names_size;
	const ElfW(Word) *hash;
	const uint32_t *gnu_hash;
};

/*
 * A pointer in the dynamic section. glibc's loader has relocated it, except where the section is read-only, as the vDSO's;
 * others relocate none. (Of a static-pie program glibc knows too short a range: there it is the base that tells.)
 */
static const void *dynamic_pointer(const struct tp_object *object, ElfW(Addr) pointer)
{
	bool inside = pointer >= object->begin && pointer < object->end;

	return (const void *)(inside || pointer >= object->base ? pointer : pointer + object->base);
}

static bool table_find(const struct tp_object *object, struct symbol_table *table)
{
	const ElfW(Dyn) *dynamic = object->dynamic;

	*table = (struct symbol_table){.symbols = NULL};
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SYMTAB)
			table->symbols = dynamic_pointer(object, dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_STRTAB)
			table->names = dynamic_pointer(object, dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_STRSZ)
			table->names_size = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_HASH)
			table->hash = dynamic_pointer(object, dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_GNU_HASH)
			table->gnu_hash = dynamic_pointer(object, dynamic->d_un.d_ptr);
	}
	return table->symbols && table->names;
}

/* How many symbols a GNU hash table knows, those in front of its first included. */
static size_t count_gnu_hash(const uint32_t *hash)
{
	uint32_t nr_buckets = hash[0];
	uint32_t first = hash[1]; /* the ones before are in no bucket */
	uint32_t nr_bloom = hash[2]; /* in words as wide as an address */
	const uint32_t *buckets = hash + 4 + nr_bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + nr_buckets;
	uint32_t last = 0;

	for (uint32_t i = 0; i < nr_buckets; i++) {
		if (buckets[i] > last)
			last = buckets[i];
	}
	if (last < first) /* all buckets are empty */
		return first;
	while (!(chains[last - first] & 1)) /* the lowest bit ends a chain */
		last++;
	return (size_t)last + 1;
}

/* The dynamic section does not say it itself. */
static size_t count_symbols(const struct symbol_table *table)
{
	if (table->gnu_hash)
		return count_gnu_hash(table->gnu_hash);
	return table->hash ? table->hash[1] : 0;
}

/* Whether the symbol names a place in memory that the address, which is relative to the module, is in. */
static bool covers(const ElfW(Sym) *symbol, ElfW(Addr) address)
{
	unsigned int type = ELF32_ST_TYPE(symbol->st_info); /* ELF64_ST_TYPE is the same */

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || type == STT_TLS || type == STT_SECTION ||
	    type == STT_FILE)
		return false;
	return address == symbol->st_value ||
	       (address > symbol->st_value && address - symbol->st_value < symbol->st_size);
}

/* Of several that cover an address: the nearest, of these a global one, of these the first. */
static bool is_better(const ElfW(Sym) *symbol, const ElfW(Sym) *than)
{
	if (symbol->st_value != than->st_value)
		return symbol->st_value > than->st_value;
	return ELF32_ST_BIND(symbol->st_info) == STB_GLOBAL && ELF32_ST_BIND(than->st_info) != STB_GLOBAL;
}

static const ElfW(Sym) *search(const struct symbol_table *table, ElfW(Addr) address)
{
	const ElfW(Sym) *best = NULL;
	size_t count = count_symbols(table);

	for (size_t i = 1; i < count; i++) { /* 0 is none */
		const ElfW(Sym) *symbol = &table->symbols[i];
		if (symbol->st_name < table->names_size && covers(symbol, address) &&
		    (!best || is_better(symbol, best)))
			best = symbol;
	}
	return best;
}

bool tp_symbol_find(uintptr_t address, struct tp_symbol *symbol)
{
	struct tp_object object;
	struct symbol_table table;

	if (!tp_object_find(address, &object) || !table_find(&object, &table))
		return false;
	const ElfW(Sym) *found = search(&table, address - object.base);
	if (!found)
		return false;
	symbol->name = table.names + found->st_name;
	symbol->address = object.base + found->st_value;
	symbol->size = found->st_size;
	return true;
}

/*
 * The names of system calls. The table has the names of the calls of all processors, each behind its number. The preprocessor makes a text of that; if
 * the system's headers have none, it is the macro's name. There are no pointers in it, as the start of every program that
 * has the runtime in it would have to relocate them.
 */

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define X(name) TEXT(__NR_##name) "=" #name,

static const char calls[][56] = {
#include "print/syscall_names.h"
};

const char *tp_syscall_name(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		char *end;
		if (calls[i][0] >= '0' && calls[i][0] <= '9' && strtoull(calls[i], &end, 0) == number && *end == '=')
			return end + 1;
	}
	return NULL;
}
