/* SPDX-License-Identifier: MIT */
/*
 * events_text.h - how "tp list" shows events: those of a process that runs, and
 * those of a program's file, in the same columns.
 *
 *	SYSTEM:NAME  LEVEL  FILE:LINE          (of a file)
 *	SYSTEM:NAME  LEVEL  FILE:LINE  STATE   (of a process: "off", or "on:1,3" with the ids of the outputs)
 *
 * With fields, each line is followed by the event's fields, in the way that
 * pahole shows a structure, and by its print format.
 */
#ifndef EVENTS_TEXT_H
#define EVENTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct listed_event {
	const char *name;    /* "SYSTEM:NAME" */
	unsigned int level;  /* enum tp_loglevel */
	const char *place;   /* "FILE:LINE"; NULL or "": not known */
	const char *outputs; /* the ids of outputs, "1,3"; "-": it is off; NULL: the program does not run */
	const char *format;  /* the text of its format file, as tp_event_format() makes it; NULL: not known */
};

/* Zeros are an empty one. */
struct event_list {
	struct listed_event *events;
	size_t nr;
};

/* Copies the event to the end of the list. False, and a message: there is no memory. */
bool event_list_add(struct event_list *list, const struct listed_event *event);

/* Prints the list in its order, on a terminal below a header. What is no plain character is shown as a question mark. */
void event_list_print(const struct event_list *list, bool with_fields, FILE *to);

void event_list_free(struct event_list *list);

#endif /* EVENTS_TEXT_H */
