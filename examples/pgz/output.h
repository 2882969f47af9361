/* SPDX-License-Identifier: MIT */
/*
 * output.h - output files, of which nothing stays behind unless they are whole:
 * not after an error, nor when the program ends by a signal. There is one at a time.
 */
#ifndef PGZ_OUTPUT_H
#define PGZ_OUTPUT_H

#include <stdbool.h>

struct stat;

/* Once, before any thread is started: prepares for signals. */
void output_init(void);

/*
 * Creates path, which must stay valid until the output is finished or
 * dropped. force takes away what has that name already, unless it is the input file.
 * The file descriptor, or a negative errno value.
 */
int output_create(const char *path, const struct stat *input, bool force);

/* The file is whole: gives it the input's permissions and time, and closes it. 0 or a negative errno value. */
int output_finish(int fd, const struct stat *input);

/* Something went wrong: closes and removes it. */
void output_drop(int fd);

#endif /* PGZ_OUTPUT_H */
