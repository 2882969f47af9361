/* SPDX-License-Identifier: MIT */
/*
 * base/exit.h - the end of the process.
 */
#ifndef TP_EXIT_H
#define TP_EXIT_H

#include <stdbool.h>

void tp_exit_start(void); /* once a process */

/* Whether it is data or code of the program's own file, and not of a library. */
bool tp_is_of_main_program(const void *data);

/* Called where a module or a probe comes, so that tp_exiting() is right from then on. */
void tp_note_exit(void);

/* Whether the process is at its end. */
bool tp_exiting(void);

#endif /* TP_EXIT_H */
