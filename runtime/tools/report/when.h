/* SPDX-License-Identifier: MIT */
/* when.h - moments, as people write them and as they are shown. */
#ifndef WHEN_H
#define WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum when_style {
	WHEN_EPOCH, /* 1795417254.112161973 */
	WHEN_UTC,   /* 2026-11-23 07:00:54.112161973 */
	WHEN_LOCAL, /* the same, in the time zone of TZ */
};

enum when_base {
	WHEN_ABSOLUTE,
	WHEN_FROM_BEGIN, /* of the trace */
	WHEN_BEFORE_END,
};

struct when {
	enum when_base base;
	uint64_t ns; /* from the epoch; or from, or before, that base */
};

/* "SECONDS[.FRACTION]" from the epoch, "YYYY-MM-DD HH:MM[:SS[.FRACTION]][Z]", "+5s", "-200ms". False where it is none. */
bool when_parse(struct when *when, const char *text, enum when_style style);

#define WHEN_TEXT_SIZE 64

/* Many moments of one second are shown quickly. Zeros are none. */
struct when_text {
	uint64_t second;
	char text[WHEN_TEXT_SIZE];
	size_t len; /* of the part in front of the fraction; 0: there is none yet */
};

/* Shows the moment, in ns from the epoch, and returns the text's length. */
size_t when_show(struct when_text *shown, enum when_style style, uint64_t ns);

#endif /* WHEN_H */
