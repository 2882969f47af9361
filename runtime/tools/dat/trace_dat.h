/* SPDX-License-Identifier: MIT */
/* trace_dat.h - a trace.dat of a trace that the CTF sink has recorded, or of several in a directory, for trace-cmd and KernelShark. */
#ifndef TRACE_DAT_H
#define TRACE_DAT_H

#include <stdbool.h>

/* Makes the file to of the trace from, and says what is in it. False, a message, and no file, where that fails. */
bool trace_dat_write(char *from, const char *to);

#endif /* TRACE_DAT_H */
