/* SPDX-License-Identifier: MIT */
/* conversion.h - a conversion of a print format, as "%-5s", and what printf is given for it. */
#ifndef PRINTK_CONVERSION_H
#define PRINTK_CONVERSION_H

#include "printk/expression.h"

#define MAX_WIDTH 65535 /* wider texts take for ever */

/* A conversion as printf takes it: its flags, and width and precision as they are for a record. */
struct spec {
	char text[48];
	int width, precision; /* -1: none */
	bool is_left;         /* by its flag, or as a star was below 0 */
	bool is_star_below_0;
	bool is_plain;        /* "%d", "%u", of any length, "%p" or "%s" */
};

/* Most arguments are fields, printed as they are: these need neither an evaluation nor a printf. */
enum plain {
	PLAIN_NOT,
	PLAIN_SIGNED,
	PLAIN_UNSIGNED,
	PLAIN_ADDRESS,
	PLAIN_TEXT,
};

/* A conversion, and the text in front of it. Without a letter: what is behind the last one. */
struct conversion {
	struct span before;
	char flags[8];
	bool has_width_star, has_precision_star;
	struct spec spec; /* without stars, it is the same for all records */
	char length[3];
	struct type type; /* of an integer: the argument's */
	char letter;
	char pointer[8]; /* of the kernel's %p: the letters behind it */
	struct node *star[2], *value;
	enum plain plain;
};

/* Takes what is behind the "%". False: it is none, or wider than any text. */
bool conversion_take(struct conversion *conversion, const char **at, const char *end);

/* The text of a spec with the conversion's flags, and the spec's width and precision. */
void conversion_write_spec(struct spec *spec, const struct conversion *conversion);

/* As C takes an argument: an int, or what the length names. word: bytes of a long in the program. */
struct type conversion_type(const struct conversion *conversion, uint32_t word);

/* Once the conversion has its arguments, its type and its spec. */
enum plain conversion_plain(const struct conversion *conversion);

#endif /* PRINTK_CONVERSION_H */
