/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/describe.c - an event as LTTng wants it described: what a compiled
 * LTTng provider has in its data section, made of a struct tp_event.
 *
 * LTTng 2.13 knows integers of 8 to 64 bits, float and double, enumerations,
 * text, and arrays and sequences of integers only: so elements that are no
 * integers become integers with the same bits, or bytes.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "events/field.h"
#include "sinks/lttng/lttng.h"

#ifdef TP_HAS_LTTNG

/* What LTTng cuts names at, the NUL included. */
#define NAME_SIZE 256

/* In each tracepoint and description: no compiled provider's, whose functions want other arguments. */
static const char signature[] = "struct tp_record *, record";

struct builder {
	struct tp_lttng_arena *arena;
	const struct lttng_ust_probe_desc *provider;
	const struct tp_event_class *class;
	struct tp_lttng_event *event;
	bool failed; /* no memory */
};

static void *alloc(struct builder *b, size_t size)
{
	void *memory = tp_lttng_alloc(b->arena, size);

	b->failed = b->failed || !memory;
	return memory;
}

static const char *copy(struct builder *b, const char *text)
{
	char *memory = tp_lttng_strdup(b->arena, text);

	b->failed = b->failed || !memory;
	return memory;
}

/* ---- What is known of a field ---- */

static bool is_text(const struct tp_event_field *f)
{
	return f->is_char && f->element_size == 1 && f->kind != TP_STRUCT;
}

/* The integers that the field, or its elements, are for LTTng. */
struct integer {
	uint32_t size; /* bytes */
	bool is_signed;
	unsigned int base;
};

static struct integer integer_of(const struct tp_event_field *f)
{
	if (tp_field_is_integer(f))
		return (struct integer){f->element_size, f->is_signed, tp_field_is_hexadecimal(f) ? 16 : 10};
	if (tp_field_is_float(f))
		return (struct integer){f->element_size, false, 16};
	return (struct integer){1, false, 16};
}

static uint8_t shift_of(uint32_t size)
{
	return (uint8_t)__builtin_ctz(size);
}

/* In ring buffers, which are packed where the processor does not mind. */
static unsigned int align_of(uint32_t size)
{
#ifdef LTTNG_UST_RING_BUFFER_NATURAL_ALIGN
	return size;
#else
	(void)size;
	return 1;
#endif
}

/* ---- Types ---- */

static const struct lttng_ust_type_common *new_integer(struct builder *b, struct integer integer)
{
	struct lttng_ust_type_integer *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_integer){
		.parent.type = lttng_ust_type_integer,
		.struct_size = sizeof(*type),
		.size = integer.size * CHAR_BIT,
		.alignment = (unsigned short)(align_of(integer.size) * CHAR_BIT),
		.signedness = integer.is_signed,
		.base = integer.base,
	};
	return &type->parent;
}

static const struct lttng_ust_type_common *new_float(struct builder *b, uint32_t size)
{
	struct lttng_ust_type_float *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_float){
		.parent.type = lttng_ust_type_float,
		.struct_size = sizeof(*type),
		.exp_dig = size == sizeof(float) ? 8 : 11,
		.mant_dig = size == sizeof(float) ? FLT_MANT_DIG : DBL_MANT_DIG,
		.alignment = (unsigned short)(align_of(size) * CHAR_BIT),
	};
	return &type->parent;
}

static const struct lttng_ust_type_common *new_string(struct builder *b)
{
	struct lttng_ust_type_string *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_string){
		.parent.type = lttng_ust_type_string,
		.struct_size = sizeof(*type),
		.encoding = lttng_ust_string_encoding_UTF8,
	};
	return &type->parent;
}

static enum lttng_ust_string_encoding encoding_of(const struct tp_event_field *f)
{
	return is_text(f) ? lttng_ust_string_encoding_UTF8 : lttng_ust_string_encoding_none;
}

static const struct lttng_ust_type_common *new_array(struct builder *b, const struct tp_event_field *f,
						     uint32_t length)
{
	struct lttng_ust_type_array *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_array){
		.parent.type = lttng_ust_type_array,
		.struct_size = sizeof(*type),
		.elem_type = new_integer(b, integer_of(f)),
		.length = length,
		.encoding = encoding_of(f),
	};
	return &type->parent;
}

/* Its length is the field in front of it. */
static const struct lttng_ust_type_common *new_sequence(struct builder *b, const struct tp_event_field *f)
{
	struct lttng_ust_type_sequence *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_sequence){
		.parent.type = lttng_ust_type_sequence,
		.struct_size = sizeof(*type),
		.elem_type = new_integer(b, integer_of(f)),
		.encoding = encoding_of(f),
	};
	return &type->parent;
}

/* ---- Enumerations ---- */

static unsigned int count_shown(const struct tp_event_field *f)
{
	unsigned int nr = 0;

	for (struct tp_named_value s = {.nr = 0}; tp_named_value_next(f->symbols, &s);)
		nr += tp_field_shows(f, &s);
	return nr;
}

static const struct lttng_ust_enum_entry *new_entry(struct builder *b, const struct tp_event_field *f,
						    const struct tp_named_value *symbol)
{
	struct lttng_ust_enum_entry *entry = alloc(b, sizeof(*entry));
	struct lttng_ust_enum_value value = {.value = symbol->value, .signedness = f->is_signed};

	if (!entry)
		return NULL;
	if (f->is_signed && symbol->value <= ULONG_MAX)
		value.value = (unsigned long long)(long)symbol->value;
	*entry = (struct lttng_ust_enum_entry){
		.struct_size = sizeof(*entry),
		.start = value,
		.end = value,
		.string = copy(b, symbol->name),
	};
	return entry;
}

static const struct lttng_ust_enum_desc *new_enum_desc(struct builder *b, const struct tp_event_field *f,
						       unsigned int nr)
{
	const struct lttng_ust_enum_entry **entries = alloc(b, nr * sizeof(const struct lttng_ust_enum_entry *));
	struct lttng_ust_enum_desc *desc = alloc(b, sizeof(*desc));
	char name[NAME_SIZE];

	if (!entries || !desc)
		return NULL;
	unsigned int at = 0;
	for (struct tp_named_value s = {.nr = 0}; tp_named_value_next(f->symbols, &s);) {
		if (tp_field_shows(f, &s))
			entries[at++] = new_entry(b, f, &s);
	}
	snprintf(name, sizeof(name), "%s_%s_%s", b->provider->provider_name, b->event->desc.event_name, f->name);
	*desc = (struct lttng_ust_enum_desc){
		.struct_size = sizeof(*desc),
		.name = copy(b, name),
		.entries = entries,
		.nr_entries = nr,
		.probe_desc = b->provider,
	};
	return desc;
}

static const struct lttng_ust_type_common *new_enum(struct builder *b, const struct tp_event_field *f,
						    unsigned int nr)
{
	struct lttng_ust_type_enum *type = alloc(b, sizeof(*type));

	if (!type)
		return NULL;
	*type = (struct lttng_ust_type_enum){
		.parent.type = lttng_ust_type_enum,
		.struct_size = sizeof(*type),
		.desc = new_enum_desc(b, f, nr),
		.container_type = new_integer(b, integer_of(f)),
	};
	return &type->parent;
}

/* ---- Fields ---- */

/* LTTng puts an underscore in front, and babeltrace2 takes one away: so one more than another's is the same. */
static bool is_named_before(const struct builder *b, const char *name)
{
	for (unsigned int i = 0; i < b->event->tp_class.nr_fields; i++) {
		const char *before = b->event->fields[i]->name;
		if (strcmp(before, name) == 0 || (before[0] == '_' && strcmp(before + 1, name) == 0))
			return true;
	}
	return false;
}

/* The name as LTTng's metadata can have it, no other field's. */
static const char *name_in_metadata(struct builder *b, const char *name)
{
	struct tp_buffer text = {.text = NULL};
	const char *result = NULL;

	tp_field_put_name(&text, name);
	const size_t len = text.len;
	for (unsigned int i = 2; !text.failed && is_named_before(b, text.text); i++) {
		text.len = len;
		tp_buffer_printf(&text, "_%u", i);
	}
	if (text.failed)
		b->failed = true;
	else
		result = copy(b, text.text);
	tp_buffer_free(&text);
	return result;
}

static void add_field(struct builder *b, const char *name, const struct lttng_ust_type_common *type, bool nofilter)
{
	struct lttng_ust_event_field *field = alloc(b, sizeof(*field));

	if (!field)
		return;
	*field = (struct lttng_ust_event_field){
		.struct_size = sizeof(*field),
		.name = name_in_metadata(b, name),
		.type = type,
		.nofilter = nofilter,
	};
	b->event->fields[b->event->tp_class.nr_fields++] = field;
}

/* Two neighbours in the record that are neighbours in the ring buffer, too, are written at once. */
static void add_piece(struct builder *b, struct tp_lttng_piece piece)
{
	struct tp_lttng_event *event = b->event;
	struct tp_lttng_piece *last = event->nr_pieces ? &event->pieces[event->nr_pieces - 1] : NULL;

	if (last && last->kind == TP_LTTNG_BYTES && piece.kind == TP_LTTNG_BYTES && piece.align == 1 &&
	    last->offset + last->size == piece.offset) {
		last->size += piece.size;
		return;
	}
	if (event->align < piece.align)
		event->align = piece.align;
	event->pieces[event->nr_pieces++] = piece;
}

static void add_operand(struct builder *b, struct tp_lttng_operand operand)
{
	b->event->operands[b->event->nr_operands++] = operand;
}

static void add_scalar(struct builder *b, const struct tp_event_field *f)
{
	unsigned int nr_names = tp_field_is_integer(f) && !f->delimiter ? count_shown(f) : 0;
	const struct lttng_ust_type_common *type;

	if (tp_field_is_float(f))
		type = new_float(b, f->element_size);
	else
		type = nr_names ? new_enum(b, f, nr_names) : new_integer(b, integer_of(f));
	add_field(b, f->name, type, false);
	add_piece(b, (struct tp_lttng_piece){.kind = TP_LTTNG_BYTES, .align = align_of(f->size), .offset = f->offset,
					  .size = f->size});
	add_operand(b, (struct tp_lttng_operand){
		.kind = tp_field_is_float(f) ? TP_LTTNG_FLOAT : f->is_signed ? TP_LTTNG_SIGNED : TP_LTTNG_UNSIGNED,
		.shift = shift_of(f->size), .offset = f->offset});
}

static void add_array(struct builder *b, const struct tp_event_field *f)
{
	uint32_t size = integer_of(f).size;

	if (!f->size) /* readers know no array without elements */
		return;
	add_field(b, f->name, new_array(b, f, f->size / size), false);
	add_piece(b, (struct tp_lttng_piece){.kind = TP_LTTNG_BYTES, .align = align_of(size), .offset = f->offset,
					  .size = f->size});
	add_operand(b, (struct tp_lttng_operand){.kind = TP_LTTNG_ARRAY, .shift = shift_of(size), .offset = f->offset,
					      .length = f->size / size});
}

static void add_string(struct builder *b, const struct tp_event_field *f)
{
	add_field(b, f->name, new_string(b), false);
	add_piece(b, (struct tp_lttng_piece){.kind = TP_LTTNG_STRING, .relative = f->relative, .align = 1,
					  .offset = f->offset});
	add_operand(b, (struct tp_lttng_operand){.kind = TP_LTTNG_OPERAND_STRING, .relative = f->relative,
					      .offset = f->offset});
}

static bool is_taken(const struct tp_event_class *class, const char *name)
{
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		if (strcmp(tp_event_field_at(class, i).name, name) == 0)
			return true;
	}
	return false;
}

/* As LTTng's own providers name it, with more underscores in front where the event has such a field. */
static void add_length(struct builder *b, const struct tp_event_field *f)
{
	static const char underscores[] = "________________";
	const char *front = underscores + sizeof(underscores) - 2;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s%s_length", front, f->name);
	while (is_taken(b->class, name) && front > underscores)
		snprintf(name, sizeof(name), "%s%s_length", --front, f->name);
	add_field(b, name, new_integer(b, (struct integer){sizeof(tp_lttng_length_t), false, 10}), true);
}

static void add_sequence(struct builder *b, const struct tp_event_field *f)
{
	uint32_t size = integer_of(f).size;

	add_length(b, f);
	add_field(b, f->name, new_sequence(b, f), false);
	add_piece(b, (struct tp_lttng_piece){.kind = TP_LTTNG_SEQUENCE, .relative = f->relative, .shift = shift_of(size),
					  .align = align_of(size), .offset = f->offset});
	if (b->event->align < align_of(sizeof(tp_lttng_length_t)))
		b->event->align = align_of(sizeof(tp_lttng_length_t));
	add_operand(b, (struct tp_lttng_operand){.kind = TP_LTTNG_OPERAND_SEQUENCE, .relative = f->relative,
					      .shift = shift_of(size), .offset = f->offset});
}

static void add(struct builder *b, const struct tp_event_field *f)
{
	if (f->kind == TP_STRING)
		add_string(b, f);
	else if (f->kind > TP_STRING)
		add_sequence(b, f);
	else if (f->kind == TP_FIELD && (tp_field_is_integer(f) || tp_field_is_float(f)))
		add_scalar(b, f);
	else
		add_array(b, f);
}

/* ---- Events ---- */

static void begin(struct builder *b, const struct tp_event *event)
{
	struct tp_lttng_event *e = b->event;
	const char *name = copy(b, event->name);

	e->id = event->id;
	e->align = 1;
	e->loglevel = (int)event->loglevel;
	e->loglevel_at = &e->loglevel;
	e->tracepoint = (struct lttng_ust_tracepoint){
		.struct_size = sizeof(e->tracepoint),
		.provider_name = b->provider->provider_name,
		.event_name = name,
		.signature = signature,
	};
	e->tp_class = (struct lttng_ust_tracepoint_class){
		.struct_size = sizeof(e->tp_class),
		.fields = e->fields,
		.probe_callback = tp_lttng_mark(e),
		.signature = signature,
		.probe_desc = b->provider,
	};
	e->desc = (struct lttng_ust_event_desc){
		.struct_size = sizeof(e->desc),
		.event_name = name,
		.probe_desc = b->provider,
		.tp_class = &e->tp_class,
		.loglevel = &e->loglevel_at,
	};
}

int tp_lttng_describe(struct tp_lttng_arena *arena, const struct lttng_ust_probe_desc *provider,
		      const struct tp_event *event, struct tp_lttng_event **described)
{
	const struct tp_event_class *class = event->event_class;
	size_t nr = class->nr_fields;
	struct builder b = {.arena = arena, .provider = provider, .class = class};

	if (strlen(event->system) + 1 + strlen(event->name) >= NAME_SIZE)
		return -ENAMETOOLONG;
	b.event = alloc(&b, sizeof(*b.event));
	if (!b.event)
		return -ENOMEM;
	b.event->fields = alloc(&b, 2 * nr * sizeof(const struct lttng_ust_event_field *)); /* with lengths */
	b.event->pieces = alloc(&b, nr * sizeof(struct tp_lttng_piece));
	b.event->operands = alloc(&b, nr * sizeof(struct tp_lttng_operand));
	if (b.failed)
		return -ENOMEM;
	begin(&b, event);
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct tp_event_field field = tp_event_field_at(class, i);
		add(&b, &field);
	}
	*described = b.event;
	return b.failed ? -ENOMEM : 0;
}

#endif

/*
 * The memory of the descriptions, which are many small pieces
 * and stay for ever.
 */

#ifdef TP_HAS_LTTNG

#define CHUNK_SIZE ((size_t)16 << 10)
#define ALIGN ((size_t)16)

struct tp_lttng_chunk {
	struct tp_lttng_chunk *next; /* by which leak checkers find them all */
	size_t left; /* bytes at end */
	char *end;
};

static size_t align_up(size_t size)
{
	return (size + ALIGN - 1) & ~(ALIGN - 1);
}

static struct tp_lttng_chunk *chunk_new(struct tp_lttng_arena *arena, size_t size)
{
	size_t head = align_up(sizeof(struct tp_lttng_chunk));
	size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
	struct tp_lttng_chunk *chunk = tp_malloc(head + room);

	if (!chunk)
		return NULL;
	memset(chunk, 0, head + room);
	*chunk = (struct tp_lttng_chunk){.next = arena->chunks, .left = room, .end = (char *)chunk + head + room};
	arena->chunks = chunk;
	return chunk;
}

void *tp_lttng_alloc(struct tp_lttng_arena *arena, size_t size)
{
	struct tp_lttng_chunk *chunk = arena->chunks;

	size = align_up(size);
	if (!chunk || chunk->left < size)
		chunk = chunk_new(arena, size);
	if (!chunk)
		return NULL;
	void *memory = chunk->end - chunk->left;
	chunk->left -= size;
	return memory;
}

char *tp_lttng_strdup(struct tp_lttng_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = tp_lttng_alloc(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

#endif
