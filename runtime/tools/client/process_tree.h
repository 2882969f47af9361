/* SPDX-License-Identifier: MIT */
/* process_tree.h - the traces of a program that tp starts, and of those that it starts in turn. */
#ifndef FAMILY_H
#define FAMILY_H

struct kernel_recording;

/*
 * Runs the program until its end, with a trace in the new directory path; kernel: NULL, or the kernel's events beside it. Returns the status
 * that tp exits with.
 */
int family_record(char *const *program, const char *path, const char *options, const char *events, struct kernel_recording *kernel);

#endif /* FAMILY_H */
