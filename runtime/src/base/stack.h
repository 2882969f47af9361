/* SPDX-License-Identifier: MIT */
/*
 * base/stack.h - who has called: the return addresses on a thread's stack.
 */
#ifndef TP_STACK_H
#define TP_STACK_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Loads the unwinder, and does what that does only once in a process, and not in a signal handler. Before any
 * tp_stack_take(), by a thread that is in no handler and holds no lock, as it may take the loader's. False: there is none.
 */
bool tp_stack_start(void);

/*
 * The return addresses on the caller's stack, the innermost first: to[0] is in the function that has called, unless the
 * first skip are left out. Returns how many there are, at most max. The stack is read by the unwind tables of the program
 * and its libraries, and ends at a function that has none. Safe in signal handlers; it goes on behind a handler, in the
 * function that was interrupted. It allocates nothing.
 *
 * A stack that was made by hand must begin with 0 or with the address of code, as coroutine libraries have it: the
 * unwinder looks at the instruction there.
 */
unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip);

/* Where the function begins that an address behind one of its calls is in; 0: that is not known. */
uintptr_t tp_stack_function(uintptr_t return_address);

/* ---- Loading a library ---- */

/*
 * dlopen(), which takes the loader's lock: not under one of ours. NULL, too, in a static program: it is found by dlsym(), as
 * the mention of dlopen makes the linker warn of it in these.
 */
static inline void *tp_open_object(const char *name, int flags)
{
	void *(*open_object)(const char *, int) = (void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");

	return open_object ? open_object(name, flags) : NULL;
}

#endif /* TP_STACK_H */
