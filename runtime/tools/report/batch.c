/* SPDX-License-Identifier: MIT */
#include "report/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/known_fields.h"
#include "report/interrupt.h"
#include "report/printer.h"
#include "report/stack.h"
#include "report/values.h"
#include "fail_msg.h"

#define OUT_BYTES ((size_t)64 << 10) /* then they are written */

/* As trace-cmd marks what it can't print, before it shows the fields. */
static const char mark[] = "[FAILED TO PARSE] ";

/* A piece of lines that comes again and again: which thread, which event. */
#define NR_PIECES 64
#define PIECE_BYTES 100

struct piece {
	uint64_t key[3];
	size_t len; /* 0: there is none */
	char text[PIECE_BYTES];
};

/* What a line has in front of the event. */
struct head {
	uint64_t time;
	int32_t tid, pid, cpu;
	uint64_t lost;
	const struct event_format *format; /* NULL: it is not shown */
	char name[COMM_SIZE];
};

struct batch {
	const struct traces *traces;
	struct line_style style;
	uint64_t last_time; /* of the line before */
	bool is_unread;
	struct printer *printer; /* NULL where the events are shown by their fields */

	size_t nr;
	struct head heads[PRINTER_ITEMS];
	struct printer_item items[PRINTER_ITEMS];
	unsigned char *records; /* PRINTER_RECORDS; the printer's, if there is one */
	size_t used;
	_Alignas(8) unsigned char record[PRINTER_ROOM(RECORD_MAX)]; /* one that is not printed there */

	struct line line;
	struct piece threads[NR_PIECES], events[NR_PIECES]; /* each in its place by its key, until another one comes there */
	char *out; /* lines that are written at a time; the one that is made stands behind them */
	size_t out_len;
	int name_width, id_width; /* columns of COMM, and of PID and TID each */
	struct when_text when;
	struct known_fields fields;
	struct stacks *stacks;  /* NULL where stacks are shown by their fields */
};

/* As perf script has them; narrow ones by the programs, whose threads may still have longer names. */
static void set_widths(struct batch *batch)
{
	int name_width = 0, id_width = 0;
	char id[16];

	batch->name_width = COMM_SIZE;
	batch->id_width = 7;
	for (size_t t = 0; t < batch->traces->nr && batch->style.is_terminal; t++) {
		const struct metadata *metadata = &batch->traces->traces[t].metadata;
		const int name_len = (int)strnlen(metadata->process, COMM_SIZE);
		const int id_len = (int)metadata_origin(metadata, "pid", id, sizeof(id));
		name_width = name_len > name_width ? name_len : name_width;
		id_width = id_len > id_width ? id_len : id_width;
	}
	if (batch->style.is_terminal) {
		batch->name_width = name_width;
		batch->id_width = id_width;
	}
}

struct batch *batch_new(const struct traces *traces, const struct line_style *style, uint64_t before)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch) {
		fail_no_memory();
		return NULL;
	}
	batch->traces = traces;
	batch->style = *style;
	batch->last_time = before;
	set_widths(batch);
	batch->out = malloc(OUT_BYTES + LINE_ROOM);
	const bool has_fields = known_fields_init(&batch->fields, traces->nr);
	batch->printer = style->with_fields ? NULL : printer_new(traces->nr);
	batch->records = batch->printer ? printer_records(batch->printer) : malloc(PRINTER_RECORDS);
	batch->stacks = style->with_fields ? NULL : stacks_new(traces);
	if (has_fields && (batch->printer || style->with_fields) && (batch->stacks || style->with_fields) &&
	    ((batch->out && batch->records) || fail_no_memory()))
		return batch;
	batch_free(batch);
	return NULL;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	known_fields_free(&batch->fields);
	free(batch->out);
	if (!batch->printer)
		free(batch->records);
	stacks_free(batch->stacks);
	printer_free(batch->printer);
	free(batch);
}

static bool is_stack(const struct batch *batch, const struct event_format *format)
{
	return batch->stacks && stack_is(format);
}

bool batch_add(struct batch *batch, const struct merged *merged, bool is_shown)
{
	const struct event *event = &merged->event;
	const size_t room = is_shown ? PRINTER_ROOM(event->size) : 0;

	if ((batch->nr == PRINTER_ITEMS || room > PRINTER_RECORDS - batch->used) && !batch_flush(batch))
		return false;
	struct head *head = &batch->heads[batch->nr];
	*head = (struct head){
		.time = event->time, .tid = event->tid, .pid = event->pid, .cpu = event->cpu, .lost = merged->lost,
		.format = is_shown ? event->format : NULL,
	};
	memcpy(head->name, event->name, sizeof(head->name));
	struct printer_item *item = &batch->items[batch->nr++];
	*item = (struct printer_item){.trace_nr = merged->trace_nr};
	if (is_shown) {
		item->format = is_stack(batch, event->format) ? NULL : event->format;
		item->size = event->size;
		item->record = printer_record(batch->records + batch->used, event->record, event->size);
		batch->used += room;
	}
	return true;
}

/* ---- Lines ---- */

#define BOLD "\33[1m"
#define RED "\33[31m"
#define PLAIN "\33[0m"

static void put_colour(struct batch *batch, const char *colour)
{
	if (batch->style.with_colours)
		line_add(&batch->line, colour, strlen(colour));
}

/* " (+0.000012345)", and of a line that is older than the one before "-". */
static void put_delta(struct batch *batch, uint64_t time)
{
	const uint64_t last = batch->last_time ? batch->last_time : time;
	const uint64_t ns = time >= last ? time - last : last - time;

	line_printf(&batch->line, " (%c%llu.%09llu)", time >= last ? '+' : '-', (unsigned long long)(ns / 1000000000u),
		    (unsigned long long)(ns % 1000000000u));
}

static struct piece *piece_of(struct piece pieces[NR_PIECES], const uint64_t key[3])
{
	const uint64_t hash = (key[0] ^ key[1] ^ key[2]) * UINT64_C(0x9e3779b97f4a7c15);

	return &pieces[hash >> 32 & (NR_PIECES - 1)];
}

static bool put_piece(struct line *line, const struct piece *piece, const uint64_t key[3])
{
	if (!piece->len || memcmp(piece->key, key, sizeof(piece->key)) != 0)
		return false;
	line_add(line, piece->text, piece->len);
	return true;
}

/* It is what the line has from begin on. */
static void keep_piece(struct piece *piece, const uint64_t key[3], const struct line *line, size_t begin)
{
	if (line->len - begin > sizeof(piece->text))
		return;
	memcpy(piece->key, key, sizeof(piece->key));
	piece->len = line->len - begin;
	memcpy(piece->text, line->bytes + begin, piece->len);
}

/* COMM PID/TID */
static void put_thread(struct batch *batch, const struct head *head)
{
	uint64_t key[3] = {(uint64_t)(uint32_t)head->pid << 32 | (uint32_t)head->tid};
	struct line *line = &batch->line;

	memcpy(key + 1, head->name, sizeof(head->name));
	struct piece *piece = piece_of(batch->threads, key);
	if (put_piece(line, piece, key))
		return;
	const int len = (int)strnlen(head->name, sizeof(head->name));
	line_add_blanks(line, batch->name_width - len);
	line_add_escaped(line, head->name, (size_t)len);
	line_add(line, " ", 1);
	line_add_number(line, head->pid, batch->id_width);
	line_add(line, "/", 1);
	line_add_number(line, head->tid, -batch->id_width);
	line_add(line, " ", 1);
	keep_piece(piece, key, line, 0);
}

/* As perf script has it: COMM PID/TID [CPU] TIME: */
static void put_head(struct batch *batch, const struct head *head)
{
	struct line *line = &batch->line;

	*line = (struct line){.bytes = batch->out + batch->out_len};
	put_thread(batch, head);
	if (head->cpu >= 0)
		line_printf(line, "[%03d] ", head->cpu);
	const size_t when = when_show(&batch->when, batch->style.when, head->time);
	line_add(line, batch->when.text, when);
	if (batch->style.with_delta)
		put_delta(batch, head->time);
	batch->last_time = head->time;
	line_add(line, ": ", 2);
}

/* fwrite() would go on where a signal has cut a write short. */
static bool write_all(const char *bytes, size_t len)
{
	while (len) {
		const ssize_t n = write(STDOUT_FILENO, bytes, len);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
		if (len && interrupt_came())
			return false;
	}
	return true;
}

static bool write_lines(struct batch *batch)
{
	const size_t len = batch->out_len;

	batch->out_len = 0;
	if (fflush(stdout) == 0 && write_all(batch->out, len))
		return true;
	batch->is_unread = batch->is_unread || errno == EPIPE;
	return !batch->is_unread && !interrupt_came() && fail_msg("the output can't be written: %s", strerror(errno));
}

static bool end_line(struct batch *batch)
{
	struct line *line = &batch->line;

	line->bytes[line->len++] = '\n';
	batch->out_len += line->len;
	/* On a terminal, an interrupt ends behind a whole line. */
	return (batch->out_len < OUT_BYTES && !batch->style.is_terminal) || write_lines(batch);
}

static bool put_lost(struct batch *batch, const struct head *head)
{
	put_head(batch, head);
	put_colour(batch, RED);
	if (head->lost == TRACE_LOST_UNKNOWN)
		line_printf(&batch->line, "[LOST EVENTS]");
	else
		line_printf(&batch->line, "[LOST %llu EVENTS]", (unsigned long long)head->lost);
	put_colour(batch, PLAIN);
	return end_line(batch);
}

static bool put_stack(struct batch *batch, const struct head *head, const struct printer_item *item,
		      const struct fields *fields)
{
	const struct stack stack = {
		.trace_nr = item->trace_nr, .pid = head->pid, .time = head->time, .record = batch->record, .size = item->size,
	};
	const struct field *field = is_stack(batch, head->format) ? stack_field(fields) : NULL;

	if (field)
		stacks_put(&batch->line, batch->stacks, &stack, field);
	return field != NULL;
}

/* Of what has no text. */
static bool put_fields(struct batch *batch, const struct head *head, const struct printer_item *item)
{
	const struct fields *fields = known_fields_of(&batch->fields, item->trace_nr, head->format);

	if (!fields)
		return false;
	printer_record(batch->record, item->record, item->size);
	if (put_stack(batch, head, item, fields))
		return true;
	if (!batch->style.with_fields)
		line_add(&batch->line, mark, strlen(mark));
	values_add(&batch->line, fields, batch->record, item->size);
	return true;
}

/* SYSTEM:NAME: */
static void put_name(struct batch *batch, const struct event_format *format)
{
	const uint64_t key[3] = {(uintptr_t)format};
	const size_t begin = batch->line.len;
	struct line *line = &batch->line;
	struct piece *piece = piece_of(batch->events, key);
	size_t len;

	if (put_piece(line, piece, key))
		return;
	const char *name = format_event_name(format, &len);
	put_colour(batch, BOLD);
	line_add_escaped(line, format->system, strlen(format->system));
	line_add(line, ":", 1);
	line_add_escaped(line, name, len);
	put_colour(batch, PLAIN);
	line_add(line, ": ", 2);
	keep_piece(piece, key, line, begin);
}

static bool put_event(struct batch *batch, const struct head *head, const struct printer_item *item)
{
	struct line *line = &batch->line;
	size_t len = item->len;

	put_head(batch, head);
	put_name(batch, head->format);
	if (!item->text)
		return put_fields(batch, head, item) && end_line(batch);
	if (len && item->text[len - 1] == '\n')
		len--;
	line_add_escaped(line, item->text, len);
	return end_line(batch);
}

uint64_t batch_last_time(const struct batch *batch)
{
	return batch->last_time;
}

bool batch_is_unread(const struct batch *batch)
{
	return batch->is_unread;
}

bool batch_flush(struct batch *batch)
{
	bool good = true;

	for (size_t done = 0; done < batch->nr && good;) {
		struct printer_item *items = batch->items + done;
		const struct head *heads = batch->heads + done;
		size_t nr = batch->nr - done;
		if (batch->printer)
			nr = printer_print(batch->printer, items, nr);
		for (size_t i = 0; i < nr && good && !interrupt_came(); i++) {
			if (heads[i].lost)
				good = put_lost(batch, &heads[i]);
			if (good && heads[i].format)
				good = put_event(batch, &heads[i], &items[i]);
		}
		done += interrupt_came() ? batch->nr : nr;
	}
	good = good && write_lines(batch);
	batch->nr = batch->used = 0;
	return good;
}
