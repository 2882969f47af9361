/* SPDX-License-Identifier: MIT */
/* expression.c - a parser that goes down; precedences are those of C. Whoever wrote the text may mean harm: see the limits. */
#include "printk/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "printk/literal.h"
#include "printk/type_name.h"

#define MAX_NODES 16384u /* of an event */
#define MAX_DEPTH 200u   /* of a tree, and of the parser */

struct parser {
	struct nodes *nodes;
	const struct fields *fields;
	struct span text; /* what is left */
	uint32_t depth;
};

static struct node *parse_comma(struct parser *p);
static struct node *parse_choice(struct parser *p);
static struct node *parse_unary(struct parser *p);

/* ---- Tokens ---- */

static void skip(struct parser *p)
{
	while (p->text.begin < p->text.end && isspace((unsigned char)*p->text.begin))
		p->text.begin++;
}

static bool next_is(struct parser *p, const char *what)
{
	const size_t len = strlen(what);

	skip(p);
	return (size_t)(p->text.end - p->text.begin) >= len && memcmp(p->text.begin, what, len) == 0;
}

static bool take(struct parser *p, const char *what)
{
	if (!next_is(p, what))
		return false;
	p->text.begin += strlen(what);
	return true;
}

static struct span take_word(struct parser *p)
{
	skip(p);
	struct span word = {p->text.begin, p->text.begin};
	while (word.end < p->text.end && is_of_name(*word.end))
		word.end++;
	p->text.begin = word.end;
	return word;
}

static bool is(struct span word, const char *text)
{
	return (size_t)(word.end - word.begin) == strlen(text) && memcmp(word.begin, text, strlen(text)) == 0;
}

/* ---- Nodes ---- */

static struct node *make(struct parser *p, enum node_kind kind, struct type type)
{
	struct node *node = p->nodes->nr < MAX_NODES ? calloc(1, sizeof(*node)) : NULL;

	if (!node)
		return NULL;
	node->kind = kind;
	node->type = type;
	node->depth = 1;
	node->made_before = p->nodes->last;
	p->nodes->last = node;
	p->nodes->nr++;
	return node;
}

/* NULL, where a part or the node is. */
static struct node *with(struct node *node, struct node *child)
{
	if (!node || !child || node->nr_children == NODE_CHILDREN || child->depth >= MAX_DEPTH)
		return NULL;
	node->children[node->nr_children++] = child;
	if (node->depth <= child->depth)
		node->depth = child->depth + 1;
	return node;
}

static struct node *constant(struct parser *p, struct value value)
{
	struct node *node = make(p, NODE_VALUE, value.type);

	if (node)
		node->value = value;
	return node;
}

static struct node *number(struct parser *p, uint64_t integer, struct type type)
{
	return constant(p, (struct value){.type = type, .integer = integer});
}

static struct node *binary(struct parser *p, enum operator op, struct node *a, struct node *b)
{
	struct type type;

	if (!a || !b || !type_of_operation(op, a->type, b->type, &type))
		return NULL;
	struct node *node = with(with(make(p, NODE_BINARY, type), a), b);
	if (node)
		node->op = op;
	return node;
}

void nodes_free(struct nodes *nodes)
{
	for (struct node *node = nodes->last, *before; node; node = before) {
		before = node->made_before;
		free(node->text);
		free(node->table);
		free(node);
	}
	*nodes = (struct nodes){.last = NULL};
}

/* ---- Fields ---- */

/* Those of every event, as ftrace calls them and as struct trace_entry does, which is a record's member "ent". */
static const struct {
	const char *name, *member;
	uint32_t offset;
	struct basic_type type;
} common[] = {
	{"common_type", "type", offsetof(struct trace_entry, type), {TYPE_INTEGER, 2, false, false}},
	{"common_flags", "flags", offsetof(struct trace_entry, flags), {TYPE_INTEGER, 1, false, false}},
	{"common_preempt_count", "preempt_count", offsetof(struct trace_entry, preempt_count), {TYPE_INTEGER, 1, false, false}},
	{"common_pid", "pid", offsetof(struct trace_entry, pid), {TYPE_INTEGER, 4, true, false}},
};

enum place { IN_RECORD, BY_DATA_LOC, BY_REL_LOC };

/* One in the record itself and two payloads may have the same name. */
static const struct field *find_field(struct parser *p, struct span name, enum place place)
{
	for (size_t i = 0; i < p->fields->nr; i++) {
		const struct field *field = &p->fields->fields[i];
		const enum place its = !field->is_payload ? IN_RECORD : field->place.relative ? BY_REL_LOC : BY_DATA_LOC;
		if (its == place && field->name_len == (size_t)(name.end - name.begin) &&
		    memcmp(field->name, name.begin, field->name_len) == 0)
			return field;
	}
	return NULL;
}

static struct node *field_at(struct parser *p, enum node_kind kind, uint32_t offset, struct type type, const struct field *field)
{
	struct node *node = make(p, kind, type);

	if (node) {
		node->offset = offset;
		node->field = field;
	}
	return node;
}

/* The word of a payload, by the name that it has in the structure. */
static struct node *payload_word(struct parser *p, struct span name)
{
	static const char *const prefixes[] = {[BY_DATA_LOC] = "__data_loc_", [BY_REL_LOC] = "__rel_loc_"};

	for (enum place place = BY_DATA_LOC; place <= BY_REL_LOC; place++) {
		const size_t len = strlen(prefixes[place]);
		if ((size_t)(name.end - name.begin) <= len || memcmp(name.begin, prefixes[place], len) != 0)
			continue;
		const struct field *field = find_field(p, (struct span){name.begin + len, name.end}, place);
		if (field)
			return field_at(p, NODE_FIELD, field->place.offset, type_integer(sizeof(uint32_t), false), field);
	}
	return NULL;
}

/* Behind "REC->". */
static struct node *parse_field(struct parser *p)
{
	const struct span name = take_word(p);
	const struct field *field = find_field(p, name, IN_RECORD);
	const bool is_head = !field && is(name, "ent") && take(p, ".");
	const struct span member = is_head ? take_word(p) : name;

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		if (is(member, is_head ? common[i].member : common[i].name))
			return field_at(p, NODE_FIELD, common[i].offset, (struct type){.own = common[i].type}, NULL);
	}
	if (!field)
		return payload_word(p, name);
	return field_at(p, field->is_array ? NODE_PLACE : NODE_FIELD, field->place.offset, type_of_field(field), field);
}

/* "(NAME)" of a payload. */
static const struct field *parse_payload_name(struct parser *p, bool relative)
{
	if (!take(p, "("))
		return NULL;
	const struct field *field = find_field(p, take_word(p), relative ? BY_REL_LOC : BY_DATA_LOC);
	return field && take(p, ")") ? field : NULL;
}

/* ---- Calls ---- */

/* Of a payload: its bytes as this type, their number, or the text of its bits. */
static const struct getter {
	const char *name;
	bool relative;
	enum node_kind kind;
	const struct type *type;
} getters[] = {
	{"__get_str", false, NODE_PAYLOAD, &type_text}, {"__get_rel_str", true, NODE_PAYLOAD, &type_text},
	{"__get_dynamic_array", false, NODE_PAYLOAD, &type_bytes}, {"__get_rel_dynamic_array", true, NODE_PAYLOAD, &type_bytes},
	{"__get_sockaddr", false, NODE_PAYLOAD, &type_bytes}, {"__get_rel_sockaddr", true, NODE_PAYLOAD, &type_bytes},
	{"__get_dynamic_array_len", false, NODE_LENGTH, NULL}, {"__get_rel_dynamic_array_len", true, NODE_LENGTH, NULL},
	{"__get_bitmask", false, NODE_CALL, &type_text}, {"__get_rel_bitmask", true, NODE_CALL, &type_text},
	{"__get_cpumask", false, NODE_CALL, &type_text}, {"__get_rel_cpumask", true, NODE_CALL, &type_text},
};

static struct node *parse_getter(struct parser *p, const struct getter *getter)
{
	const struct field *field = parse_payload_name(p, getter->relative);
	struct node *node = !field ? NULL :
		make(p, getter->kind, getter->type ? *getter->type : type_integer(sizeof(uint32_t), false));

	if (!node)
		return NULL;
	node->field = field;
	node->helper = HELPER_BITMASK;
	return node;
}

/* Entries of a table: "{ VALUE, TEXT }", and an empty one, which ends it. */
static bool parse_table(struct parser *p, struct node *call)
{
	struct node **end = &call->entries;
	bool is_open = true;

	while (take(p, "{")) {
		if (take(p, "}")) {
			is_open = false;
		} else {
			struct node *value = parse_choice(p);
			struct node *name = value && take(p, ",") ? parse_choice(p) : NULL;
			if (!name || name->type.own.kind != TYPE_POINTER || (take(p, ","), !take(p, "}")))
				return false;
			if (is_open) {
				value->next = name;
				*end = value;
				end = &name->next;
			}
		}
		if (!take(p, ","))
			break;
	}
	return take(p, ")");
}

static const struct signature {
	const char *name;
	enum helper helper;
	size_t nr_arguments; /* without a table */
	bool has_table, is_u64; /* else its values are unsigned longs */
} signatures[] = {
	{"__print_flags", HELPER_FLAGS, 2, true, false}, {"__print_flags_u64", HELPER_FLAGS, 2, true, true},
	{"__print_symbolic", HELPER_SYMBOLIC, 1, true, false}, {"__print_symbolic_u64", HELPER_SYMBOLIC, 1, true, true},
	{"__print_hex", HELPER_HEX, 2, false, false}, {"__print_hex_str", HELPER_HEX_STR, 2, false, false},
	{"__print_array", HELPER_ARRAY, 3, false, false}, {"__print_hex_dump", HELPER_HEX_DUMP, 7, false, false},
};

static struct node *parse_arguments(struct parser *p, const struct signature *signature)
{
	struct node *call = make(p, NODE_CALL, type_text);

	if (!call || !take(p, "("))
		return NULL;
	call->helper = signature->helper;
	call->table_size = signature->is_u64 ? LONGEST : p->fields->word;
	for (size_t i = 0; i < signature->nr_arguments; i++) {
		if (!with(call, parse_choice(p)))
			return NULL;
		if (!take(p, i + 1 < signature->nr_arguments || signature->has_table ? "," : ")"))
			return NULL;
	}
	return !signature->has_table || parse_table(p, call) ? call : NULL;
}

/* __print_dynamic_array(NAME, SIZE) */
static struct node *parse_dynamic_array(struct parser *p)
{
	struct node *call = make(p, NODE_CALL, type_text);

	if (!call || !take(p, "("))
		return NULL;
	call->helper = HELPER_DYNAMIC_ARRAY;
	call->field = find_field(p, take_word(p), BY_DATA_LOC);
	if (!call->field || !take(p, ","))
		return NULL;
	return with(call, parse_choice(p)) && take(p, ")") ? call : NULL;
}

static struct node *parse_call(struct parser *p, struct span name)
{
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++) {
		if (is(name, getters[i].name))
			return parse_getter(p, &getters[i]);
	}
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		if (is(name, signatures[i].name))
			return parse_arguments(p, &signatures[i]);
	}
	return is(name, "__print_dynamic_array") ? parse_dynamic_array(p) : NULL;
}

/* ---- Operands ---- */

static struct node *convert(struct parser *p, struct node *node, struct type type)
{
	if (type.own.kind == TYPE_INTEGER && memcmp(&type, &node->type, sizeof(type)) == 0)
		return node;
	return with(make(p, NODE_CONVERT, type), node);
}

static struct node *parse_text(struct parser *p)
{
	size_t len;
	char *text = literal_text(&p->text, &len);
	struct node *node = text ? constant(p, value_of_text(text, len)) : NULL;

	if (node)
		node->text = text;
	else
		free(text);
	return node;
}

static struct node *parse_number(struct parser *p)
{
	struct value value;

	return literal_number(&p->text, &value, p->fields->word) ? constant(p, value) : NULL;
}

static struct node *parse_constant_word(struct parser *p, struct span word)
{
	if (is(word, "true") || is(word, "false"))
		return number(p, is(word, "true"), type_int);
	if (is(word, "NULL"))
		return number(p, 0, type_bytes);
	if (is(word, "DUMP_PREFIX_NONE"))
		return number(p, 0, type_int);
	if (is(word, "DUMP_PREFIX_ADDRESS"))
		return number(p, 1, type_int);
	return is(word, "DUMP_PREFIX_OFFSET") ? number(p, 2, type_int) : NULL;
}

/* "sizeof(TYPE)", or of an expression. */
static struct node *parse_sizeof(struct parser *p)
{
	const struct type size_type = type_integer(p->fields->word, false);
	struct type type;

	if (type_name_take(&p->text, p->fields, &type))
		return type.own.size ? number(p, type.own.size, size_type) : NULL;
	const struct node *node = parse_unary(p);
	if (!node)
		return NULL;
	if ((node->kind == NODE_FIELD || node->kind == NODE_PLACE) && node->field)
		return number(p, node->field->size, size_type);
	if (node->kind == NODE_VALUE && node->text)
		return number(p, (uint64_t)(node->value.end - node->value.at), size_type);
	return node->type.own.size ? number(p, node->type.own.size, size_type) : NULL;
}

static struct node *parse_primary(struct parser *p)
{
	struct node *node;

	skip(p);
	if (p->text.begin == p->text.end)
		return NULL;
	if (take(p, "(")) {
		node = parse_comma(p);
		return node && take(p, ")") ? node : NULL;
	}
	if (*p->text.begin == '"')
		return parse_text(p);
	if (*p->text.begin == '\'' || isdigit((unsigned char)*p->text.begin) || *p->text.begin == '.')
		return parse_number(p);
	const struct span word = take_word(p);
	if (word.begin == word.end)
		return NULL;
	if (is(word, "REC"))
		return take(p, "->") ? parse_field(p) : NULL;
	if (is(word, "sizeof"))
		return parse_sizeof(p);
	return next_is(p, "(") ? parse_call(p, word) : parse_constant_word(p, word);
}

static struct node *load(struct parser *p, struct node *pointer)
{
	if (!pointer || pointer->type.own.kind != TYPE_POINTER || pointer->type.target.kind == TYPE_OTHER || !pointer->type.target.size ||
	    pointer->type.target.kind == TYPE_POINTER)
		return NULL;
	return with(make(p, NODE_LOAD, (struct type){.own = pointer->type.target}), pointer);
}

static struct node *parse_postfix(struct parser *p)
{
	struct node *node = parse_primary(p);

	while (node && take(p, "[")) {
		struct node *index = parse_comma(p);
		node = index && take(p, "]") ? load(p, binary(p, OPERATOR_ADD, node, index)) : NULL;
	}
	return node && !next_is(p, "->") && !next_is(p, ".") ? node : NULL;
}

/* ---- Operators ---- */

/* The address of a field, or of what was loaded. */
static struct node *address_of(struct parser *p, struct node *node)
{
	if (!node)
		return NULL;
	if (node->kind == NODE_LOAD)
		return node->children[0];
	if (node->kind == NODE_PLACE) /* an array begins where its first element does */
		return node;
	if (node->kind != NODE_FIELD)
		return NULL;
	return field_at(p, NODE_PLACE, node->offset, (struct type){.own = type_bytes.own, .target = node->type.own}, node->field);
}

static struct node *unary(struct parser *p, enum node_kind kind, struct node *node)
{
	if (!node || node->type.own.kind == TYPE_OTHER || (kind != NODE_NOT && node->type.own.kind == TYPE_POINTER) ||
	    (kind == NODE_INVERT && node->type.own.kind != TYPE_INTEGER))
		return NULL;
	return with(make(p, kind, kind == NODE_NOT ? type_int : type_promoted(node->type)), node);
}

static struct node *parse_operator(struct parser *p)
{
	struct type type;
	struct node *node;

	if (next_is(p, "++") || next_is(p, "--"))
		return NULL;
	if (take(p, "+")) {
		node = parse_unary(p);
		return node && node->type.own.kind <= TYPE_REAL ? convert(p, node, type_promoted(node->type)) : NULL;
	}
	if (take(p, "-"))
		return unary(p, NODE_NEGATE, parse_unary(p));
	if (take(p, "~"))
		return unary(p, NODE_INVERT, parse_unary(p));
	if (take(p, "!"))
		return unary(p, NODE_NOT, parse_unary(p));
	if (take(p, "*"))
		return load(p, parse_unary(p));
	if (take(p, "&"))
		return address_of(p, parse_unary(p));
	skip(p);
	if (type_name_take(&p->text, p->fields, &type)) {
		node = parse_unary(p);
		if (!node || type.own.kind == TYPE_OTHER || (type.own.kind == TYPE_REAL && node->type.own.kind > TYPE_REAL))
			return NULL;
		return convert(p, node, type);
	}
	return parse_postfix(p);
}

static struct node *parse_unary(struct parser *p)
{
	if (p->depth >= MAX_DEPTH)
		return NULL;
	p->depth++;
	struct node *node = parse_operator(p);
	p->depth--;
	return node;
}

/* The longer ones first. A higher level binds closer. */
static const struct {
	const char *text;
	enum operator op;
	int level;
} operators[] = {
	{"||", OPERATOR_LOGICAL_OR, 1}, {"&&", OPERATOR_LOGICAL_AND, 2}, {"==", OPERATOR_EQUAL, 6}, {"!=", OPERATOR_NOT_EQUAL, 6},
	{"<=", OPERATOR_LESS_EQUAL, 7}, {">=", OPERATOR_GREATER_EQUAL, 7}, {"<<", OPERATOR_LEFT, 8}, {">>", OPERATOR_RIGHT, 8},
	{"|", OPERATOR_OR, 3}, {"^", OPERATOR_XOR, 4}, {"&", OPERATOR_AND, 5}, {"<", OPERATOR_LESS, 7}, {">", OPERATOR_GREATER, 7},
	{"+", OPERATOR_ADD, 9}, {"-", OPERATOR_SUBTRACT, 9}, {"*", OPERATOR_MULTIPLY, 10}, {"/", OPERATOR_DIVIDE, 10},
	{"%", OPERATOR_MODULO, 10},
};

#define NR_OPERATORS (sizeof(operators) / sizeof(operators[0]))

/* The operator that comes next; NR_OPERATORS: there is none. */
static size_t next_operator(struct parser *p)
{
	size_t i = 0;

	while (i < NR_OPERATORS && !next_is(p, operators[i].text))
		i++;
	return i;
}

static struct node *parse_binary(struct parser *p, int level)
{
	struct node *node = parse_unary(p);

	while (node) {
		const size_t i = next_operator(p);
		if (i == NR_OPERATORS || operators[i].level < level)
			break;
		p->text.begin += strlen(operators[i].text);
		node = binary(p, operators[i].op, node, parse_binary(p, operators[i].level + 1));
	}
	return node;
}

static struct node *parse_branches(struct parser *p, struct node *condition)
{
	struct type type;
	struct node *yes = parse_comma(p);
	struct node *no = yes && take(p, ":") ? parse_choice(p) : NULL;

	if (!no || condition->type.own.kind == TYPE_OTHER || !type_common(yes->type, no->type, &type))
		return NULL;
	return with(with(with(make(p, NODE_CHOICE, type), condition), yes), no);
}

static struct node *parse_choice(struct parser *p)
{
	struct node *node = parse_binary(p, 1);

	if (!node || !take(p, "?") || p->depth >= MAX_DEPTH)
		return node && p->depth < MAX_DEPTH ? node : NULL;
	p->depth++;
	node = parse_branches(p, node);
	p->depth--;
	return node;
}

static struct node *parse_comma(struct parser *p)
{
	struct node *node = parse_choice(p);

	while (node && take(p, ",")) {
		struct node *last = parse_choice(p);
		node = last ? with(with(make(p, NODE_LAST, last->type), node), last) : NULL;
	}
	return node;
}

struct node *expression_parse(struct nodes *nodes, const struct fields *fields, struct span text)
{
	struct parser parser = {.nodes = nodes, .fields = fields, .text = text};
	struct node *node = parse_choice(&parser);

	skip(&parser);
	return parser.text.begin == parser.text.end ? node : NULL;
}
