/* SPDX-License-Identifier: MIT */
/*
 * traced.h - a program with TP_ENABLE and TP_OUTPUT, which are read when it
 * starts: a test program starts itself again, with an argument.
 */
#ifndef TRACED_H
#define TRACED_H

/* The traced program prints a line, and hits sample_int and sample_text; at its end it hits the latter again. */
void begin_traced(void);

/* A fixture: an empty directory for what is traced. */
extern char dir[128];
void setup_traced(void);

/* Runs the program so, with %s in output standing for dir. Returns its exit status; its texts are what it has printed. */
int start(const char *what, const char *enable, const char *output);
extern char *out_text, *err_text;

/* The text of a file in dir; the caller frees it. */
char *trace_file(const char *name);

#endif /* TRACED_H */
