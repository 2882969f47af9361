/* SPDX-License-Identifier: MIT */
/* base/pid_name.h - "%p" in a name of the user's stands for a process's id. */
#ifndef TP_PID_NAME_H
#define TP_PID_NAME_H

#include <stddef.h>

/* Bytes that the pattern takes at most, whatever the id, with the NUL behind it. */
size_t tp_pid_name_size(const char *pattern);

/* Writes it to so many bytes, with this id. Safe in signal handlers. */
void tp_pid_name(char *to, const char *pattern, int pid);

#endif /* TP_PID_NAME_H */
