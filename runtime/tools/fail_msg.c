/* SPDX-License-Identifier: MIT */
#include "fail_msg.h"

#include <stdarg.h>
#include <stdio.h>

#include "client/clean.h"

static bool is_silent;

bool fail_msg(const char *format, ...)
{
	char line[8192]; /* two paths */
	va_list args;

	if (is_silent)
		return false;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "tp: %s\n", clean(line)); /* names of files may hold anything */
	return false;
}

void fail_msg_silence(bool silent)
{
	is_silent = silent;
}

bool fail_no_memory(void)
{
	return fail_msg("there is not enough memory");
}
