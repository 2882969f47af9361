/* SPDX-License-Identifier: MIT */
/*
 * filter/compile.c - a tree becomes a program: each predicate learns what comes after it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filter/operand.h"
#include "filter/predicate.h"

/* Where to go on after a part of the tree. */
struct ways {
	uint32_t yes, no;
};

static struct ways swapped(struct ways ways)
{
	return (struct ways){.yes = ways.no, .no = ways.yes};
}

/*
 * The ways out of a node: of "&&", a part that is false ends all; of "||", one that is true. Recursion is as deep as the
 * parentheses are, which has a limit.
 */
static void link_node(const struct tp_filter *filter, struct tp_filter_program *program, uint32_t number, struct ways ways)
{
	const struct tp_filter_node *node = &filter->nodes[number];

	if (node->kind == TP_FILTER_PREDICATE) {
		program->steps[node->first].yes = ways.yes;
		program->steps[node->first].no = ways.no;
		return;
	}
	if (node->kind == TP_FILTER_NOT) {
		link_node(filter, program, node->child, swapped(ways));
		return;
	}
	for (uint32_t child = node->child; child != TP_FILTER_NONE; child = filter->nodes[child].next) {
		const uint32_t next = filter->nodes[child].next;
		struct ways here = ways;
		if (next != TP_FILTER_NONE && node->kind == TP_FILTER_AND)
			here.yes = filter->nodes[next].first;
		else if (next != TP_FILTER_NONE)
			here.no = filter->nodes[next].first;
		link_node(filter, program, child, here);
	}
}

/* A list of processors is a few characters, but its set may be large; and so is a number beside a long double. */
static size_t room_for(const struct tp_filter_predicate *predicate)
{
	switch (predicate->kind) {
	case TP_FILTER_CPUS:
		return TP_CPUS_BYTES;
	case TP_FILTER_NUMBER:
		return sizeof(long double);
	default:
		return predicate->value.len;
	}
}

/* Room for the bytes of all steps. */
static size_t room_for_bytes(const struct tp_filter *filter)
{
	size_t room = 0;

	for (uint32_t i = 0; i < filter->nr_nodes; i++) {
		if (filter->nodes[i].kind == TP_FILTER_PREDICATE)
			room += room_for(&filter->nodes[i].predicate);
	}
	return room;
}

static bool compile_steps(struct tp_filter_program *program, const struct tp_filter *filter, const struct tp_event *event,
			  struct tp_filter_error *error)
{
	uint8_t *bytes = (uint8_t *)(program->steps + program->nr_steps);

	for (uint32_t i = 0; i < filter->nr_nodes; i++) { /* predicates were made in their order */
		const struct tp_filter_node *node = &filter->nodes[i];
		if (node->kind != TP_FILTER_PREDICATE)
			continue;
		struct tp_filter_step *step = &program->steps[node->first];
		const struct ways ways = {step->yes, step->no};
		bool inverted = false;
		const struct tp_filter_work work = {
			.filter = filter, .predicate = &node->predicate, .event = event,
			.step = step, .reads_header = &program->reads_header, .inverted = &inverted, .bytes = bytes, .error = error,
		};
		if (!tp_filter_predicate_compile(&work))
			return false;
		step->yes = inverted ? ways.no : ways.yes;
		step->no = inverted ? ways.yes : ways.no;
		bytes += step->length;
	}
	return true;
}

struct tp_filter_program *tp_filter_compile(const struct tp_filter *filter, const struct tp_event *event,
					    struct tp_filter_error *error)
{
	const uint32_t nr = filter->nr_predicates;
	struct tp_filter_program *program =
		tp_malloc(sizeof(*program) + nr * sizeof(program->steps[0]) + room_for_bytes(filter));

	*error = (struct tp_filter_error){.error = 0};
	if (!program) {
		tp_filter_fail_memory(error);
		return NULL;
	}
	program->reads_header = false;
	program->nr_steps = nr;
	link_node(filter, program, filter->root, (struct ways){.yes = nr, .no = nr + 1});
	if (compile_steps(program, filter, event, error))
		return program;
	free(program);
	return NULL;
}

bool tp_filter_program_reads_cpu(const struct tp_filter_program *program)
{
	for (uint32_t i = 0; i < program->nr_steps; i++) {
		if (program->steps[i].value.source == TP_SOURCE_CPU)
			return true;
	}
	return false;
}

void tp_filter_program_free(struct tp_filter_program *program)
{
	free(program);
}
