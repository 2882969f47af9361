/* SPDX-License-Identifier: MIT */
#include "report/stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/mappings.h"
#include "fail_msg.h"

struct stacks {
	const struct traces *traces;
	struct code_files files;
	struct {
		bool is_read;
		struct mappings mappings;
	} of_trace[];
};

struct stacks *stacks_new(const struct traces *traces)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks) + traces->nr * sizeof(stacks->of_trace[0]));

	if (stacks)
		stacks->traces = traces;
	else
		fail_no_memory();
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t t = 0; t < stacks->traces->nr; t++)
		mappings_free(&stacks->of_trace[t].mappings);
	code_files_free(&stacks->files);
	free(stacks);
}

bool stack_is(const struct event_format *format)
{
	static const char name[] = "stacktrace";

	return format->name_len == strlen(name) && format_is_named(format, "tp", name);
}

const struct field *stack_field(const struct fields *fields)
{
	const struct field *field = field_named(fields, "caller");

	if (!field || !field->is_payload || field->kind != FIELD_UNSIGNED || field->element_size != sizeof(uint64_t))
		return NULL;
	return field;
}

/* When a stack of the trace is first shown: then all of it is read once more. */
static const struct mappings *mappings_of(struct stacks *stacks, size_t trace_nr)
{
	struct mappings *mappings = &stacks->of_trace[trace_nr].mappings;

	if (!stacks->of_trace[trace_nr].is_read)
		mappings_read(mappings, &stacks->traces->traces[trace_nr], &stacks->files);
	stacks->of_trace[trace_nr].is_read = true;
	return mappings;
}

void stacks_put(struct line *line, struct stacks *stacks, const struct stack *stack, const struct field *field)
{
	const struct mappings *mappings = mappings_of(stacks, stack->trace_nr);
	uint32_t size;
	const unsigned char *at = field_payload(field, stack->record, stack->size, &size);
	uint64_t address;

	for (uint32_t i = 0; i + sizeof(address) <= size && !line->is_full; i += (uint32_t)sizeof(address)) {
		memcpy(&address, at + i, sizeof(address));
		const struct mapping *mapping = mappings_find(mappings, stack->pid, stack->time, address - 1);
		line_printf(line, "%s", i ? " => " : "=> ");
		if (mapping)
			code_file_put(line, &stacks->files, mapping->file, address - mapping->start + mapping->offset);
		else
			line_printf(line, "0x%" PRIx64, address);
	}
}
