/* SPDX-License-Identifier: MIT */
/* line_time.h - the time in front of a line of the text output, shown in another way. */
#ifndef LINE_TIME_H
#define LINE_TIME_H

#include "report/when.h"

/* Zeros: as seconds since the epoch, as it was. */
struct line_time {
	enum when_style style;
	bool with_delta; /* also the time since the line before */
	uint64_t before; /* its moment; 0: there was none */
	struct when_text shown;
};

#define LINE_TIME_MORE (WHEN_TEXT_SIZE + 40)

/*
 * Changes the line of len bytes in its place, which has room for LINE_TIME_MORE bytes more. One that does not begin with such a time stays
 * as it is. Returns its new length.
 */
size_t line_time_change(struct line_time *time, char *line, size_t len);

#endif /* LINE_TIME_H */
