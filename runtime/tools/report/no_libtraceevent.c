/* SPDX-License-Identifier: MIT */
/* no_libtraceevent.c - in the place of libtraceevent.c, where the library was not there when tp was built. */
#include "report/interpreter.h"

const bool interpreter_is_there = false;

struct interpreter *interpreter_new(void)
{
	return NULL;
}

const char *interpreter_text(struct interpreter *interpreter, const struct event_format *format,
			     unsigned char *record, uint32_t size, size_t *len)
{
	(void)interpreter;
	(void)format;
	(void)record;
	(void)size;
	(void)len;
	return NULL;
}
