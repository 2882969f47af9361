/* SPDX-License-Identifier: MIT */
/* base/loader.h - loading a library. */
#ifndef TP_LOADER_H
#define TP_LOADER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/*
 * dlopen(), which takes the loader's lock: not under one of ours. NULL, too, in a static program: it is found by dlsym(), as
 * the mention of dlopen makes the linker warn of it in these.
 */
static inline void *tp_open_object(const char *name, int flags)
{
	void *(*open_object)(const char *, int) = (void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");

	return open_object ? open_object(name, flags) : NULL;
}

#endif /* TP_LOADER_H */
