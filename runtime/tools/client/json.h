/* SPDX-License-Identifier: MIT */
/* json.h - JSON that a process reports, which may be any text. Numbers stay as they are written: they may have 128 bits. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_kind kind;
	const char *name;         /* of a member of an object; or NULL */
	const char *text;         /* of a number or string, with a NUL behind it */
	const struct json *first; /* of an array or object; or NULL */
	const struct json *next;  /* in the same; or NULL */
};

/* Zeros are none. */
struct json_document {
	struct json root;
	char *text;
	struct json_block *blocks;
	size_t nr_nodes;
};

/*
 * Takes the text over, which malloc() has made and a NUL ends, and changes it. False: it is no JSON value, is nested too deeply, or
 * there is no memory. To be freed in any case.
 */
bool json_parse(struct json_document *document, char *text);
void json_free(struct json_document *document);

/* The object's member; NULL: there is none. */
const struct json *json_member(const struct json *object, const char *name);

/* The member's value; 0, NAN, "" or NULL where it is not there, or of another kind. */
uint64_t json_uint64(const struct json *object, const char *name);
double json_double(const struct json *object, const char *name);
const char *json_text(const struct json *object, const char *name);
const struct json *json_first(const struct json *object, const char *name);

/* Elements. */
size_t json_count(const struct json *first);

#endif /* JSON_H */
