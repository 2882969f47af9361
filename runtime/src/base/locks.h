/* SPDX-License-Identifier: MIT */
/*
 * base/locks.h - the process's locks, all that a fork holds, by their order, which base/mutex.h explains.
 */
#ifndef TP_LOCKS_H
#define TP_LOCKS_H

#include "base/lock.h"

extern struct tp_lock tp_modules_lock;  /* core/module.c: modules that come and go, one at a time */
extern struct tp_lock tp_triggers_lock; /* triggers/: the list of them */
extern struct tp_lock tp_events_lock;   /* events/: all that is known of events and of open sinks */
extern struct tp_lock tp_hist_lock;     /* sinks/hist/: the list of histograms, what those of one name share, and tables while they are copied or replaced */
extern struct tp_lock tp_helper_lock;   /* base/helper.c: what there is to do */
extern struct tp_lock tp_outputs_lock;  /* control/: the list of outputs */
extern struct tp_lock tp_registry_lock; /* core/: names, probe arrays and sites */

/* ---- Readers take these, too, inside tp_guard_enter() ---- */

/*
 * Of CTF traces that have chapters: held by the thread that ends one, so that others wait for the next, and by one that
 * writes the metadata or the formats between two records, which is no reason to put the end off.
 */
extern struct tp_mutex tp_ctf_chapter_lock;

extern struct tp_mutex tp_ctf_lock;       /* all CTF sinks' streams and packets, and which sink has which slot */
extern struct tp_mutex tp_ctf_spare_lock; /* their spare descriptors */
extern struct tp_mutex tp_perfetto_lock;  /* all Perfetto sinks' streams, and which sink has which slot */
extern struct tp_mutex tp_stats_lock;     /* all statistics sinks' blocks and totals, and what is known of slots */

void tp_locks_start(void); /* once a process: from here on a fork holds them */

#endif /* TP_LOCKS_H */
