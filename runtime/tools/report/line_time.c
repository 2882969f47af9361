/* SPDX-License-Identifier: MIT */
#include "report/line_time.h"

#include <string.h>

#define NS_PER_S 1000000000u
#define FRACTION_DIGITS 9
#define SECONDS_DIGITS 10 /* 18 with the fraction fit in 64 bits */

static bool take_digits(const char *line, size_t nr, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < nr; i++) {
		if (line[i] < '0' || line[i] > '9')
			return false;
		*number = 10 * *number + (uint64_t)(line[i] - '0');
	}
	return true;
}

/* "1795756328.338826464 ": its length without the blank; 0: there is none. */
static size_t parse(const char *line, size_t len, uint64_t *ns)
{
	const char *point = memchr(line, '.', len < SECONDS_DIGITS + 1 ? len : SECONDS_DIGITS + 1);
	uint64_t seconds, fraction;

	if (!point || point == line)
		return 0;
	const size_t whole = (size_t)(point - line), all = whole + 1 + FRACTION_DIGITS;
	if (len <= all || line[all] != ' ' || !take_digits(line, whole, &seconds) || !take_digits(point + 1, FRACTION_DIGITS, &fraction))
		return 0;
	*ns = seconds * NS_PER_S + fraction;
	return all;
}

size_t line_time_change(struct line_time *time, char *line, size_t len)
{
	char difference[WHEN_TEXT_SIZE];
	const char *text = difference;
	size_t shown;
	uint64_t ns;

	const size_t old = parse(line, len, &ns);
	if (!old)
		return len;
	if (time->delta) {
		shown = when_show_difference(difference, time->before ? time->before : ns, ns);
		time->before = ns;
	} else {
		shown = when_show(&time->shown, time->style, ns);
		text = time->shown.text;
	}
	memmove(line + shown, line + old, len - old);
	memcpy(line, text, shown);
	return len - old + shown;
}
