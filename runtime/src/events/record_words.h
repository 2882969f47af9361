/* SPDX-License-Identifier: MIT */
/*
 * events/record_words.h - from words to a record, of events that no generated code writes: markers and synthetic events.
 *
 * A word is the bits of an integer, of a pointer or of a double, or the address of what is copied into the record. Of each
 * event it is known in advance where its words go.
 */
#ifndef TP_RECORD_WORDS_H
#define TP_RECORD_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/sink.h>

/* How many fields of an event can have a payload. */
#define TP_WORDS_PAYLOADS_MAX 64

/* The addresses of a stack: so many count, and a 0 ends them before. */
#define TP_WORDS_STACK_MAX 16

/* The way of one word into the record. */
struct tp_word_step {
	uint16_t offset;
	uint16_t size;  /* bytes of it in the record; of what has a payload, of its __data_loc word */
	uint8_t word;   /* which it is */
	bool is_stack;  /* its payload are the addresses of a stack; else it is a text */
	uint32_t most;  /* of a text: bytes of it that count, or TP_WORD_STAR */
};

/* The word before the text's says it. */
#define TP_WORD_STAR UINT32_MAX

/* One array: of the fields with a payload, in their order, of numbers, and of char arrays. */
struct tp_words {
	const struct tp_word_step *payloads, *numbers, *arrays, *end;
};

/* Makes a record of the event in the sink. Safe in signal handlers. */
void tp_words_write(struct tp_sink *sink, const struct tp_event *event, const struct tp_words *to, const uint64_t *words);

/* Bytes of a text that count, where a precision says it: below 0, all. */
static inline uint32_t tp_words_most(int precision)
{
	return precision >= 0 && precision < TP_RECORD_MAX ? (uint32_t)precision : TP_RECORD_MAX;
}

/*
 * The event of a record's id, where no generated code prints it: a printer gets no more than the
 * record.
 */

/* Under tp_events_lock. NULL: none any more. False: no memory. */
bool tp_by_id_set(uint16_t id, const struct tp_event *event);

/* Safe in signal handlers. NULL: none was set. */
const struct tp_event *tp_by_id(uint16_t id);

#endif /* TP_RECORD_WORDS_H */
