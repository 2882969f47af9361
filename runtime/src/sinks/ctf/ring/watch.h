/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/watch.h - whether somebody may be reading a packet's file: watch.c.
 */
#ifndef TP_CTF_WATCH_H
#define TP_CTF_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct tp_ctf_sink;

/* From now on files can be watched, if the kernel lets them. */
void tp_ctf_watch_start(struct tp_ctf_sink *sink);
void tp_ctf_watch_stop(struct tp_ctf_sink *sink);

/* ---- Of the helper's ---- */

/* Watches the file of fd, which nobody else has opened yet. What tp_ctf_watch_was_quiet() is to be asked; 0: it can't be watched. */
uint64_t tp_ctf_watch_add(struct tp_ctf_sink *sink, int fd);

/* Whether nobody has opened a watched file since then. */
bool tp_ctf_watch_was_quiet(struct tp_ctf_sink *sink, uint64_t since);

#endif /* TP_CTF_WATCH_H */
