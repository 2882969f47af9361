/* SPDX-License-Identifier: MIT */
/*
 * sinks/ftrace/sink.h - the kernel's tracing directories.
 */
#ifndef TP_FTRACE_SINK_H
#define TP_FTRACE_SINK_H

struct tp_buffer;

/*
 * Appends the directory of a trace buffer to path: the top-level one's for NULL
 * and "", else that of the instance of this name, which is made; a name that
 * begins with "/" is the directory itself. 0, or a negative errno value, and it was
 * said why. Whether path has failed is for the caller to see.
 */
int tp_tracefs_find(const char *instance, struct tp_buffer *path);

/* What to do about a file there that can't be opened or made: "" or "; ...". */
const char *tp_tracefs_advice(int error);

#endif /* TP_FTRACE_SINK_H */
