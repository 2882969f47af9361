/* SPDX-License-Identifier: MIT */
/* json_lines.h - events as JSON, one object a line: docs/tp.md, "tp convert". */
#ifndef JSON_LINES_H
#define JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the traces' events that the rules want, NULL: all, to a file, which is replaced when it is complete; "-": to standard
 * output. False, and a message, where something fails.
 */
bool json_lines_write(char *const *paths, size_t nr_paths, const char *events, const char *to);

#endif /* JSON_LINES_H */
