/* SPDX-License-Identifier: MIT */
/*
 * print/format.c - the text of an event's format file, by which ftrace's readers
 * know its records.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

#include "print/description.h"

/* ---- Names and their values ---- */

/* Characters of UTF-8 are of names, too, and dollars. */
static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c & 0x80;
}

/* The eval whose whole name is at text, "sizeof(struct x)" for one; false where there is none. */
static bool eval_at(const struct tp_event_class *class, const char *text, struct tp_named_eval *eval)
{
	*eval = (struct tp_named_eval){.nr = 0};
	while (tp_class_next_eval(class, eval)) {
		size_t len = strlen(eval->name);
		if (strncmp(text, eval->name, len) == 0 && !is_word(text[len]))
			return true;
	}
	return false;
}

/* The end of the string literal or character constant that begins at text. */
static const char *skip_quoted(const char *text)
{
	char quote = *text++;

	while (*text && *text != quote) {
		if (*text == '\\' && text[1])
			text++;
		text++;
	}
	return *text ? text + 1 : text;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t\n");
}

/*
 * The end of the word at text, and of the names of members behind it, which
 * are no evals. (Behind a bracket they are, as in the kernel.)
 */
static const char *skip_word(const char *text)
{
	for (;;) {
		while (is_word(*text))
			text++;
		const char *next = skip_blanks(text);
		if (*next == '.')
			next++;
		else if (next[0] == '-' && next[1] == '>')
			next += 2;
		else
			return text;
		next = skip_blanks(next);
		if (!is_word(*next))
			return text;
		text = next;
	}
}

/* Appends text with the values of the class's evals that it names outside of quotes. */
static void put_evaluated(struct trace_seq *s, const char *text, const struct tp_event_class *class)
{
	const char *done = text;
	struct tp_named_eval eval;

	if (!class || !class->nr_evals) {
		trace_seq_puts(s, text);
		return;
	}
	while (*text) {
		if (is_word(*text) && eval_at(class, text, &eval)) {
			trace_seq_putmem(s, done, (size_t)(text - done));
			trace_seq_printf(s, "%lld", eval.value);
			text += strlen(eval.name);
			done = text;
		} else if (*text == '"' || *text == '\'') {
			text = skip_quoted(text);
		} else if (is_word(*text)) {
			text = skip_word(text);
		} else {
			text++;
		}
	}
	trace_seq_puts(s, done);
}

/* ---- Fields ---- */

/* A type's text; between its brackets names have values. */
static void put_type(struct trace_seq *s, const char *type, const struct tp_event_class *class)
{
	size_t len = strcspn(type, "[");

	trace_seq_putmem(s, type, len);
	put_evaluated(s, type + len, class);
}

static void put_declaration(struct trace_seq *s, const struct tp_event_field *f, const struct tp_event_class *class)
{
	const char *loc = f->relative ? "__rel_loc" : "__data_loc";

	switch (f->kind) {
	case TP_FIELD:
	case TP_STRUCT:
		put_type(s, f->type, class);
		trace_seq_printf(s, " %s", f->name);
		break;
	case TP_ARRAY:
		put_type(s, f->type, class);
		trace_seq_printf(s, " %s[", f->name);
		if (f->size)
			trace_seq_printf(s, "%u", f->size / f->element_size);
		trace_seq_putc(s, ']');
		break;
	case TP_CPUMASK:
		trace_seq_printf(s, "%s cpumask_t %s", loc, f->name);
		break;
	default:
		/* Odd, but ftrace's: the brackets of a __data_loc are its type's, those of a __rel_loc its name's. */
		trace_seq_printf(s, "%s ", loc);
		put_type(s, f->type, class);
		trace_seq_printf(s, f->relative ? " %s[]" : "[] %s", f->name);
	}
}

static void put_field(struct trace_seq *s, const struct tp_event_field *f, const struct tp_event_class *class)
{
	trace_seq_puts(s, "\tfield:");
	put_declaration(s, f, class);
	trace_seq_printf(s, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->offset, f->size,
			 f->is_signed || f->type_class == TP_FLOAT);
}

#define COMMON(field_type, field_name, member)                                                   \
	{                                                                                        \
		.type = field_type, .name = field_name, .offset = offsetof(struct trace_entry, member), \
		.size = sizeof(((struct trace_entry *)0)->member),                               \
	}

int tp_format_append(const struct tp_event *event, struct trace_seq *s)
{
	static const struct tp_event_field common[] = {
		COMMON("unsigned short", "common_type", type),
		COMMON("unsigned char", "common_flags", flags),
		COMMON("unsigned char", "common_preempt_count", preempt_count),
		{.type = "int", .name = "common_pid", .offset = offsetof(struct trace_entry, pid), .size = sizeof(int32_t),
		 .is_signed = true},
	};
	const struct tp_event_class *class = event ? event->event_class : NULL;

	if (!class)
		return -EINVAL;
	trace_seq_printf(s, "name: %s\nID: %u\nformat:\n", event->name, event->id);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		put_field(s, &common[i], NULL);
	trace_seq_putc(s, '\n');
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct tp_event_field field = tp_event_field_at(class, i);
		put_field(s, &field, class);
	}
	trace_seq_puts(s, "\nprint fmt: ");
	put_evaluated(s, tp_class_print_fmt(class), class);
	trace_seq_putc(s, '\n');
	return s->full ? -ENOSPC : 0;
}
