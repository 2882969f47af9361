/* SPDX-License-Identifier: MIT */
/*
 * print/symbol.h - which function or variable, and which object, an address is in; which system call has a number.
 */
#ifndef TP_SYMBOL_H
#define TP_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol and what of the program it covers. */
struct tp_symbol {
	const char *name;
	uintptr_t address;
	size_t size; /* bytes; 0 where it is not known */
};

/* The symbol that covers the address. */
bool tp_symbol_find(uintptr_t address, struct tp_symbol *symbol);

/* The object that the address is in. */
struct tp_object {
	const char *path; /* as the loader knows it; "" is the program */
	uintptr_t base;   /* what addresses in its file are less than those here */
	uintptr_t begin, end; /* where it is; may be less than all of it, or 0 */
	const void *dynamic;  /* its dynamic section; NULL: there is none */
};

bool tp_object_find(uintptr_t address, struct tp_object *object);

/*
 * Takes note of objects that have been loaded, for C libraries that can't be asked in signal handlers: without it, the two
 * above do not find what was loaded after the start. Takes the loader's lock: not under one of ours.
 */
void tp_objects_learn(void);

/* The name of its file, without directories; the program has the name that is given. */
const char *tp_object_name(const struct tp_object *object, const char *program);

/* ---- The names of system calls ---- */

/* "read"; NULL: this processor's kernels have no such number, or it was not known when the library was built. */
const char *tp_syscall_name(uint64_t number);

#endif /* TP_SYMBOL_H */
