/* SPDX-License-Identifier: MIT */
/*
 * events/marker_event.c - markers as events: of each name and format the
 * description, and how its records are printed.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <stdlib.h>
#include <string.h>

#include <tp/trace_seq.h>

#include "base/base.h"
#include "base/message.h"
#include "base/text.h"
#include "core/core.h"
#include "events/events.h"
#include "events/field.h"
#include "events/marker_event.h"
#include "events/marker_format.h"
#include "events/marker_record.h"
#include "events/record_words.h"
#include "print/description.h"

#define CLASS_BUCKETS 256

/*
 * All markers of a name and format. Never freed: modules come back, and
 * records may be printed when their module is gone.
 */
struct marker_class {
	struct marker_class *next; /* of the same hash */
	struct tracepoint on;      /* only says name, format and iterator: those with the sites are the modules' */
	struct tp_marker_event described;
	const struct tp_event_field *fields;
	bool usable;      /* its arguments can be recorded */
	const char *rest; /* the text behind the last */
};

static struct marker_class *classes[CLASS_BUCKETS];

static struct marker_class *class_of(const struct tp_event *event)
{
	return (struct marker_class *)((uintptr_t)event - offsetof(struct marker_class, described.event));
}

/* ---- Printing ---- */

static void print_conversion(struct trace_seq *p, const struct tp_conversion *c, const struct tp_event_field *f,
			     const char *entry)
{
	const void *at = entry + f->offset;

	switch (c->argument) {
	case TP_ARGUMENT_INT:
		trace_seq_printf(p, c->text, (int)tp_field_load(f, at));
		break;
	case TP_ARGUMENT_LONG:
		trace_seq_printf(p, c->text, (long)tp_field_load(f, at));
		break;
	case TP_ARGUMENT_LONG_LONG:
		trace_seq_printf(p, c->text, (long long)tp_field_load(f, at));
		break;
	case TP_ARGUMENT_DOUBLE:
	case TP_ARGUMENT_LONG_DOUBLE:
		trace_seq_printf(p, c->text, *(const double *)at);
		break;
	case TP_ARGUMENT_POINTER:
		trace_seq_printf(p, c->text, *(void *const *)at);
		break;
	case TP_ARGUMENT_STRING:
		trace_seq_printf(p, c->text, entry + (*(const tp_data_loc_t *)at & 0xffff));
		break;
	}
}

static void print(struct trace_seq *p, const void *entry)
{
	const struct tp_event *event = tp_by_id(((const struct trace_entry *)entry)->type);

	if (!event)
		return;
	const struct marker_class *class = class_of(event);
	for (uint32_t i = 0; i < event->event_class->nr_fields; i++)
		print_conversion(p, &class->described.conversions[i], &class->fields[i], entry);
	trace_seq_printf(p, class->rest, 0); /* the argument is for compilers, who want one */
}

/* ---- Classes ---- */

/* Copies size bytes to *at, which moves behind them. */
static void *copy(char **at, const void *from, size_t size)
{
	void *to = *at;

	if (size)
		memcpy(to, from, size);
	*at += size;
	return to;
}

/* NULL: no memory. Copies all: the module may go. */
static struct marker_class *class_create(const struct marker *marker, const struct tp_marker_format *parsed)
{
	const size_t name_size = strlen(marker->tp.name) + 1, format_size = strlen(marker->format) + 1;
	const size_t file_size = strlen(marker->tp.file) + 1;
	const size_t fields_size = parsed->nr * sizeof(parsed->fields[0]);
	const size_t conversions_size = parsed->nr * sizeof(parsed->conversions[0]);
	const size_t steps_size = parsed->nr * sizeof(struct tp_word_step);
	struct marker_class *class = tp_malloc(sizeof(*class) + fields_size + conversions_size + steps_size +
					       name_size + format_size + file_size);
	struct tp_event_class *description = tp_class_new(&(struct tp_class_parts){
		.fields = parsed->fields, .nr_fields = parsed->print_fmt ? parsed->nr : 0, .fixed_size = parsed->fixed_size,
		.print_fmt = parsed->print_fmt ? parsed->print_fmt : "", /* there is none of what can't be recorded */
	});
	if (!class || !description) {
		free(class);
		free(description);
		return NULL;
	}
	char *at = (char *)(class + 1);
	const struct tp_event_field *fields = copy(&at, parsed->fields, fields_size);
	const struct tp_conversion *conversions = copy(&at, parsed->conversions, conversions_size);
	struct tp_word_step *steps = (struct tp_word_step *)(void *)at;
	at += steps_size;
	*class = (struct marker_class){.fields = fields, .rest = parsed->rest};
	class->on = (struct tracepoint){
		.line = marker->tp.line, .name = copy(&at, marker->tp.name, name_size),
		.proto = copy(&at, marker->format, format_size), .file = copy(&at, marker->tp.file, file_size),
	};
	class->described.event = (struct tp_event){
		.system = "marker", .name = class->on.name + strlen(TP_MARKER_PREFIX),
		.event_class = description, .tracepoint = &class->on, .record = (tp_probe_t)tp_marker_record, .print = print,
		.loglevel = TP_LOGLEVEL_DEBUG_LINE,
	};
	tp_marker_plan(&class->described, steps, conversions, parsed);
	return class;
}

/* The new class, linked; NULL: no memory, and that was said. */
static struct marker_class *class_add(const struct marker *marker, struct marker_class **bucket)
{
	struct tp_marker_format parsed;
	const char *wrong = tp_marker_format_parse(&parsed, marker->format, sizeof(long));
	struct marker_class *class = parsed.strings.failed ? NULL : class_create(marker, &parsed);

	if (!class) {
		tp_complain("marker '%s' (%s:%d) is no event: out of memory", marker->name, marker->tp.file,
			    marker->tp.line);
	} else {
		class->usable = !wrong;
		class->next = *bucket;
		*bucket = class;
		if (wrong)
			tp_complain("marker '%s' (%s:%d) has probes, but is no event: '%s' in its format can't be "
				    "recorded; write conversions of d i u o x X c p s e f g a, up to %d",
				    marker->name, marker->tp.file, marker->tp.line, wrong, TP_MARKER_ARGS_MAX);
	}
	if (!class || wrong) /* else they are the class's */
		tp_buffer_free(&parsed.strings);
	return class;
}

/* NULL: there is none; a message has said why. */
static struct tp_event *event_of(const struct marker *marker)
{
	struct marker_class **bucket = &classes[tp_hash(marker->name) % CLASS_BUCKETS];
	struct marker_class *class = *bucket;

	while (class &&
	       (strcmp(class->described.event.name, marker->name) != 0 || strcmp(class->on.proto, marker->format) != 0))
		class = class->next;
	if (!class)
		class = class_add(marker, bucket);
	return class && class->usable ? &class->described.event : NULL;
}

void tp_marker_describe(struct marker *marker)
{
	marker->event = event_of(marker);
	tp_marker_shorten(marker);
	if (marker->event && !class_of(marker->event)->on.iterate)
		class_of(marker->event)->on.iterate = marker->tp.iterate;
}

struct tp_event *tp_marker_event(const struct tracepoint *tp)
{
	const struct marker *marker = (const struct marker *)tp;

	return marker && tp->registered ? marker->event : NULL;
}
