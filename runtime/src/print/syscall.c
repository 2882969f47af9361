/* SPDX-License-Identifier: MIT */
/*
 * print/syscall.c - see syscall.h.
 *
 * The table has the names of the calls of all processors. The preprocessor makes a text of each one's number; if the
 * system's headers have none, that is the macro's name.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "print/syscall.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define X(name) {#name, TEXT(__NR_##name)},

static const struct {
	const char *name, *number;
} calls[] = {
#include "print/syscall_names.h"
};

const char *tp_syscall_name(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number[0] >= '0' && calls[i].number[0] <= '9' && strtoull(calls[i].number, NULL, 0) == number)
			return calls[i].name;
	}
	return NULL;
}
