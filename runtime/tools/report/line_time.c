/* SPDX-License-Identifier: MIT */
#include "report/line_time.h"

#include <stdio.h>
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

/* " (+0.000012345)": as tp report has it. */
static size_t show_delta(char *text, size_t size, uint64_t before, uint64_t ns)
{
	const uint64_t apart = ns >= before ? ns - before : before - ns;

	return (size_t)snprintf(text, size, " (%c%llu.%09u)", ns >= before ? '+' : '-', (unsigned long long)(apart / NS_PER_S),
				(unsigned int)(apart % NS_PER_S));
}

size_t line_time_change(struct line_time *time, char *line, size_t len)
{
	char text[LINE_TIME_MORE];
	uint64_t ns;

	const size_t old = parse(line, len, &ns);
	if (!old)
		return len;
	size_t shown = when_show(&time->shown, time->style, ns);
	memcpy(text, time->shown.text, shown);
	if (time->with_delta)
		shown += show_delta(text + shown, sizeof(text) - shown, time->before ? time->before : ns, ns);
	time->before = ns;
	memmove(line + shown, line + old, len - old);
	memcpy(line, text, shown);
	return len - old + shown;
}
