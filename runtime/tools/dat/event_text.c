/* SPDX-License-Identifier: MIT */
#include "dat/event_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/limits.h"
#include "dat/print_fmt.h"
#include "printk/printk.h"
#include "fail_msg.h"

#define NAME "tp_text" /* of the field; where the event has one of this name, underscores follow */
#define SHIFT 8u       /* bytes in front of the payloads, among them the field's word: they stay aligned */
#define ROOM_MIN 64u   /* bytes of a text at least */

struct event_text {
	struct limits limits;
	struct printk *printk; /* NULL: it is for readers in any case, right or wrong */
	bool is_needed;
};

struct event_texts {
	struct event_text *by_id[NR_EVENT_IDS];
	unsigned char record[RECORD_MAX + 1];
	char text[RECORD_MAX + 1];
};

struct event_texts *event_texts_new(void)
{
	struct event_texts *texts = calloc(1, sizeof(*texts));

	if (!texts)
		fail_no_memory();
	return texts;
}

void event_texts_free(struct event_texts *texts)
{
	for (size_t id = 0; texts && id < NR_EVENT_IDS; id++) {
		if (!texts->by_id[id])
			continue;
		printk_free(texts->by_id[id]->printk);
		limits_free(&texts->by_id[id]->limits);
		free(texts->by_id[id]);
	}
	free(texts);
}

/* ---- Which events ---- */

/* Whether libtraceevent prints all that is in the format as it is. False, and *failed: there is no memory. */
static bool is_for_readers(const struct event_format *format, const struct limits *limits, bool *failed)
{
	bool is_whole;
	size_t len;
	char *text = print_fmt_for_readers(format->text, format->len, &len, &is_whole);
	const char *print = text ? memmem(text, len, "\nprint fmt: ", strlen("\nprint fmt: ")) : NULL;

	*failed = !text;
	for (const char *at = print; at && at < text + len; at++)
		is_whole = is_whole && !(*at & 0x80);
	free(text);
	return is_whole && limits->is_printable;
}

static struct event_text *text_of(struct event_texts *texts, const struct event_format *format)
{
	struct event_text **text = &texts->by_id[format->id];
	bool failed;

	if (*text)
		return *text;
	*text = calloc(1, sizeof(**text));
	if (!*text) {
		fail_no_memory();
		return NULL;
	}
	if (!limits_of(&(*text)->limits, format))
		return NULL;
	if (format->fixed + SHIFT + ROOM_MIN > RECORD_MAX)
		return *text; /* there is never room for one */
	(*text)->is_needed = !is_for_readers(format, &(*text)->limits, &failed);
	if (failed)
		return NULL;
	if ((*text)->is_needed || (*text)->limits.signed_fields.nr)
		(*text)->printk = printk_new(format);
	(*text)->is_needed = (*text)->is_needed && (*text)->printk;
	return *text;
}

/* ---- A record ---- */

/* Where the text begins: behind the payloads, for which there is no room beside it in the very largest records. */
static uint32_t text_begin(const struct event *event)
{
	return (event->size + SHIFT + ROOM_MIN <= RECORD_MAX ? event->size : event->format->fixed) + SHIFT;
}

/* Its text, cut to what fits into the record; a newline at its end is none of it. Returns the length. */
static uint32_t make_text(struct event_texts *texts, const struct event_text *text, const struct event *event)
{
	struct trace_seq seq;

	trace_seq_init(&seq, texts->text, RECORD_MAX - text_begin(event));
	if (!printk_put(text->printk, &seq, event->record, event->size))
		trace_seq_puts(&seq, "[FAILED TO PARSE]");
	if (seq.len && texts->text[seq.len - 1] == '\n')
		texts->text[seq.len - 1] = '\0';
	return (uint32_t)strlen(texts->text);
}

size_t event_texts_survey(struct event_texts *texts, const struct event *event)
{
	struct event_text *text = text_of(texts, event->format);

	if (!text)
		return 0;
	if (!text->printk)
		return event->size;
	text->is_needed = text->is_needed || !limits_allow(&text->limits, event->record);
	const size_t size = text_begin(event) + make_text(texts, text, event) + 1;
	return size > event->size ? size : event->size;
}

/* The words of payloads that have moved; or that are not there any more. */
static void move_words(unsigned char *record, const struct event_format *format, bool has_payloads)
{
	for (size_t i = 0; i < format->nr_locations; i++) {
		const struct location *location = &format->locations[i];
		uint32_t word;
		memcpy(&word, record + location->offset, sizeof(word));
		const uint32_t offset = (word & 0xffff) + (location->relative ? location->offset + (uint32_t)sizeof(word) : 0);
		if (has_payloads && offset < format->fixed)
			continue;
		word = has_payloads ? (word & 0xffff0000) | ((word + SHIFT) & 0xffff) : 0;
		memcpy(record + location->offset, &word, sizeof(word));
	}
}

/* Where the word of the text is. */
static uint32_t word_offset(const struct event_format *format)
{
	return (format->fixed + 3) & ~3u;
}

const void *event_texts_record(struct event_texts *texts, const struct event *event, size_t *size)
{
	const struct event_format *format = event->format;
	const struct event_text *text = texts->by_id[format->id];
	unsigned char *record = texts->record;

	*size = event->size;
	if (!text || !text->is_needed)
		return event->record;
	const uint32_t end = text_begin(event), len = make_text(texts, text, event);
	const uint32_t payloads = end - SHIFT - format->fixed;
	memcpy(record, event->record, format->fixed);
	memset(record + format->fixed, 0, SHIFT);
	memcpy(record + format->fixed + SHIFT, event->record + format->fixed, payloads);
	move_words(record, format, payloads || event->size == format->fixed);
	memcpy(record + end, texts->text, len);
	record[end + len] = '\0';
	const uint32_t word = (len + 1) << 16 | end;
	memcpy(record + word_offset(format), &word, sizeof(word));
	*size = end + len + 1;
	return record;
}

/* ---- The format ---- */

/* A name that no field has. */
static void make_name(char name[sizeof(NAME) + 64], const struct fields *fields)
{
	strcpy(name, NAME);
	for (int i = 0; i < 64 && field_named(fields, name); i++)
		strcat(name, "_");
}

char *event_texts_format(const struct event_texts *texts, const struct event_format *format, size_t *len)
{
	static const char key[] = "\n\nprint fmt: ";
	const struct event_text *text = texts->by_id[format->id];
	const char *print = memmem(format->text, format->len, key, strlen(key));
	char *with_text = NULL, name[sizeof(NAME) + 64];
	struct fields fields;
	bool is_whole;

	if (!text || !text->is_needed || !print)
		return print_fmt_for_readers(format->text, format->len, len, &is_whole);
	if (!fields_of(&fields, format)) {
		free(fields.fields);
		return NULL;
	}
	make_name(name, &fields);
	free(fields.fields);
	const int total = asprintf(&with_text, "%.*s\n\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:0;%s\"%%s\", __get_str(%s)\n",
				   (int)(print - format->text), format->text, name, word_offset(format), key, name);
	if (total < 0) {
		fail_no_memory();
		return NULL;
	}
	char *result = print_fmt_for_readers(with_text, (size_t)total, len, &is_whole);
	free(with_text);
	return result;
}
