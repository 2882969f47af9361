/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/hold.h - which traces are still written, and how the others make way: hold.c, old.c.
 */
#ifndef TP_CTF_HOLD_H
#define TP_CTF_HOLD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct tp_ctf_sink;

/* ---- hold.c: errors are errno values; safe in signal handlers ---- */

/*
 * The trace in dir is held by this process and the children that it forks, until each
 * of them has ended, or called tp_ctf_hold_end(). Where the system has no such lock, *hold becomes NULL, and the trace counts as
 * held for ever. EEXIST: it is being put out of the way.
 */
int tp_ctf_hold(struct tp_ctf_sink *sink, int dir, void **hold);
void tp_ctf_hold_end(void *hold); /* NULL: it does nothing */

/* A descriptor to be given back, if nobody holds the trace; until then, nobody else gets one. -1: it is held, or that can't be told. */
int tp_ctf_hold_try(int dir);
void tp_ctf_hold_give_back(int fd);

/* ---- old.c ---- */

/*
 * Renames the trace, if it is one and no process is left of those that wrote it. to becomes the name that it has got, if
 * a process with this id was one of them: this one, before exec, or an earlier one; else "". Safe in signal handlers.
 */
bool tp_ctf_old_make_way(int parent, const char *name, int pid, char to[NAME_MAX + 1]);

/*
 * The same for one that this process writes to. 0 and the name that it has got, "" where it has
 * another one already; or an errno value.
 */
int tp_ctf_old_put_away(int parent, const char *name, int dir, char to[NAME_MAX + 1]);

/*
 * Of all such traces of the pattern, the last part of a name, removes the oldest, up to so many. Those are meant that have
 * made way, and with %p in it those of other processes, too. Safe in signal handlers.
 */
void tp_ctf_old_remove(int parent, const char *pattern, uint64_t keep);

#endif /* TP_CTF_HOLD_H */
