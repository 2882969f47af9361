/* SPDX-License-Identifier: MIT */
/*
 * events/marker_record.c - see marker_record.h.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include "core/iterate.h"
#include "events/marker_record.h"

#define WORDS_IN_REGISTERS 5u /* beside the tracepoint */

/* NULL: the marker is no event. */
static const struct tp_marker_event *described(const struct marker *marker)
{
	return (const struct tp_marker_event *)(const void *)marker->event;
}

/* ---- Where the words go ---- */

static bool is_text(const struct tp_conversion *c)
{
	return c->argument == TP_ARGUMENT_STRING;
}

static bool is_general(const struct tp_conversion *c)
{
	return c->argument != TP_ARGUMENT_DOUBLE && c->argument != TP_ARGUMENT_LONG_DOUBLE;
}

/* The words before the argument's own. */
static uint32_t nr_stars(const struct tp_conversion *c)
{
	return (uint32_t)c->width_star + c->precision_star;
}

/* Appends the steps of the texts, or those of all others. */
static struct tp_word_step *add_steps(struct tp_word_step *step, const struct tp_marker_format *parsed, bool texts)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < parsed->nr; i++, word++) {
		const struct tp_conversion *c = &parsed->conversions[i];
		word += nr_stars(c);
		if (is_text(c) == texts)
			*step++ = (struct tp_word_step){
				.offset = (uint16_t)parsed->fields[i].offset,
				.size = (uint16_t)parsed->fields[i].size,
				.word = (uint8_t)word,
				.most = c->precision_star ? TP_WORD_STAR : tp_words_most(c->precision),
			};
	}
	return step;
}

void tp_marker_plan(struct tp_marker_event *to, struct tp_word_step *steps, const struct tp_conversion *conversions,
		    const struct tp_marker_format *parsed)
{
	uint32_t words = 0;

	to->words.payloads = steps;
	to->words.numbers = steps = add_steps(steps, parsed, true);
	to->words.arrays = to->words.end = add_steps(steps, parsed, false);
	to->conversions = conversions;
	to->in_registers = true;
	for (uint32_t i = 0; i < parsed->nr; i++) {
		words += nr_stars(&conversions[i]) + 1;
		to->in_registers = to->in_registers && is_general(&conversions[i]);
	}
	to->in_registers = to->in_registers && words <= WORDS_IN_REGISTERS;
}

/* ---- From a list ---- */

/* Takes one argument, as its type is. args is where the next is. */
static uint64_t take(const struct tp_conversion *c, va_list *args)
{
	union {
		double real;
		uint64_t word;
	} bits;

	switch (c->argument) {
	case TP_ARGUMENT_INT:
		return (uint64_t)va_arg(*args, int);
	case TP_ARGUMENT_LONG:
		return (uint64_t)va_arg(*args, long);
	case TP_ARGUMENT_LONG_LONG:
		return (uint64_t)va_arg(*args, long long);
	case TP_ARGUMENT_DOUBLE:
		bits.real = va_arg(*args, double);
		return bits.word;
	case TP_ARGUMENT_LONG_DOUBLE:
		bits.real = (double)va_arg(*args, long double);
		return bits.word;
	default:
		return (uintptr_t)va_arg(*args, void *);
	}
}

void tp_marker_record(void *data, void *call_private, const char *fmt, va_list *args)
{
	const struct tp_marker_event *to = described(call_private);
	uint64_t words[TP_MARKER_WORDS_MAX], *word = words;

	(void)fmt;
	if (!to)
		return;
	for (uint32_t i = 0; i < to->event.event_class->nr_fields; i++) {
		const struct tp_conversion *c = &to->conversions[i];
		for (uint32_t stars = nr_stars(c); stars; stars--)
			*word++ = (uint64_t)va_arg(*args, int);
		*word++ = take(c, args);
	}
	tp_words_write(data, &to->event, &to->words, words);
}

/* ---- Without a list ---- */

/* These pass integers and pointers to functions with and without variable arguments in the same registers. */
#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

static void call_with_list(marker_probe_func *probe, void *data, struct marker *marker, ...)
{
	va_list args;

	va_start(args, marker);
	probe(data, marker, marker->format, &args);
	va_end(args);
}

/* A probe of the program's own. A function of its own, so that iterate() need not keep five arguments in registers. */
static __attribute__((noinline)) void call(tp_probe_t probe, void *data, struct marker *marker, const uint64_t *words)
{
	call_with_list((marker_probe_func *)probe, data, marker, words[0], words[1], words[2], words[3], words[4]);
}

/* Only for markers that are events, which they then stay. */
static void iterate(struct tracepoint *tp, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	const uint64_t words[WORDS_IN_REGISTERS] = {a, b, c, d, e};
	struct marker *marker = (struct marker *)tp;
	tp_probe_t probe;
	int hit;

	for (const struct tracepoint_func *it = tp_iterate_enter(tp, &hit); it && (probe = tp_probe_func(it)); it++) {
		if (probe == (tp_probe_t)tp_marker_record)
			tp_words_write(it->data, &described(marker)->event, &described(marker)->words, words);
		else if (probe != TP_REMOVED)
			call(probe, it->data, marker, words);
	}
	tp_iterate_leave(hit);
}

/*
 * Another thread may be hitting the marker, by either iterator. No check is in the iterator's place, as no sink
 * has been told of the event.
 */
void tp_marker_shorten(struct marker *marker)
{
	const struct tp_marker_event *to = described(marker);

	if (to && to->in_registers)
		__atomic_store_n(&marker->tp.iterate, (tp_probe_t)iterate, __ATOMIC_RELEASE);
}

#else

void tp_marker_shorten(struct marker *marker)
{
	(void)marker;
}

#endif
