/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/words.h - words that one thread writes while another may read them: whoever does that finds out later that it
 * was in vain. Who gets a word that was written behind a mark finds the mark, too: each store is a release, and each load an
 * acquire. (Barriers in front of all of them would do, too; but ThreadSanitizer knows none.)
 */
#ifndef TP_HIST_WORDS_H
#define TP_HIST_WORDS_H

#include <stdint.h>

static inline void tp_hist_words_store(uint64_t *to, const uint64_t *from, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

static inline void tp_hist_words_load(uint64_t *to, const uint64_t *from, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

#endif /* TP_HIST_WORDS_H */
