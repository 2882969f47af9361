/* SPDX-License-Identifier: MIT */
/*
 * processors.h - for programs of tests that are to have so many processors, whatever machine runs them.
 */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

static long nr_processors = 8192; /* as many as any kernel has */

/* Calls of the runtime are calls of this one, which takes the place of the C library's. */
long sysconf(int name)
{
	long (*real)(int) = (long (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "sysconf");

	return name == _SC_NPROCESSORS_CONF ? nr_processors : real(name);
}

#endif /* PROCESSORS_H */
