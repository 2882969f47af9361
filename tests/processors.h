/* SPDX-License-Identifier: MIT */
/*
 * processors.h - for programs of tests that are to have so many processors, whatever machine runs them.
 */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <unistd.h>

static long nr_processors = 8192; /* as many as any kernel has */

/* The C library's, which this one takes the place of. */
long __sysconf(int name);

/* Calls of the runtime are calls of this one. */
long sysconf(int name)
{
	return name == _SC_NPROCESSORS_CONF ? nr_processors : __sysconf(name);
}

#endif /* PROCESSORS_H */
