/* SPDX-License-Identifier: MIT */
#include "fail_msg.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/message.h"
#include "client/clean.h"

static bool is_silent;

static void tell(const char *format, va_list args)
{
	char line[8192]; /* two paths */

	if (is_silent)
		return;
	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "tp: %s\n", clean(line)); /* names of files may hold anything */
}

bool fail_msg(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(format, args);
	va_end(args);
	return false;
}

/* What those files have to tell that are the library's, too. */
void tp_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(format, args);
	va_end(args);
}

void fail_msg_silence(bool silent)
{
	is_silent = silent;
}

bool fail_no_memory(void)
{
	return fail_msg("there is not enough memory");
}
