/* SPDX-License-Identifier: MIT */
/*
 * language.h - an event with a field of each kind that sample.h lacks, written
 * by hand in the shape that tpgen generates.
 *
 * It is the event of a module that the tests which want it load themselves:
 * the others count the events there are.
 */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <stdarg.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/module.h>

struct language_pair {
	int16_t a;
	int64_t b;
};

struct language_values {
	struct language_pair pair;
	const char *text;     /* __string */
	const char *part;     /* __string_len, part_len */
	size_t part_len;
	const unsigned long *bits;
	int nr_bits;
	const void *cpus;     /* a cpu_set_t */
	const void *address;  /* a struct sockaddr, address_len */
	size_t address_len;
	const uint32_t *words;
	size_t nr_words;
	int64_t last;
};

struct trace_event_raw_language {
	struct trace_entry ent;
	uint8_t first;
	struct language_pair pair;
	char name[4];
	uint8_t bytes[16];
	uint8_t mac[6];
	tp_data_loc_t __data_loc_text;
	tp_data_loc_t __data_loc_part;
	tp_data_loc_t __data_loc_message;
	tp_data_loc_t __data_loc_bits;
	tp_data_loc_t __data_loc_cpus;
	tp_data_loc_t __data_loc_address;
	tp_data_loc_t __data_loc_words;
	tp_data_loc_t __rel_loc_rel_text;
	tp_data_loc_t __rel_loc_rel_part;
	tp_data_loc_t __rel_loc_rel_bits;
	tp_data_loc_t __rel_loc_rel_cpus;
	tp_data_loc_t __rel_loc_rel_address;
	tp_data_loc_t __rel_loc_rel_words;
	int64_t last;
	TP_DYNAMIC_DATA
};

/* trace_language(); what is behind v is for vsnprintf: __vstring. */
void trace_language(const struct language_values *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

extern struct tp_event tp_event_language;
extern struct tp_module language_module;

#endif /* LANGUAGE_H */
