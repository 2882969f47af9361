/* SPDX-License-Identifier: MIT */
/* libtraceevent.c - see interpreter.h. The library may crash on a text, or take for ever: printer.c is prepared for it. */
#include <event-parse.h>
#include <stdlib.h>
#include <trace-seq.h>
#include <unistd.h>

#include "dat/print_fmt.h"
#include "report/interpreter.h"
#include "report/limits.h"

const bool interpreter_is_there = true;

struct interpreter {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct limits *limits[NR_EVENT_IDS]; /* of those that the library has seen */
};

struct interpreter *interpreter_new(void)
{
	struct interpreter *interpreter = calloc(1, sizeof(*interpreter));

	if (!interpreter)
		return NULL;
	interpreter->tep = tep_alloc();
	trace_seq_init(&interpreter->seq);
	if (!interpreter->tep || !interpreter->seq.buffer)
		return NULL; /* the process ends */
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(interpreter->tep, sizeof(long));
	tep_set_page_size(interpreter->tep, 4096);
	tep_set_file_bigendian(interpreter->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(interpreter->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	return interpreter;
}

static void parse(struct interpreter *interpreter, const struct event_format *format)
{
	struct limits *limits = malloc(sizeof(*limits));
	bool is_whole;
	size_t len;

	if (!limits || !limits_of(limits, format))
		_exit(1);
	interpreter->limits[format->id] = limits;
	char *text = print_fmt_for_readers(format->text, format->len, &len, &is_whole);
	limits->is_printable = limits->is_printable && text && is_whole &&
			       tep_parse_event(interpreter->tep, text, len, format->system) == 0;
	free(text);
}

const char *interpreter_text(struct interpreter *interpreter, const struct event_format *format,
			     unsigned char *record, uint32_t size, size_t *len)
{
	struct tep_record tep_record = {.record_size = (int)size, .size = (int)size, .data = record};
	struct trace_seq *seq = &interpreter->seq;

	if (!interpreter->limits[format->id])
		parse(interpreter, format);
	if (!limits_allow(interpreter->limits[format->id], record))
		return NULL;
	const struct tep_event *event = tep_find_event(interpreter->tep, (int)format->id);
	if (!event || (unsigned int)event->flags & TEP_EVENT_FL_FAILED)
		return NULL;
	trace_seq_reset(seq);
	tep_print_event(interpreter->tep, seq, &tep_record, "%s", TEP_PRINT_INFO);
	if ((unsigned int)event->flags & TEP_EVENT_FL_FAILED || seq->state != TRACE_SEQ__GOOD)
		return NULL;
	*len = seq->len;
	return seq->buffer;
}
