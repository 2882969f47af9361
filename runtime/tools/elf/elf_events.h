/* SPDX-License-Identifier: MIT */
/*
 * elf_events.h - the events of a program that does not run, from its file and from
 * those of the libraries that it is linked with. Each file uses those below it only:
 *
 *	elf_events.c         all of the program's files
 *	  program.c          where a program is
 *	  libraries.c        and its libraries
 *	  file_events.c      the events of a file
 *	    definition.c     one of its tracepoints, and its event
 *	    sections.c       where its tracepoints are
 *	      dynamic.c      what the loader is told
 *	        image.c      an ELF file at its addresses
 *	          bytes.c    the bytes of a file
 */
#ifndef ELF_EVENTS_H
#define ELF_EVENTS_H

#include <stdbool.h>

#include "events/pattern.h"
#include "events_text.h"

/*
 * Adds the events of a program, a library or a plugin to the list, the libraries' after its
 * own. program: a path, or a name as for a shell. pattern: only those that it
 * matches; NULL: all. False, and a message: the file can't be read, or it has no
 * events at all.
 */
bool elf_events(const char *program, const struct tp_pattern *pattern, bool with_libraries, struct event_list *list);

#endif /* ELF_EVENTS_H */
