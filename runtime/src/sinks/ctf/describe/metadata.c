/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/metadata.c - the description of a CTF trace, in TSDL, and of each
 * event's record in it.
 *
 * The record is written as C lays it out. TSDL says where things are by
 * alignment alone, so this walks through the record as a reader of TSDL
 * does, and writes padding down wherever he would otherwise be elsewhere.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/print.h>

#include "base/clock.h"
#include "base/text.h"
#include "events/field.h"
#include "print/description.h"
#include "record/packet.h"
#include "sinks/ctf/describe/metadata.h"
#include "sinks/ctf/options.h"

/* A field with an underscore in front clashes with few keywords of TSDL; babeltrace2 takes the underscore off again. */
#define PREFIX "_"

/* A fixed field whose type TSDL knows only as bytes is written as this. */
#define BYTES "integer { size = 8; align = 8; signed = false; base = 16; }"

/* ---- The trace ---- */

void tp_ctf_metadata_clock(char text[TP_CTF_CLOCK_TEXT], const struct tp_clock *clock)
{
	snprintf(text, TP_CTF_CLOCK_TEXT,
		 "clock {\n"
		 "\tname = %s;\n"
		 "\tdescription = \"%s\";\n"
		 "\tfreq = %llu;\n"
		 "\toffset_s = %lld;\n"
		 "\toffset = %llu;\n"
		 "\tabsolute = TRUE;\n"
		 "};\n"
		 "\n",
		 clock->name, clock->description, (unsigned long long)clock->frequency, (long long)clock->offset_s,
		 (unsigned long long)clock->offset);
}

/*
 * babeltrace2 warns of members of an event.header that it has no use for; so
 * the thread's id, which is in the record's head, is a context, and so is what stands in front of that.
 */
static void print_event_head(struct tp_buffer *b, unsigned int context)
{
	tp_buffer_printf(b, "\tevent.header := struct {\n"
			    "\t\ttimestamp_t timestamp;\n"
			    "\t\tuint16_t id;\n"
			    "\t} align(64);\n"
			    "\tevent.context := struct {\n");
	if (context & TP_CTF_CPU)
		tp_buffer_printf(b, "\t\tint32_t cpu_id;\n");
	if (context & TP_CTF_PID)
		tp_buffer_printf(b, "\t\tint32_t pid;\n");
	if (context & TP_CTF_NAME)
		tp_buffer_printf(b,
				 "\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; } procname[%d];\n",
				 TP_CTF_NAME_SIZE);
	if (context)
		tp_buffer_printf(b, "\t\tinteger { size = 16; align = 64; signed = false; } record_id;\n");
	tp_buffer_printf(b, "\t\t/* The alignment skips the flags and the preempt count, which are 0. */\n"
			    "\t\tint32_t tid;\n"
			    "\t};\n");
}

#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

void tp_ctf_metadata_head(struct tp_buffer *b)
{
	tp_buffer_printf(b,
			 "/* CTF 1.8 */\n"
			 "\n"
			 "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
			 "typealias integer { size = 16; align = 16; signed = false; } := uint16_t;\n"
			 "typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
			 "typealias integer { size = 32; align = 32; signed = true; } := int32_t;\n"
			 "typealias integer { size = 64; align = 64; signed = false; } := uint64_t;\n"
			 "\n"
			 "trace {\n"
			 "\tmajor = 1;\n"
			 "\tminor = 8;\n"
			 "\tbyte_order = %s;\n"
			 TP_PACKET_HEADER
			 "};\n"
			 "\n",
			 IS_LITTLE ? "le" : "be");
}

void tp_ctf_metadata_stream(struct tp_buffer *b, const char *clock, unsigned int context)
{
	/* The word is the length << 16 | the offset. */
	const char *first = IS_LITTLE ? "offset" : "len";
	const char *second = IS_LITTLE ? "len" : "offset";

	tp_buffer_printf(b,
			 "typealias integer {\n"
			 "\tsize = 64; align = 64; signed = false; map = clock.%s.value;\n"
			 "} := timestamp_t;\n"
			 "\n"
			 "/* A payload's place, in bytes from the record's start (of a __rel_ field, from here), and its length. */\n"
			 "struct data_loc {\n"
			 "\tuint16_t %s;\n"
			 "\tuint16_t %s;\n"
			 "} align(32);\n"
			 "struct unaligned_data_loc {\n"
			 "\tinteger { size = 16; align = 8; signed = false; } %s;\n"
			 "\tinteger { size = 16; align = 8; signed = false; } %s;\n"
			 "};\n"
			 "\n",
			 clock, first, second, first, second);
	tp_buffer_printf(b, "stream {\n"
			    "\tid = 0;\n"
			    TP_PACKET_CONTEXT);
	print_event_head(b, context);
	tp_buffer_printf(b, "};\n\n");
}

/* ---- The fields ---- */

struct fields {
	struct tp_event_field *all;
	uint32_t nr;
	struct tp_buffer names; /* theirs, as TSDL has names */
};

/* Two that come out as one are told apart where they are printed. False: no memory. */
static bool name_fields(struct fields *fields)
{
	for (uint32_t i = 0; i < fields->nr; i++) {
		tp_field_put_name(&fields->names, fields->all[i].name);
		tp_buffer_printf(&fields->names, "%c", '\0');
	}
	const char *name = fields->names.text;
	for (uint32_t i = 0; i < fields->nr && !fields->names.failed; i++) {
		fields->all[i].name = name;
		name += strlen(name) + 1;
	}
	return !fields->names.failed;
}

/* ---- Where a reader is, in bytes from the record's start ---- */

struct walk {
	struct tp_buffer *b;
	const struct fields *fields; /* of the event */
	uint32_t at;          /* where the next byte is looked for */
	unsigned int padding; /* paddings so far */
};

static uint32_t align_up(uint32_t offset, uint32_t align)
{
	return (offset + align - 1) / align * align;
}

/* True where a field of the event has a name like that: so many underscores, and the rest. */
static bool is_taken(const struct fields *fields, size_t underscores, const char *rest)
{
	for (uint32_t i = 0; i < fields->nr; i++) {
		const char *name = fields->all[i].name;
		if (strspn(name, "_") == underscores && strcmp(name + underscores, rest) == 0)
			return true;
	}
	return false;
}

/*
 * The name of something that the user has no field for: rest, which is unique
 * and begins with no underscore, behind enough of them to be no field's.
 * babeltrace2 takes one underscore of a name away, and compares the result
 * with what others were before that: so one more or less than a field's is the same to it.
 */
static void print_hidden_name(struct tp_buffer *b, const struct fields *fields, const char *rest)
{
	size_t underscores = 2;

	while (is_taken(fields, underscores, rest) || is_taken(fields, underscores - 1, rest) ||
	       is_taken(fields, underscores + 1, rest))
		underscores++;
	tp_buffer_printf(b, PREFIX "%.*s%s", (int)underscores, "________________________________", rest);
}

static bool is_dynamic(const struct tp_event_field *f)
{
	return f->kind >= TP_STRING;
}

/* Whether the name and a suffix would be those of another, too. A fixed field and a payload of one name are told apart without. */
static bool is_ambiguous(const struct fields *fields, const struct tp_event_field *f)
{
	unsigned int alike = 0;

	for (uint32_t i = 0; i < fields->nr; i++) {
		const struct tp_event_field *g = &fields->all[i];
		bool same = strcmp(g->name, f->name) == 0;
		if (g == f)
			continue;
		if (same && is_dynamic(g) == is_dynamic(f))
			return true;
		alike += same || (g->name[0] == '_' && strcmp(g->name + 1, f->name) == 0);
	}
	return f->name[0] == '_' || alike > 1;
}

/* That of something of a field. */
static void print_name_for(struct tp_buffer *b, const struct fields *fields, const struct tp_event_field *f,
			   const char *suffix)
{
	struct tp_buffer rest = {.text = NULL};
	size_t underscores = strspn(f->name, "_");

	tp_buffer_printf(&rest, "%s%s", f->name + underscores, suffix);
	/* Others may differ in that only, or in nothing. */
	if (is_ambiguous(fields, f))
		tp_buffer_printf(&rest, "_%u", (unsigned int)(f - fields->all));
	print_hidden_name(b, fields, rest.text ? rest.text : "");
	b->failed = b->failed || rest.failed;
	tp_buffer_free(&rest);
}

/* Goes to an offset to which the alignment of what comes next does not lead. */
static void pad_to(struct walk *w, uint32_t offset)
{
	char name[32];

	if (w->at == offset)
		return;
	snprintf(name, sizeof(name), "padding%u", w->padding++);
	tp_buffer_printf(w->b, "\t\tuint8_t ");
	print_hidden_name(w->b, w->fields, name);
	tp_buffer_printf(w->b, "[%u];\n", offset - w->at);
	w->at = offset;
}

/*
 * Goes to the offset of a field of this alignment; returns the alignment to
 * write down, in bits: 8, and padding, for one that C did not align so.
 */
static uint32_t go_to(struct walk *w, uint32_t offset, uint32_t align)
{
	if (align > TP_STREAM_ALIGN || offset % align != 0) /* the record is no better aligned than that */
		align = 1;
	if (align_up(w->at, align) != offset)
		pad_to(w, offset);
	w->at = offset;
	return align * CHAR_BIT;
}

/* ---- Types ---- */

static void print_integer(struct tp_buffer *b, const struct tp_event_field *f, uint32_t align, bool text)
{
	tp_buffer_printf(b, "integer { size = %u; align = %u; signed = %s;%s%s }", f->element_size * CHAR_BIT, align,
			 f->is_signed ? "true" : "false", tp_field_is_hexadecimal(f) ? " base = 16;" : "",
			 text ? " encoding = UTF8;" : "");
}

/* The type of an element. What TSDL has no word for is bytes, together where they are more than one. */
static void print_type(struct tp_buffer *b, const struct tp_event_field *f, uint32_t align)
{
	if (tp_field_is_integer(f))
		print_integer(b, f, align, f->is_char && f->kind != TP_FIELD && f->kind != TP_STRUCT);
	else if (tp_field_is_float(f))
		tp_buffer_printf(b, "floating_point { exp_dig = %d; mant_dig = %d; align = %u; }",
				 f->element_size == 4 ? 8 : 11, f->element_size == 4 ? 24 : 53, align);
	else if (f->element_size > 1)
		tp_buffer_printf(b, "struct { " BYTES " bytes[%u]; } align(%u)", f->element_size, align);
	else
		tp_buffer_printf(b, BYTES);
}

/* ---- Names of values ---- */

/* The most values that flags are written out for: every combination of six bits. */
#define NR_COMBINATIONS 64

static void print_enumerator(struct tp_buffer *b, const struct tp_event_field *f, const char *name, unsigned long long value)
{
	tp_buffer_printf(b, "\t\t\t");
	tp_ctf_put_string(b, name);
	if (f->is_signed)
		tp_buffer_printf(b, " = %lld,\n", value > ULONG_MAX ? (long long)value : (long)value);
	else
		tp_buffer_printf(b, " = %llu,\n", value);
}

static void print_symbols(struct tp_buffer *b, const struct tp_event_field *f)
{
	for (struct tp_named_value s = {.nr = 0}; tp_named_value_next(f->symbols, &s);) {
		if (tp_field_shows(f, &s))
			print_enumerator(b, f, s.name, s.value);
	}
}

static bool is_among(const unsigned long long *values, unsigned int nr, unsigned long long value)
{
	while (nr > 0 && values[nr - 1] != value)
		nr--;
	return nr > 0;
}

/* All values that the flags make; how many, or 0 where they are more than NR_COMBINATIONS. */
static unsigned int combine_flags(const struct tp_event_field *f, unsigned long long *values)
{
	unsigned int nr = 1;

	values[0] = 0;
	for (struct tp_named_value s = {.nr = 0}; tp_named_value_next(f->symbols, &s);) {
		unsigned int without = tp_field_fits(f, s.value) ? nr : 0;
		for (unsigned int i = 0; i < without; i++) {
			unsigned long long value = values[i] | s.value;
			if (is_among(values, nr, value))
				continue;
			if (nr == NR_COMBINATIONS)
				return 0;
			values[nr++] = value;
		}
	}
	return nr;
}

/* CTF 1.8 names values, not bits. */
static void print_combinations(struct tp_buffer *b, const struct tp_event_field *f)
{
	unsigned long long values[NR_COMBINATIONS];
	unsigned int nr = combine_flags(f, values);
	char text[1024];
	struct trace_seq seq;

	for (unsigned int i = 0; i < nr; i++) {
		trace_seq_init(&seq, text, sizeof(text));
		tp_seq_print_flags_by(&seq, values[i], f->delimiter, f->symbols);
		if (text[0] && !seq.full)
			print_enumerator(b, f, text, values[i]);
	}
}

/* False, and nothing is printed, where no value of the field has a name. */
static bool print_enumeration(struct tp_buffer *b, const struct tp_event_field *f, uint32_t align)
{
	size_t before = b->len;

	tp_buffer_printf(b, "enum : ");
	print_integer(b, f, align, false);
	tp_buffer_printf(b, " {\n");
	size_t begin = b->len;
	if (f->delimiter)
		print_combinations(b, f);
	else
		print_symbols(b, f);
	if (b->len == begin) {
		b->len = before;
		return false;
	}
	b->len -= 2; /* the last comma */
	tp_buffer_printf(b, "\n\t\t}");
	return true;
}

/* For people, where there are too many combinations. */
static void print_flags_comment(struct tp_buffer *b, const struct tp_event_field *f)
{
	tp_buffer_printf(b, "/* bits of %s, by their names, with ", f->name);
	tp_ctf_put_string(b, f->delimiter);
	tp_buffer_printf(b, " in between:\n");
	for (struct tp_named_value s = {.nr = 0}; tp_named_value_next(f->symbols, &s);) {
		tp_buffer_printf(b, "\t\t\t0x%llx ", s.value);
		tp_ctf_put_string(b, s.name);
		tp_buffer_printf(b, "\n");
	}
	tp_buffer_printf(b, "\t\t*/\n\t\t");
}

/* ---- Fields ---- */

/*
 * A fixed field's name, or a payload's, which all come behind the fixed ones.
 * Where one before it is named so, or so but for one underscore more, which is the same
 * to babeltrace2, it gets another.
 */
static void print_name(struct tp_buffer *b, const struct fields *fields, const struct tp_event_field *f)
{
	for (uint32_t i = 0; i < fields->nr; i++) {
		const struct tp_event_field *g = &fields->all[i];
		bool before = is_dynamic(g) == is_dynamic(f) ? g < f : is_dynamic(f);
		if (before && (strcmp(g->name, f->name) == 0 ||
			       (g->name[0] == '_' && strcmp(g->name + 1, f->name) == 0))) {
			print_name_for(b, fields, f, "_field");
			return;
		}
	}
	tp_buffer_printf(b, PREFIX "%s", f->name);
}

static void print_named_field(struct tp_buffer *b, const struct tp_event_field *f, uint32_t align)
{
	if (print_enumeration(b, f, align))
		return;
	if (f->delimiter)
		print_flags_comment(b, f);
	print_type(b, f, align);
}

static void print_fixed_field(struct walk *w, const struct tp_event_field *f)
{
	bool known = tp_field_is_integer(f) || tp_field_is_float(f);
	uint32_t align = go_to(w, f->offset, known ? f->element_align : 1);
	bool is_array = f->kind == TP_ARRAY;

	w->at += f->size;
	tp_buffer_printf(w->b, "\t\t");
	if (f->symbols && f->kind == TP_FIELD && tp_field_is_integer(f))
		print_named_field(w->b, f, align);
	else if (known || is_array)
		print_type(w->b, f, align);
	else
		tp_buffer_printf(w->b, BYTES);
	tp_buffer_printf(w->b, " ");
	print_name(w->b, w->fields, f);
	if (is_array)
		tp_buffer_printf(w->b, "[%u]", f->size / (f->element_size ? f->element_size : 1));
	else if (!known)
		tp_buffer_printf(w->b, "[%u]", f->size);
	tp_buffer_printf(w->b, ";\n");
}

static void print_location(struct walk *w, const struct tp_event_field *f)
{
	/* The word of a packed record may stand anywhere. */
	bool aligned = go_to(w, f->offset, sizeof(tp_data_loc_t)) != CHAR_BIT;

	tp_buffer_printf(w->b, "\t\tstruct %sdata_loc ", aligned ? "" : "unaligned_");
	print_name_for(w->b, w->fields, f, "_loc");
	tp_buffer_printf(w->b, ";\n");
	w->at = f->offset + f->size;
}

static void print_bytes_payload(struct walk *w, const struct tp_event_field *f)
{
	tp_buffer_printf(w->b, "\t\t");
	print_type(w->b, f, CHAR_BIT);
	tp_buffer_printf(w->b, " ");
	print_name(w->b, w->fields, f);
	tp_buffer_printf(w->b, "[");
	print_name_for(w->b, w->fields, f, "_loc");
	tp_buffer_printf(w->b, ".len];\n");
}

static void print_wide_payload(struct walk *w, const struct tp_event_field *f)
{
	tp_buffer_printf(w->b, "\t\tuint16_t ");
	print_name_for(w->b, w->fields, f, "_length");
	tp_buffer_printf(w->b, ";\n\t\t");
	print_type(w->b, f, f->element_align * CHAR_BIT);
	tp_buffer_printf(w->b, " ");
	print_name(w->b, w->fields, f);
	tp_buffer_printf(w->b, "[");
	print_name_for(w->b, w->fields, f, "_length");
	tp_buffer_printf(w->b, "];\n");
}

static void print_fields(struct tp_buffer *b, const struct fields *fields, uint32_t fixed_size)
{
	struct walk w = {.b = b, .fields = fields, .at = sizeof(struct trace_entry)};

	for (uint32_t i = 0; i < fields->nr; i++) {
		if (is_dynamic(&fields->all[i]))
			print_location(&w, &fields->all[i]);
		else
			print_fixed_field(&w, &fields->all[i]);
	}
	pad_to(&w, fixed_size);
	for (uint32_t i = 0; i < fields->nr; i++) {
		const struct tp_event_field *f = &fields->all[i];
		if (!is_dynamic(f))
			continue;
		if (f->element_size > 1)
			print_wide_payload(&w, f);
		else
			print_bytes_payload(&w, f);
	}
}

/*
 * A payload is aligned from the record's start, which is aligned to 8 bytes in
 * the packet: for more, TSDL has no word.
 */
static bool can_describe(const struct fields *fields)
{
	for (uint32_t i = 0; i < fields->nr; i++) {
		const struct tp_event_field *f = &fields->all[i];
		if (is_dynamic(f) && f->element_size > 1 && f->element_align > TP_STREAM_ALIGN)
			return false;
	}
	return true;
}

/* By CTF's attribute for it. Readers that do not know it pass over it. */
static void print_source(struct tp_buffer *b, const struct tracepoint *tp)
{
	if (!tp || !tp->file || !*tp->file)
		return;
	tp_buffer_printf(b, "\tmodel.emf.uri = \"");
	tp_ctf_put_text(b, tp->file);
	tp_buffer_printf(b, ":%d\";\n", tp->line);
}

static int print_event(struct tp_buffer *b, const struct tp_event *event, const struct fields *fields)
{
	size_t len = b->len;

	if (!can_describe(fields))
		return -EINVAL;
	tp_buffer_printf(b, "event {\n\tname = \"");
	tp_ctf_put_text(b, event->system);
	tp_buffer_printf(b, ":");
	tp_ctf_put_text(b, event->name);
	tp_buffer_printf(b,
			 "\";\n"
			 "\tid = %u;\n"
			 "\tstream_id = 0;\n"
			 "\tloglevel = %u;\n",
			 event->id, (unsigned int)event->loglevel);
	print_source(b, event->tracepoint);
	tp_buffer_printf(b, "\tfields := struct {\n");
	print_fields(b, fields, event->event_class->fixed_size);
	tp_buffer_printf(b, "\t};\n};\n\n");
	if (!b->failed)
		return 0;
	b->failed = false;
	b->len = len;
	return -ENOMEM;
}

int tp_ctf_metadata_event(struct tp_buffer *b, const struct tp_event *event)
{
	struct fields fields = {tp_class_fields(event->event_class), event->event_class->nr_fields, {.text = NULL}};
	bool there = (fields.all || !fields.nr) && name_fields(&fields);
	const int error = there ? print_event(b, event, &fields) : -ENOMEM;

	tp_buffer_free(&fields.names);
	free(fields.all);
	return error;
}
