/* SPDX-License-Identifier: MIT */
#include "elf/elf_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tracepoint.h>

#include "elf/file_events.h"
#include "elf/libraries.h"
#include "elf/program.h"
#include "fail_msg.h"

/* ---- Messages ---- */

/* Libraries that may have events, too, but were not found. */
static void tell_of_missing(const struct libraries *libraries)
{
	char names[1024] = "";
	size_t len = 0;
	size_t nr = 0;

	for (size_t i = 0; i < libraries->nr; i++) {
		if (libraries->all[i].path)
			continue;
		nr++;
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", libraries->all[i].name);
	}
	if (nr)
		fail_msg("not found, so their events are not listed: %zu of the libraries of '%s':%s%s; LD_LIBRARY_PATH may "
		     "name their directories", nr, libraries->all[0].path, names, len < sizeof(names) ? "" : "...");
}

static bool tell_of_none(const struct collected *collected, const struct libraries *libraries)
{
	const char *path = libraries->all[0].path;
	const size_t nr = libraries->nr - 1;
	char of_libraries[64] = "";

	if (nr)
		snprintf(of_libraries, sizeof(of_libraries), ", nor %s %zu librar%s", nr > 1 ? "have its" : "has its", nr,
			 nr > 1 ? "ies" : "y");
	if (collected->nr_tracepoints)
		return fail_msg("'%s' has tracepoints, but none of them is an event: they are of DECLARE_TRACE, or markers "
			    "whose arguments can't be recorded", path);
	return fail_msg("'%s' has no tracepoints%s: there is no section tp_definitions_%d or tp_markers_%d; "
		    "if they are in a plugin that it loads, give that file", path, of_libraries, TP_INTERFACE_VERSION,
		    TP_INTERFACE_VERSION);
}

/* ---- The files ---- */

/* False: the program itself can't be read, or there is no memory. A library is only missed, after a message. */
static bool read_file(struct collected *collected, struct libraries *libraries, size_t i, bool with_libraries)
{
	struct image image;
	const char *why = libraries_open(libraries, i, &image);
	bool good = i != 0;

	if (!why)
		good = (file_events(collected, &image, libraries->all[i].path) || i != 0) &&
		       (!with_libraries || libraries_add(libraries, i, &image));
	else if (i == 0)
		fail_msg("'%s' %s", libraries->all[0].path, why);
	image_close(&image);
	return good;
}

static bool read_files(struct collected *collected, struct libraries *libraries, bool with_libraries)
{
	for (size_t i = 0; i < libraries->nr; i++) {
		if (!read_file(collected, libraries, i, with_libraries))
			return false;
	}
	tell_of_missing(libraries);
	return collected->nr_events || tell_of_none(collected, libraries);
}

bool elf_events(const char *program, const struct tp_pattern *pattern, bool with_libraries, struct event_list *list)
{
	struct collected collected = {.pattern = pattern};
	struct libraries libraries = {.all = NULL};
	char *path = program_path(program);
	bool good = path && libraries_begin(&libraries, path) && read_files(&collected, &libraries, with_libraries);

	for (size_t i = 0; good && i < collected.list.nr; i++)
		good = event_list_add(list, &collected.list.events[i]);
	collected_free(&collected);
	libraries_free(&libraries);
	free(path);
	return good;
}
