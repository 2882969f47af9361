/* SPDX-License-Identifier: MIT */
#include "elf/objects.h"

#include <stdlib.h>
#include <string.h>

/* A record has at most 65528 bytes, and a field at least one, unless it is an empty array. */
#define FIELDS_MAX 65535u
#define EVALS_MAX 65535u
#define FIELD_SIZE_MAX 4096u
#define OBJECT_COST 64u /* that of a copy besides its bytes, so that empty ones end, too */

/* ---- Copies ---- */

static bool spend(struct objects *objects, uint64_t size)
{
	const uint64_t cost = size + OBJECT_COST;
	const bool enough = cost <= objects->budget;

	objects->budget -= enough ? cost : objects->budget;
	return enough;
}

/* Takes over the memory; NULL if it is NULL, or is not to be had. */
static void *keep(struct objects *objects, void *memory, uint64_t size)
{
	const size_t nr = objects->nr_kept;
	bool good = memory && spend(objects, size);

	/* Twice as many whenever their number is a power of two. */
	if (good && (nr & (nr - 1)) == 0) {
		void **kept = reallocarray(objects->kept, nr ? 2 * nr : 1, sizeof(*kept));
		objects->kept = kept ? kept : objects->kept;
		good = kept;
	}
	if (!good) {
		free(memory);
		return NULL;
	}
	objects->kept[objects->nr_kept++] = memory;
	return memory;
}

void objects_release(struct objects *objects)
{
	for (size_t i = 0; i < objects->nr_kept; i++)
		free(objects->kept[i]);
	free(objects->kept);
	objects->kept = NULL;
	objects->nr_kept = 0;
}

/* The text to which the pointer at an address leads; NULL for no pointer, too. */
static const char *text_at(struct objects *objects, uint64_t address)
{
	uint64_t at;

	if (!image_read_pointer(objects->image, address, &at) || !at)
		return NULL;
	char *text = image_read_string(objects->image, at);
	return keep(objects, text, text ? strlen(text) : 0);
}

static bool number_at(struct objects *objects, uint64_t address, uint32_t *number)
{
	return image_read(objects->image, address, number, sizeof(*number));
}

/* ---- Structures ---- */

bool objects_tracepoint(struct objects *objects, uint64_t address, struct tracepoint *tp)
{
	uint32_t line;
	uint64_t file;

	*tp = (struct tracepoint){.name = text_at(objects, address + TRACEPOINT_NAME),
				  .proto = text_at(objects, address + TRACEPOINT_PROTO)};
	if (!tp->name || !tp->proto || !number_at(objects, address + TRACEPOINT_LINE, &line) ||
	    !image_read_pointer(objects->image, address + TRACEPOINT_FILE, &file))
		return false;
	tp->line = (int)(line & INT32_MAX);
	tp->file = file ? text_at(objects, address + TRACEPOINT_FILE) : NULL;
	return !file || tp->file;
}

bool objects_event(struct objects *objects, uint64_t address, struct tp_event *event)
{
	uint32_t level = TP_LOGLEVEL_DEBUG_LINE;

	*event = (struct tp_event){.system = text_at(objects, address + EVENT_SYSTEM),
				   .name = text_at(objects, address + EVENT_NAME)};
	if (!event->system || !event->name ||
	    (objects->layout->event_level && !number_at(objects, address + objects->layout->event_level, &level)) ||
	    level > TP_LOGLEVEL_DEBUG)
		return false;
	event->loglevel = (enum tp_loglevel)level;
	return true;
}

static bool read_field(struct objects *objects, uint64_t address, struct tp_event_field *field)
{
	uint32_t kind = 0, class = 0;
	uint8_t relative = 0, is_signed = 0;

	field->name = text_at(objects, address + FIELD_NAME);
	field->type = text_at(objects, address + FIELD_TYPE);
	if (!field->name || !field->type || !number_at(objects, address + FIELD_KIND, &kind) ||
	    !image_read(objects->image, address + FIELD_RELATIVE, &relative, sizeof(relative)) ||
	    !number_at(objects, address + FIELD_TYPE_CLASS, &class) ||
	    !number_at(objects, address + FIELD_OFFSET, &field->offset) ||
	    !number_at(objects, address + FIELD_SIZE, &field->size) ||
	    !number_at(objects, address + FIELD_ELEMENT_SIZE, &field->element_size) ||
	    !image_read(objects->image, address + FIELD_IS_SIGNED, &is_signed, sizeof(is_signed)))
		return false;
	field->kind = (enum tp_field_kind)kind;
	field->type_class = (enum tp_field_class)class;
	field->relative = relative;
	field->is_signed = is_signed;
	return kind <= TP_SOCKADDR && class <= TP_OTHER && (field->element_size || !field->size);
}

static bool read_fields(struct objects *objects, uint64_t class, struct tp_event_class *event_class)
{
	const struct layout *layout = objects->layout;
	uint32_t size = 0;
	uint64_t address;

	if (!number_at(objects, class + CLASS_NR_FIELDS, &event_class->nr_fields) ||
	    event_class->nr_fields > FIELDS_MAX ||
	    !image_read_pointer(objects->image, class + CLASS_FIELDS, &address) ||
	    (layout->class_field_size && !number_at(objects, class + layout->class_field_size, &size)))
		return false;
	if (!event_class->nr_fields)
		return true;
	size = size ? size : layout->field_size;
	if (size < layout->field_size || size > FIELD_SIZE_MAX)
		return false;
	const size_t nr = event_class->nr_fields;
	struct tp_event_field *fields = keep(objects, calloc(nr, sizeof(*fields)), nr * sizeof(*fields));
	event_class->fields = fields;
	for (size_t i = 0; fields && i < nr; i++) {
		if (!read_field(objects, address + i * size, &fields[i]))
			return false;
	}
	return fields;
}

/* How many evals there are before the NULL name; EVALS_MAX + 1: there is none. */
static size_t count_evals(struct objects *objects, uint64_t address)
{
	uint64_t name = 1;
	size_t nr = 0;

	while (nr <= EVALS_MAX && image_read_pointer(objects->image, address + nr * EVAL_SIZE, &name) && name)
		nr++;
	return name ? EVALS_MAX + 1 : nr;
}

static bool read_evals(struct objects *objects, uint64_t class, struct tp_event_class *event_class)
{
	uint64_t address;

	if (!image_read_pointer(objects->image, class + objects->layout->class_evals, &address))
		return false;
	if (!address)
		return true;
	const size_t nr = count_evals(objects, address);
	if (nr > EVALS_MAX)
		return false;
	struct tp_eval *evals = keep(objects, calloc(nr + 1, sizeof(*evals)), (nr + 1) * sizeof(*evals));
	event_class->evals = evals;
	for (size_t i = 0; evals && i < nr; i++) {
		int64_t value;
		evals[i].name = text_at(objects, address + i * EVAL_SIZE + EVAL_NAME);
		if (!evals[i].name ||
		    !image_read(objects->image, address + i * EVAL_SIZE + EVAL_VALUE, &value, sizeof(value)))
			return false;
		evals[i].value = value;
	}
	return evals;
}

/* Each name in a text is compared with each eval. */
static bool may_evaluate(struct objects *objects, const struct tp_event_class *event_class)
{
	uint64_t len = strlen(event_class->print_fmt);
	uint64_t nr = 0;

	for (uint32_t i = 0; i < event_class->nr_fields; i++)
		len += strlen(event_class->fields[i].type);
	while (event_class->evals && event_class->evals[nr].name)
		nr++;
	return spend(objects, len * nr / 8);
}

bool objects_class(struct objects *objects, uint64_t event, struct tp_event_class *event_class)
{
	uint64_t class;

	*event_class = (struct tp_event_class){.field_size = sizeof(struct tp_event_field)};
	if (!image_read_pointer(objects->image, event + EVENT_CLASS, &class) || !class)
		return false;
	event_class->print_fmt = text_at(objects, class + objects->layout->class_print_fmt);
	return event_class->print_fmt && read_fields(objects, class, event_class) &&
	       read_evals(objects, class, event_class) && may_evaluate(objects, event_class);
}
