/* SPDX-License-Identifier: MIT */
/*
 * traceevent.c - see traceevent.h. The library is loaded and not linked, so
 * that the tests are built where it is not installed.
 */
#include "traceevent.h"

#if __has_include(<traceevent/event-parse.h>)

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#define FUNCTION(name) static __typeof__(name) *lib_##name

FUNCTION(tep_alloc);
FUNCTION(tep_free);
FUNCTION(tep_parse_event);
FUNCTION(tep_print_event);
FUNCTION(trace_seq_init);
FUNCTION(trace_seq_destroy);
FUNCTION(trace_seq_terminate);

bool traceevent_load(void)
{
	void *library = dlopen("libtraceevent.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define FIND(name) (*(void **)&lib_##name = dlsym(library, #name))
	return FIND(tep_alloc) && FIND(tep_free) && FIND(tep_parse_event) && FIND(tep_print_event) &&
	       FIND(trace_seq_init) && FIND(trace_seq_destroy) && FIND(trace_seq_terminate);
}

char *traceevent_print(const char *system, const char *format, void *record, size_t size)
{
	struct tep_handle *tep = lib_tep_alloc();
	struct tep_record rec = {.data = record, .size = (int)size, .record_size = (int)size};
	struct trace_seq s;
	char *text = NULL;

	if (lib_tep_parse_event(tep, format, strlen(format), system) == 0) {
		lib_trace_seq_init(&s);
		lib_tep_print_event(tep, &s, &rec, "%s", TEP_PRINT_INFO);
		lib_trace_seq_terminate(&s);
		text = strdup(s.buffer);
		lib_trace_seq_destroy(&s);
	}
	lib_tep_free(tep);
	return text;
}

#else

bool traceevent_load(void)
{
	return false;
}

char *traceevent_print(const char *system, const char *format, void *record, size_t size)
{
	(void)system;
	(void)format;
	(void)record;
	(void)size;
	return NULL;
}

#endif
