/* SPDX-License-Identifier: MIT */
/*
 * Does not compile where the public headers are not what a frozen interface says. LAYOUT and FUNCTIONS are its
 * files; EXACT is 1 for the present interface, and 0 for an older one, whose structures may have grown since.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "all.h"

#define REMEDY " is not what this interface was frozen with: new members go to the end, with a new interface number " \
	       "(docs/internals/architecture.md, Interfaces)"

#define FIXED(name, size) _Static_assert(sizeof(struct name) == (size), "struct " #name REMEDY);
#define GROWING(name, size) \
	_Static_assert(EXACT ? sizeof(struct name) == (size) : sizeof(struct name) >= (size), "struct " #name REMEDY);
#define MEMBER(name, member, offset, size)                                                               \
	_Static_assert(offsetof(struct name, member) == (offset) &&                                      \
			       sizeof(((struct name *)0)->member) == (size), #member " of struct " #name REMEDY);
#define VALUE(name, value) _Static_assert((int)(name) == (value), #name REMEDY);

#include LAYOUT
#include FUNCTIONS
