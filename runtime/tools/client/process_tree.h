/* SPDX-License-Identifier: MIT */
/* process_tree.h - the traces of a program that tp starts, and of those that it starts in turn. */
#ifndef FAMILY_H
#define FAMILY_H

/* Runs the program until its end, with a trace in the new directory path. Returns the status that tp exits with. */
int family_record(char *const *program, const char *path, const char *options, const char *events);

#endif /* FAMILY_H */
