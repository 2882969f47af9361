/* SPDX-License-Identifier: MIT */
/*
 * base/options.h - options as sinks take them: "mode=flight,size=64M".
 */
#ifndef TP_OPTIONS_H
#define TP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_option {
	const char *name;
	bool (*parse)(const char *value, void *into); /* false where the value is wrong */
	const char *allowed;                            /* values; NULL for an option that is its name alone */
};

struct tp_options {
	const char *subject;     /* "CTF trace" */
	const char *consequence; /* of a mistake: "there is no trace" */
	const struct tp_option *known;
	size_t nr;
};

/* Parses each into *into. False, after a message that says what is wrong in which of name. NULL and "" are no options. */
bool tp_options_parse(const struct tp_options *options, const char *text, const char *name, void *into);

/* "64K". False where it is no such number, or takes more than 64 bits. */
bool tp_options_number(const char *text, const char *suffixes, uint64_t *value);

#endif /* TP_OPTIONS_H */
