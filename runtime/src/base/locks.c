/* SPDX-License-Identifier: MIT */
/*
 * base/locks.c - the process's locks. They are here, and not where they are taken, so that forks hold each of them from the
 * start, whoever takes it first.
 */
#include "base/fork.h"
#include "base/locks.h"

struct tp_lock tp_modules_lock = TP_LOCK_INIT(TP_RANK_MODULES, "the modules' lock");
struct tp_lock tp_triggers_lock = TP_LOCK_INIT(TP_RANK_TRIGGERS, "the triggers' lock");
struct tp_lock tp_events_lock = TP_LOCK_INIT(TP_RANK_EVENTS, "tp_events_lock");
struct tp_lock tp_hist_lock = TP_LOCK_INIT(TP_RANK_LEAF, "the histograms' lock");
struct tp_lock tp_helper_lock = TP_LOCK_INIT(TP_RANK_LEAF, "the helper's lock");
struct tp_lock tp_outputs_lock = TP_LOCK_INIT(TP_RANK_LEAF, "the outputs' lock");
struct tp_lock tp_registry_lock = TP_LOCK_INIT(TP_RANK_REGISTRY, "tp_registry_lock");
struct tp_mutex tp_ctf_chapter_lock = TP_MUTEX_INIT(TP_RANK_SINK, "tp_ctf_chapter_lock");
struct tp_mutex tp_ctf_lock = TP_MUTEX_INIT(TP_RANK_CTF, "tp_ctf_lock");
struct tp_mutex tp_ctf_spare_lock = TP_MUTEX_INIT(TP_RANK_LAST, "tp_ctf_spare_lock");
struct tp_mutex tp_perfetto_lock = TP_MUTEX_INIT(TP_RANK_CTF, "tp_perfetto_lock");
struct tp_mutex tp_stats_lock = TP_MUTEX_INIT(TP_RANK_LAST, "tp_stats_lock");

void tp_locks_start(void)
{
	static struct tp_fork_hook hooks[] = {
		{.lock = &tp_modules_lock.mutex},
		{.lock = &tp_triggers_lock.mutex},
		{.lock = &tp_events_lock.mutex},
		{.lock = &tp_hist_lock.mutex},
		{.lock = &tp_helper_lock.mutex},
		{.lock = &tp_outputs_lock.mutex},
		{.lock = &tp_registry_lock.mutex},
		{.lock = &tp_ctf_chapter_lock},
		{.lock = &tp_ctf_lock},
		{.lock = &tp_ctf_spare_lock},
		{.lock = &tp_perfetto_lock},
		{.lock = &tp_stats_lock},
	};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		hooks[i].rank = hooks[i].lock->rank;
		tp_fork_register(&hooks[i]);
	}
}
