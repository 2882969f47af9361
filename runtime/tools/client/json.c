/* SPDX-License-Identifier: MIT */
#include "client/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32
#define BLOCK 1024
#define NODES_MAX ((size_t)4 << 20) /* of a histogram that is full, there are fewer */

struct json_block {
	struct json_block *next;
	struct json nodes[BLOCK];
};

struct parser {
	struct json_document *document;
	char *at;
};

static bool parse_value(struct parser *parser, struct json *node, int depth);

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t\r\n");
}

static struct json *new_node(struct json_document *document)
{
	const size_t place = document->nr_nodes % BLOCK;

	if (document->nr_nodes == NODES_MAX)
		return NULL;
	if (place == 0) {
		struct json_block *block = malloc(sizeof(*block));
		if (!block)
			return NULL;
		block->next = document->blocks;
		document->blocks = block;
	}
	document->nr_nodes++;
	document->blocks->nodes[place] = (struct json){.kind = JSON_NULL};
	return &document->blocks->nodes[place];
}

/* ---- Strings ---- */

static bool take_hex(const char *at, unsigned int *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++) {
		const char c = at[i];
		const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
		if (digit < 0)
			return false;
		*code = *code << 4 | (unsigned int)digit;
	}
	return true;
}

/* As UTF-8, which is no longer than \uXXXX. A NUL, and half of a pair, become a question mark. */
static char *put_code(char *to, unsigned int code)
{
	if (code == 0 || (code >= 0xd800 && code < 0xe000))
		code = '?';
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* Behind the backslash. */
static bool take_escape(struct parser *parser, char **to)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char c = *parser->at++;
	const char *name = c ? strchr(names, c) : NULL;
	unsigned int code;

	if (name) {
		*(*to)++ = values[name - names];
		return true;
	}
	if (c != 'u' || !take_hex(parser->at, &code))
		return false;
	parser->at += 4;
	*to = put_code(*to, code);
	return true;
}

/* In its own place, as it gets no longer. */
static bool parse_string(struct parser *parser, const char **text)
{
	if (*parser->at != '"')
		return false;
	char *to = ++parser->at;
	*text = to;
	while (*parser->at != '"') {
		if (!*parser->at)
			return false;
		if (*parser->at != '\\') {
			*to++ = *parser->at++;
			continue;
		}
		parser->at++;
		if (!take_escape(parser, &to))
			return false;
	}
	parser->at++;
	*to = '\0';
	return true;
}

/* ---- Other values ---- */

static bool parse_number(struct parser *parser, struct json *node)
{
	const size_t len = strspn(parser->at, "+-.0123456789eE");

	/* A NUL is needed behind it, where its end is: so it moves one byte to the left, over a blank, bracket, colon or comma. */
	memmove(parser->at - 1, parser->at, len);
	parser->at[len - 1] = '\0';
	node->kind = JSON_NUMBER;
	node->text = parser->at - 1;
	parser->at += len;
	return true;
}

static bool parse_word(struct parser *parser, struct json *node)
{
	static const struct {
		const char *word;
		enum json_kind kind;
	} words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(parser->at, words[i].word, strlen(words[i].word)) == 0) {
			parser->at += strlen(words[i].word);
			node->kind = words[i].kind;
			return true;
		}
	}
	return false;
}

static bool parse_name(struct parser *parser, struct json *node)
{
	skip_blanks(parser);
	if (!parse_string(parser, &node->name))
		return false;
	skip_blanks(parser);
	return *parser->at++ == ':';
}

/* Behind the bracket. */
static bool parse_elements(struct parser *parser, struct json *node, char end, int depth)
{
	const struct json **link = &node->first;

	skip_blanks(parser);
	if (*parser->at == end) {
		parser->at++;
		return true;
	}
	for (;;) {
		struct json *element = depth < DEPTH_MAX ? new_node(parser->document) : NULL;
		if (!element)
			return false;
		*link = element;
		link = &element->next;
		if ((end == '}' && !parse_name(parser, element)) || !parse_value(parser, element, depth + 1))
			return false;
		skip_blanks(parser);
		const char c = *parser->at;
		parser->at += c != '\0';
		if (c == end)
			return true;
		if (c != ',')
			return false;
	}
}

static bool parse_value(struct parser *parser, struct json *node, int depth)
{
	skip_blanks(parser);
	const char c = *parser->at;
	if (c == '{' || c == '[') {
		parser->at++;
		node->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
		return parse_elements(parser, node, c == '{' ? '}' : ']', depth);
	}
	if (c == '"') {
		node->kind = JSON_STRING;
		return parse_string(parser, &node->text);
	}
	if (depth && (c == '-' || (c >= '0' && c <= '9')))
		return parse_number(parser, node);
	return parse_word(parser, node);
}

bool json_parse(struct json_document *document, char *text)
{
	struct parser parser = {.document = document, .at = text};

	*document = (struct json_document){.text = text};
	if (!parse_value(&parser, &document->root, 0))
		return false;
	skip_blanks(&parser);
	return !*parser.at;
}

void json_free(struct json_document *document)
{
	for (struct json_block *block = document->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(document->text);
	*document = (struct json_document){.text = NULL};
}

/* ---- Reading ---- */

const struct json *json_member(const struct json *object, const char *name)
{
	const struct json *member = object && object->kind == JSON_OBJECT ? object->first : NULL;

	while (member && strcmp(member->name, name) != 0)
		member = member->next;
	return member;
}

static const char *member_text(const struct json *object, const char *name, enum json_kind kind)
{
	const struct json *member = json_member(object, name);

	return member && member->kind == kind ? member->text : NULL;
}

uint64_t json_uint64(const struct json *object, const char *name)
{
	const char *text = member_text(object, name, JSON_NUMBER);

	return text ? strtoull(text, NULL, 10) : 0;
}

double json_double(const struct json *object, const char *name)
{
	const char *text = member_text(object, name, JSON_NUMBER);

	return text ? strtod(text, NULL) : NAN;
}

const char *json_text(const struct json *object, const char *name)
{
	const char *text = member_text(object, name, JSON_STRING);

	return text ? text : "";
}

const struct json *json_first(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && (member->kind == JSON_ARRAY || member->kind == JSON_OBJECT) ? member->first : NULL;
}

size_t json_count(const struct json *first)
{
	size_t nr = 0;

	for (; first; first = first->next)
		nr++;
	return nr;
}
