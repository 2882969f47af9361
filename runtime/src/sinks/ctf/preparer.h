/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/preparer.h - a thread that makes packets ahead of need, where the sink has one: preparer.c.
 */
#ifndef TP_CTF_PREPARER_H
#define TP_CTF_PREPARER_H

struct tp_ctf_sink;

/* Where the system has no thread to spare, it says so, and those that record do it themselves. */
void tp_ctf_preparer_start(struct tp_ctf_sink *sink);

/* Closes what it has left. */
void tp_ctf_preparer_stop(struct tp_ctf_sink *sink);

#endif /* TP_CTF_PREPARER_H */
