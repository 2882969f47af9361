/* SPDX-License-Identifier: MIT */
/* ring_words.h - the words of a page of ftrace's ring buffer, as Linux has them. */
#ifndef RING_WORDS_H
#define RING_WORDS_H

#include <stdint.h>

/* The word in front of an event: a type, and the time since the one before. */
#define DELTA_BITS 27
#define TYPE_LEN_MAX 28u /* up to there, it is a length, in words; 0: the length is in the next word, and counts that, too */
#define TYPE_PADDING 29u
#define TYPE_TIME_EXTEND 30u /* the next word has more bits of the time since; there is no event */
#define TYPE_TIME_STAMP 31u  /* the same of a time by itself */
#define EXTEND_BITS (DELTA_BITS + 32)

/* In the page's second word, beside the bytes that are used. */
#define COMMIT_MASK (((uint64_t)1 << 27) - 1)
#define EVENTS_LOST ((uint64_t)1 << 31)
#define EVENTS_LOST_STORED ((uint64_t)1 << 30) /* how many is behind the events, a word as large as the page's second */

#endif /* RING_WORDS_H */
