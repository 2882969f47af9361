/* SPDX-License-Identifier: MIT */
#include "elf/definition.h"

#include <stdlib.h>
#include <string.h>

#include <tp/module.h>

#include "print/description.h"

#define TEXT_MAX ((uint32_t)1 << 24) /* bytes of the numbers of a class, and of its tables */
#define COPY_COST 64u /* that of a copy besides its bytes, so that empty ones end, too */

static bool spend(uint64_t *budget, uint64_t size)
{
	const uint64_t cost = size + COPY_COST;
	const bool enough = cost <= *budget;

	*budget -= enough ? cost : *budget;
	return enough;
}

/* ---- The definition ---- */

/* Where a distance leads that is at this place in the definition at an address; 0: nowhere. */
static uint64_t place_of(uint64_t address, size_t place, int32_t distance)
{
	return distance ? address + place + (uint64_t)(int64_t)distance : 0;
}

static bool read_texts(struct image *image, uint64_t address, struct definition *to, uint64_t *budget)
{
	size_t size;

	to->name = image_read_texts(image, address, 4, &size);
	if (!to->name || !spend(budget, size))
		return false;
	to->proto = to->name + strlen(to->name) + 1;
	to->file = to->proto + strlen(to->proto) + 1;
	to->system = to->file + strlen(to->file) + 1;
	return true;
}

bool definition_read(struct image *image, uint64_t address, struct definition *to, uint64_t *budget)
{
	struct tp_definition read;

	*to = (struct definition){.name = NULL};
	if (!image_read(image, address, &read, sizeof(read)) || read.line < 0 || read.loglevel < 0 ||
	    read.loglevel > TP_LOGLEVEL_DEBUG)
		return false;
	to->line = read.line;
	to->level = (enum tp_loglevel)read.loglevel;
	to->event_class = place_of(address, offsetof(struct tp_definition, event_class), read.event_class);
	return read_texts(image, place_of(address, offsetof(struct tp_definition, text), read.text), to, budget);
}

/* Of two pointers and a line, padded to 8 bytes. */
uint64_t definition_pointers_size(const struct image *image)
{
	return image_is_32_bit(image) ? 16 : 24;
}

bool definition_read_pointers(struct image *image, uint64_t address, struct definition *to, uint64_t *budget)
{
	const size_t pointer = image_is_32_bit(image) ? sizeof(uint32_t) : sizeof(uint64_t);
	uint64_t text = 0;
	int32_t line;

	*to = (struct definition){.level = TP_LOGLEVEL_DEBUG_LINE};
	if (!image_read(image, address + pointer, &text, pointer) ||
	    !image_read(image, address + 2 * pointer, &line, sizeof(line)) || line < 0)
		return false;
	to->line = line;
	return !text || read_texts(image, text, to, budget);
}

void definition_free(struct definition *definition)
{
	free((char *)(uintptr_t)definition->name);
}

/* ---- Its class ---- */

/* Bytes from the class's start to its texts, if they may be the parts of one in front of them. */
static uint32_t text_of(const struct tp_event_class *class)
{
	const uint64_t numbers = class->head_size + (uint64_t)class->nr_fields * class->numbers_size;

	return class->head_size >= sizeof(*class) && class->numbers_size >= sizeof(struct tp_field_numbers) &&
			       class->numbers_size % 8 == 0 && class->head_size % 8 == 0 && class->text <= TEXT_MAX &&
			       numbers + class->nr_evals * sizeof(struct tp_eval) <= class->text
		       ? class->text : 0;
}

/* Nobody asks for the tables of symbols, which may be anything. */
static void forget_symbols(struct tp_event_class *class)
{
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		char *numbers = (char *)class + class->head_size + (size_t)i * class->numbers_size;
		((struct tp_field_numbers *)(void *)numbers)->symbols = 0;
	}
}

static bool is_sensible(const struct tp_event_class *class)
{
	struct tp_event_field *fields = tp_class_fields(class);
	bool good = fields || !class->nr_fields;

	for (uint32_t i = 0; good && i < class->nr_fields; i++)
		good = fields[i].type_class <= TP_OTHER && (fields[i].element_size || !fields[i].size);
	free(fields);
	return good;
}

struct tp_event_class *definition_class(struct image *image, const struct definition *definition, uint64_t *budget)
{
	const uint64_t at = definition->event_class;
	struct tp_event_class head, *class = NULL;
	size_t size;

	if (!image_read(image, at, &head, sizeof(head)) || !text_of(&head))
		return NULL;
	char *texts = image_read_texts(image, at + head.text, 2 * (size_t)head.nr_fields + head.nr_evals + 1, &size);
	/* Each name in a text is compared with each eval. */
	if (texts && spend(budget, head.text + size + (uint64_t)size * head.nr_evals / 8))
		class = malloc(head.text + size);
	bool good = class && image_read(image, at, class, head.text);
	if (good) {
		memcpy((char *)class + head.text, texts, size);
		forget_symbols(class);
		good = is_sensible(class);
	}
	free(texts);
	if (!good)
		free(class);
	return good ? class : NULL;
}
