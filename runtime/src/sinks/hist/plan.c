/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/plan.c - the variables and the actions of a definition, for an event's records; what a table needs for them.
 */
#include <string.h>

#include "events/synthetic.h"
#include "sinks/hist/compile.h"
#include "sinks/hist/program.h"

static bool fail(const struct tp_hist_compiler *c, size_t at, const char *message)
{
	return tp_filter_fail(c->error, at, message);
}

/* ---- What a table needs for a program's keys and variables, and whether those of two are alike ---- */

static uint32_t block_words(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		const struct tp_hist_action *action = &definition->actions[i];
		if (action->kind == TP_HIST_SNAPSHOT && !words)
			words = 1;
		for (uint32_t j = 0; action->kind == TP_HIST_SAVE && j < action->nr_params; j++)
			words += layout->saved[j] == TP_HIST_KEY_NUMBER ? 1 : TP_HIST_BLOB_WORDS;
	}
	return words;
}

struct tp_hist_shape tp_hist_shape_of(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout)
{
	static const uint32_t words[] = {
		[TP_HIST_KEY_NUMBER] = TP_HIST_NUMBER_WORDS, [TP_HIST_KEY_TEXT] = TP_HIST_TEXT_WORDS,
		[TP_HIST_KEY_STACK] = TP_HIST_STACK_WORDS,
	};
	struct tp_hist_shape shape = {
		.nr_values = definition->nr_values, .nr_variables = definition->nr_variables, .nr_actions = definition->nr_actions,
		.block_words = block_words(definition, layout),
	};

	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		shape.key_words += words[layout->kinds[i]];
		shape.with_comm |= definition->nodes[definition->keys[i].root].modifier == TP_HIST_EXECNAME;
	}
	memcpy(shape.variables, layout->variables, sizeof(shape.variables));
	return shape;
}

bool tp_hist_layout_same(const struct tp_hist_definition *definition, const struct tp_hist_layout *a,
			 const struct tp_hist_layout *b)
{
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (a->kinds[i] != b->kinds[i])
			return false;
	}
	return memcmp(a->variables, b->variables, sizeof(a->variables)) == 0 &&
	       memcmp(a->saved, b->saved, sizeof(a->saved)) == 0;
}

/* Whether an entry of the one can have the same key as one of the other: numbers are of one type. */
static bool same_keys(const struct tp_hist_definition *definition, const struct tp_hist_layout *a,
		      const struct tp_hist_layout *b)
{
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (a->kinds[i] != b->kinds[i] || a->key_signed[i] != b->key_signed[i] || a->key_bytes[i] != b->key_bytes[i])
			return false;
	}
	return true;
}

/* ---- What a variable, or a param, has ---- */

static bool known_source(struct tp_hist_compiler *c, struct tp_hist_source *made, uint32_t known)
{
	*made = (struct tp_hist_source){
		.kind = tp_hist_compile_kind(c, known), .value = tp_hist_compile_known(c, known),
	};
	return true;
}

static bool bytes_source(struct tp_hist_compiler *c, struct tp_hist_source *made, enum tp_hist_kind kind,
			 const struct tp_filter_field *field)
{
	*made = (struct tp_hist_source){.kind = kind, .value = tp_hist_compile_bytes(c, field)};
	return true;
}

static bool number_source(struct tp_hist_source *made, const struct tp_hist_value *value)
{
	*made = (struct tp_hist_source){.kind = TP_HIST_KEY_NUMBER, .value = value};
	return value != NULL;
}

static bool field_source(struct tp_hist_compiler *c, struct tp_hist_source *made, const struct tp_hist_node *node)
{
	const char *name = tp_hist_text_at(c->definition, node->name);
	struct tp_filter_field field;

	if (tp_hist_compile_is_stack(c, node)) {
		*made = (struct tp_hist_source){.kind = TP_HIST_KEY_STACK, .own_stack = true};
		return true;
	}
	if (node->modifier == TP_HIST_EXECNAME && tp_hist_span_is(c->definition, node->name, "common_pid") &&
	    tp_filter_field_find(&field, c->event, "comm", strlen("comm")))
		return bytes_source(c, made, TP_HIST_KEY_TEXT, &field);
	if (tp_filter_field_find(&field, c->event, name, node->name.len)) {
		if (field.type == TP_TYPE_TEXT)
			return node->modifier == TP_HIST_PLAIN ? bytes_source(c, made, TP_HIST_KEY_TEXT, &field)
							       : tp_hist_compile_fail_modifier(c, node, "the field is a text");
		if (tp_hist_compile_is_longs(&field.described))
			return bytes_source(c, made, TP_HIST_KEY_STACK, &field);
	}
	return number_source(made, tp_hist_compile_field(c, node));
}

static bool is_copied(const struct tp_hist_source *source)
{
	return source->kind != TP_HIST_KEY_NUMBER && !(source->value && source->value->op == TP_HIST_OP_KNOWN);
}

/* ---- Variables ---- */

static bool variable(struct tp_hist_compiler *c, struct tp_hist_source *made, const struct tp_hist_item *item)
{
	const struct tp_hist_node *node = tp_hist_compile_root(c, item);

	switch (node->kind) {
	case TP_HIST_VARIABLE:
		return known_source(c, made, node->known);
	case TP_HIST_FIELD:
		return field_source(c, made, node);
	default:
		return number_source(made, tp_hist_compile_number(c, item->root));
	}
}

bool tp_hist_compile_variables(struct tp_hist_compiler *c)
{
	struct tp_hist_program *program = c->program;

	for (uint32_t i = 0; i < c->definition->nr_variables; i++) {
		if (!variable(c, &program->variables[i], &c->definition->variables[i]))
			return false;
		program->layout.variables[i] = (uint8_t)program->variables[i].kind;
		if (program->variables[i].kind == TP_HIST_KEY_NUMBER)
			program->layout.variable_bytes[i] = tp_hist_compile_bytes_of(c, program->variables[i].value);
		program->nr_blobs += is_copied(&program->variables[i]);
	}
	for (uint32_t i = 0; i < c->links->nr; i++)
		program->nr_blobs += c->links->links[i].kind != TP_HIST_KEY_NUMBER;
	program->nr_variables = c->definition->nr_variables;
	program->acts = c->links->nr || c->definition->nr_variables || c->definition->nr_actions;
	return true;
}

/* ---- Params ---- */

/* Of "SYS.EV.FIELD", if it is of this event, FIELD. */
static bool own_field(const struct tp_hist_compiler *c, struct tp_hist_span *param)
{
	const char *text = tp_hist_text_at(c->definition, *param);
	const size_t system = strlen(c->event->system), event = strlen(c->event->name);
	const size_t prefix = system + 1 + event + 1;

	if (param->len <= prefix || memcmp(text, c->event->system, system) != 0 || text[system] != '.' ||
	    memcmp(text + system + 1, c->event->name, event) != 0 || text[prefix - 1] != '.')
		return false;
	*param = (struct tp_hist_span){param->at + (uint32_t)prefix, param->len - (uint32_t)prefix};
	return true;
}

/* Another is of another event, or wrong. */
static bool unqualified(const struct tp_hist_compiler *c, struct tp_hist_span *param)
{
	if (!memchr(tp_hist_text_at(c->definition, *param), '.', param->len) || own_field(c, param))
		return true;
	tp_buffer_printf(&c->error->hint, "it is no field of %s:%s, nor of an event that onmatch() names or whose variable is read; a "
					  "histogram of that event can leave it in a variable", c->event->system, c->event->name);
	return fail(c, param->at, "Couldn't find param");
}

/* A field of another event is found by this event's keys. */
static bool check_matched(const struct tp_hist_compiler *c, struct tp_hist_span param, uint32_t known)
{
	const struct tp_hist_layout *matched = known < TP_HIST_OWN ? c->links->links[known].matched : NULL;

	if (!matched || same_keys(c->definition, &c->program->layout, matched))
		return true;
	tp_buffer_printf(&c->error->hint, "those of the other event have keys of other types");
	return fail(c, param.at, "Matching event histogram not found");
}

static bool param_source(struct tp_hist_compiler *c, struct tp_hist_source *made, const struct tp_hist_action *from,
			 struct tp_hist_span param, uint32_t known)
{
	if (known < TP_HIST_OWN && c->links->links[known].matched && from->handler != TP_HIST_ONMATCH && own_field(c, &param)) {
		c->program->unread |= 1u << known;
		known = TP_HIST_UNKNOWN;
	}
	if (known != TP_HIST_UNKNOWN)
		return check_matched(c, param, known) && known_source(c, made, known);
	return unqualified(c, &param) && field_source(c, made, &(struct tp_hist_node){
		.kind = TP_HIST_FIELD, .span = param, .name = param,
	});
}

/* Unlike in the kernel, a number may go into a larger one. */
static bool takes(const struct tp_hist_compiler *c, const struct tp_event_field *field, const struct tp_hist_source *source)
{
	switch (source->kind) {
	case TP_HIST_KEY_TEXT:
		return field->kind == TP_STRING || field->kind == TP_ARRAY;
	case TP_HIST_KEY_STACK:
		return field->kind == TP_DYNAMIC_ARRAY;
	default:
		return field->kind == TP_FIELD && tp_hist_compile_bytes_of(c, source->value) <= field->size;
	}
}

static bool check_type(const struct tp_hist_compiler *c, const struct tp_hist_act *act, uint32_t i, struct tp_hist_span param)
{
	const struct tp_event_field field = tp_event_field_at(tp_synthetic_described(act->synthetic)->event_class, i);

	if (takes(c, &field, &act->params[i]))
		return true;
	tp_buffer_printf(&c->error->hint, "the field '%s' is a %s%s", field.name, field.type, field.kind == TP_FIELD ? "" : "[]");
	return fail(c, param.at, "Param type doesn't match synthetic event field type");
}

/* ---- Actions ---- */

static bool action(struct tp_hist_compiler *c, struct tp_hist_act *act, const struct tp_hist_action *from, const uint32_t *known,
		   uint32_t nr_before)
{
	uint32_t nr_copied = from->kind == TP_HIST_SAVE; /* one after the other */

	for (uint32_t i = 0; i < from->nr_params; i++) {
		if (!param_source(c, &act->params[i], from, from->params[i], known[i]))
			return false;
		if (from->kind == TP_HIST_TRACE && !check_type(c, act, i, from->params[i]))
			return false;
		if (from->kind == TP_HIST_SAVE)
			c->program->layout.saved[i] = (uint8_t)act->params[i].kind;
		else
			nr_copied += is_copied(&act->params[i]);
	}
	if (nr_before + nr_copied > c->program->nr_blobs)
		c->program->nr_blobs = nr_before + nr_copied;
	return true;
}

bool tp_hist_compile_actions(struct tp_hist_compiler *c)
{
	struct tp_hist_source *params = c->program->params;
	const uint32_t *known = c->links->params;
	const uint32_t before = c->program->nr_blobs;

	for (uint32_t i = 0; i < c->definition->nr_actions; i++) {
		const struct tp_hist_action *from = &c->definition->actions[i];
		struct tp_hist_act *act = &c->program->acts_of[i];
		*act = (struct tp_hist_act){
			.handler = from->handler, .kind = from->kind, .known = from->known,
			.synthetic = c->links->synthetics[i], .nr_params = from->nr_params, .params = params,
		};
		if (from->handler != TP_HIST_ONMATCH && tp_hist_compile_kind(c, from->known) != TP_HIST_KEY_NUMBER)
			return fail(c, from->variable.at, "For onmax(x) or onchange(x), x must be a variable");
		if (!action(c, act, from, known, before))
			return false;
		params += from->nr_params;
		known += from->nr_params;
	}
	c->program->nr_acts = c->definition->nr_actions;
	return true;
}

