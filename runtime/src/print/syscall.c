/* SPDX-License-Identifier: MIT */
/*
 * print/syscall.c - see syscall.h.
 *
 * The table has the names of the calls of all processors, each behind its number. The preprocessor makes a text of that; if
 * the system's headers have none, it is the macro's name. There are no pointers in it, as the start of every program that
 * has the runtime in it would have to relocate them.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "print/syscall.h"

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
