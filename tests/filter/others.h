/* SPDX-License-Identifier: MIT */
/*
 * others.h - filters by libtraceevent and libtracefs, apart from the runtime, whose names they share. They are loaded
 * and not linked, so that the other tests need them not.
 */
#ifndef OTHERS_H
#define OTHERS_H

#include <stdbool.h>
#include <stddef.h>

struct record {
	char *bytes;
	size_t size;
};

/* False: libtraceevent is not installed. */
bool others_load(const char *format);

/* Print a line, as driver.c has it. */
void others_evaluate(const char *text, const struct record *records, size_t nr);
void others_verify(const char *text);

#endif /* OTHERS_H */
