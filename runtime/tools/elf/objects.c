/* SPDX-License-Identifier: MIT */
#include "elf/objects.h"

#include <stdlib.h>
#include <string.h>

#include "print/description.h"

#define TEXT_MAX ((uint32_t)1 << 24) /* bytes of the numbers of a class, and of its tables */
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
	    !number_at(objects, address + EVENT_LEVEL, &level) ||
	    level > TP_LOGLEVEL_DEBUG)
		return false;
	event->loglevel = (enum tp_loglevel)level;
	return true;
}

/* Bytes from the class's start to its texts, if they may be the parts of one in front of them. */
static uint32_t text_of(const struct tp_event_class *class)
{
	const uint64_t numbers = class->head_size + (uint64_t)class->nr_fields * class->numbers_size;

	return class->head_size >= sizeof(*class) && class->numbers_size >= sizeof(struct tp_field_numbers) &&
			       class->numbers_size % 8 == 0 && class->head_size % 8 == 0 && class->text <= TEXT_MAX &&
			       numbers + class->nr_evals * sizeof(struct tp_eval) <= class->text
		       ? class->text : 0;
}

static bool is_sensible(const struct tp_event_field *field)
{
	return field->type_class <= TP_OTHER && (field->element_size || !field->size);
}

/* Appends the texts to the copy. NULL: they are not all there. */
static struct tp_event_class *add_texts(struct objects *objects, struct tp_event_class *class, uint64_t address)
{
	const size_t nr = 2 * (size_t)class->nr_fields + class->nr_evals + 1;
	size_t size = class->text, room = size;
	bool good = true;

	for (size_t i = 0; good && i < nr; i++) {
		char *text = image_read_string(objects->image, address + size);
		const size_t more = text ? strlen(text) + 1 : 0;
		struct tp_event_class *longer = class;
		good = more && spend(objects, more);
		if (good && size + more > room) {
			room = 2 * (size + more);
			longer = realloc(class, room);
			good = longer;
		}
		if (good) {
			class = longer;
			memcpy((char *)class + size, text, more);
			size += more;
		}
		free(text);
	}
	if (!good)
		free(class);
	return good ? class : NULL;
}

/* Each name in a text is compared with each eval. */
static bool may_evaluate(struct objects *objects, const struct tp_event_class *class)
{
	return spend(objects, (uint64_t)(tp_class_size(class) - class->text) * class->nr_evals / 8);
}

static bool check(struct objects *objects, struct tp_event_class *class)
{
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		char *numbers = (char *)class + class->head_size + (size_t)i * class->numbers_size;
		((struct tp_field_numbers *)(void *)numbers)->symbols = 0; /* nobody asks for them, and they may be anything */
	}
	struct tp_event_field *fields = tp_class_fields(class);
	bool good = fields || !class->nr_fields;
	for (uint32_t i = 0; good && i < class->nr_fields; i++)
		good = is_sensible(&fields[i]);
	free(fields);
	return good && may_evaluate(objects, class);
}

const struct tp_event_class *objects_class(struct objects *objects, uint64_t event)
{
	struct tp_event_class head;
	uint64_t address;

	if (!image_read_pointer(objects->image, event + EVENT_CLASS, &address) ||
	    !image_read(objects->image, address, &head, sizeof(head)) || !text_of(&head) || !spend(objects, head.text))
		return NULL;
	struct tp_event_class *class = malloc(head.text);
	if (!class || !image_read(objects->image, address, class, head.text)) {
		free(class);
		return NULL;
	}
	class = add_texts(objects, class, address);
	class = keep(objects, class, 0);
	return class && check(objects, class) ? class : NULL;
}
