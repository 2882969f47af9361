/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/preparer.h - packets that the process's helper makes ahead of need: preparer.c.
 */
#ifndef TP_CTF_PREPARER_H
#define TP_CTF_PREPARER_H

struct tp_ctf_sink;

/*
 * Where it is wanted, and there can be a helper: else those that record do it themselves. Not where packets are counted, or
 * overwritten.
 */
void tp_ctf_preparer_start(struct tp_ctf_sink *sink);

/* Closes what it has left. */
void tp_ctf_preparer_stop(struct tp_ctf_sink *sink);

#endif /* TP_CTF_PREPARER_H */
