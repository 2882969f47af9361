/* SPDX-License-Identifier: MIT */
/* program.h - the file of a program, as a shell finds it. */
#ifndef ELF_PROGRAM_H
#define ELF_PROGRAM_H

/*
 * The path, to be freed, of a program: the name itself if there is a "/" in it; else that of an
 * executable file in $PATH; else of a file in the current directory. NULL, and a message:
 * there is none.
 */
char *program_path(const char *name);

#endif /* ELF_PROGRAM_H */
