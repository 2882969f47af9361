/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/metadata.h - the description of a trace, a text: metadata.c; environment.c, string.c.
 */
#ifndef TP_CTF_METADATA_H
#define TP_CTF_METADATA_H

#include <stddef.h>
#include <time.h>

struct tp_buffer;
struct tp_clock;
struct tp_event;

/* ---- metadata.c ---- */

/*
 * A trace's metadata but for its events: this, an env block, the clock, and the rest. clock: its name. context: TP_CTF_CPU and
 * the like. tp has these, too.
 */
void tp_ctf_metadata_head(struct tp_buffer *b);
void tp_ctf_metadata_stream(struct tp_buffer *b, const char *clock, unsigned int context);

#define TP_CTF_CLOCK_TEXT 512

/* The clock. */
void tp_ctf_metadata_clock(char text[TP_CTF_CLOCK_TEXT], const struct tp_clock *clock);

/* 0, -EINVAL where CTF can't describe the event, -ENOMEM; and then b is as before. */
int tp_ctf_metadata_event(struct tp_buffer *b, const struct tp_event *event);

/* ---- environment.c ---- */

/*
 * The env block of the metadata, but for what is the process's alone: where that goes in is returned.
 * Takes the loader's lock, so it is not for those who hold another.
 */
size_t tp_ctf_environment(struct tp_buffer *b);

#define TP_CTF_PROCESS_TEXT 128

/* What is the process's alone. Safe in signal handlers. */
void tp_ctf_environment_of_process(char text[TP_CTF_PROCESS_TEXT], int pid, time_t created);

/* ---- string.c ---- */

/* What stands between a string's quotes. Bytes that are no UTF-8 are shown as \xff: some readers fall over them. */
void tp_ctf_put_text(struct tp_buffer *b, const char *text);
void tp_ctf_put_string(struct tp_buffer *b, const char *text); /* with the quotes */

#endif /* TP_CTF_METADATA_H */
