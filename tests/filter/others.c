/* SPDX-License-Identifier: MIT */
/*
 * others.c - see others.h.
 */
#include "others.h"

#if __has_include(<traceevent/event-parse.h>)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#define FUNCTION(name) static __typeof__(name) *lib_##name
FUNCTION(tep_alloc);
FUNCTION(tep_parse_event);
FUNCTION(tep_find_event_by_name);
FUNCTION(tep_filter_alloc);
FUNCTION(tep_filter_free);
FUNCTION(tep_filter_add_filter_str);
FUNCTION(tep_filter_match);

static struct tep_handle *tep;
static int (*verify)(struct tep_event *event, const char *filter, char **error);

bool others_load(const char *format)
{
	void *library = dlopen("libtraceevent.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *tracefs = dlopen("libtracefs.so.1", RTLD_NOW | RTLD_LOCAL);

#define FIND(name) (*(void **)&lib_##name = dlsym(library, #name))
	if (!library || !FIND(tep_alloc) || !FIND(tep_parse_event) || !FIND(tep_find_event_by_name) ||
	    !FIND(tep_filter_alloc) || !FIND(tep_filter_free) || !FIND(tep_filter_add_filter_str) || !FIND(tep_filter_match))
		return false;
	if (tracefs)
		*(void **)&verify = dlsym(tracefs, "tracefs_filter_string_verify");
	tep = lib_tep_alloc();
	return lib_tep_parse_event(tep, format, strlen(format), "fields") == 0;
}

void others_evaluate(const char *text, const struct record *records, size_t nr)
{
	struct tep_event_filter *filter = lib_tep_filter_alloc(tep);
	char full[4096];

	snprintf(full, sizeof(full), "fields/fields_all:%s", text);
	if (lib_tep_filter_add_filter_str(filter, full) != 0) {
		printf("error\n");
	} else {
		for (size_t i = 0; i < nr; i++) {
			struct tep_record rec = {
				.data = records[i].bytes, .size = (int)records[i].size, .record_size = (int)records[i].size,
			};
			putchar(lib_tep_filter_match(filter, &rec) == TEP_ERRNO__FILTER_MATCH ? '1' : '0');
		}
		putchar('\n');
	}
	lib_tep_filter_free(filter);
}

void others_verify(const char *text)
{
	struct tep_event *described = lib_tep_find_event_by_name(tep, "fields", "fields_all");
	char *error = NULL;

	if (!verify)
		printf("none\n");
	else
		printf("%s\n", verify(described, text, &error) == 0 ? "0" : "error");
	free(error);
}
#else
bool others_load(const char *format)
{
	(void)format;
	return false;
}

void others_evaluate(const char *text, const struct record *records, size_t nr)
{
	(void)text;
	(void)records;
	(void)nr;
}

void others_verify(const char *text)
{
	(void)text;
}
#endif
