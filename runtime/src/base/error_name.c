/* SPDX-License-Identifier: MIT */
/*
 * base/error_name.c - see error_name.h.
 */
#include <errno.h>
#include <stddef.h>

#include "base/error_name.h"

/* Not by pointers, which the start of every program that has the runtime in it would have to relocate. */
#define X(name) [name] = #name,

static const char names[][16] = {
#include "base/error_names.h"
};

const char *tp_error_name(int error)
{
	return error > 0 && (size_t)error < sizeof(names) / sizeof(names[0]) && *names[error] ? names[error] : NULL;
}
