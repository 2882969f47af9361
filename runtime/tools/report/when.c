/* SPDX-License-Identifier: MIT */
#include "report/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/print.h"

#define NS_PER_S 1000000000u
#define SECONDS_MAX (INT64_MAX / NS_PER_S)
#define FRACTION_DIGITS 9

/* ---- As people write them ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of seconds at most, of so many digits at least; moves on behind it. */
static bool take_number(const char **at, uint64_t *number)
{
	char *end;

	if (!is_digit(**at))
		return false;
	unsigned long long value = strtoull(*at, &end, 10);
	*at = end;
	*number = value;
	return value <= SECONDS_MAX;
}

/* ".5": digits, of which nine count; none is there without the point. In billionths. */
static bool take_fraction(const char **at, uint64_t *fraction)
{
	uint64_t unit = NS_PER_S / 10;

	*fraction = 0;
	if (**at != '.')
		return true;
	if (!is_digit(*++*at))
		return false;
	for (; is_digit(**at); (*at)++) {
		*fraction += (uint64_t)(**at - '0') * unit;
		unit /= 10;
	}
	return true;
}

static bool parse_duration(uint64_t *ns, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", NS_PER_S}, {"s", NS_PER_S}, {"ms", 1000000}, {"us", 1000}, {"ns", 1},
		{"m", 60ull * NS_PER_S}, {"h", 3600ull * NS_PER_S}, {"d", 86400ull * NS_PER_S},
	};
	uint64_t whole, fraction;

	if (!take_number(&text, &whole) || !take_fraction(&text, &fraction))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name) != 0)
			continue;
		const uint64_t unit = units[i].ns;
		uint64_t of_fraction = unit < NS_PER_S ? fraction * unit / NS_PER_S : fraction * (unit / NS_PER_S);
		if (whole > (INT64_MAX - of_fraction) / units[i].ns)
			return false;
		*ns = whole * units[i].ns + of_fraction;
		return true;
	}
	return false;
}

static bool parse_date(uint64_t *ns, const char *text, enum when_style style)
{
	static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"};
	const char *at = NULL;
	uint64_t fraction;
	struct tm tm;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && !at; i++) {
		memset(&tm, 0, sizeof(tm));
		tm.tm_isdst = -1;
		at = strptime(text, formats[i], &tm);
	}
	if (!at || !take_fraction(&at, &fraction))
		return false;
	const bool is_utc = *at == 'Z';
	time_t seconds = is_utc || style == WHEN_UTC ? timegm(&tm) : mktime(&tm);
	*ns = (uint64_t)seconds * NS_PER_S + fraction;
	return at[is_utc] == '\0' && seconds >= 0 && (uint64_t)seconds < SECONDS_MAX;
}

bool when_parse(struct when *when, const char *text, enum when_style style)
{
	const char *at = text;
	uint64_t fraction;

	if (*text == '+' || *text == '-') {
		when->base = *text == '+' ? WHEN_FROM_BEGIN : WHEN_BEFORE_END;
		return parse_duration(&when->ns, text + 1);
	}
	when->base = WHEN_ABSOLUTE;
	if (take_number(&at, &when->ns) && take_fraction(&at, &fraction) && !*at && when->ns < SECONDS_MAX) {
		when->ns = when->ns * NS_PER_S + fraction;
		return true;
	}
	return parse_date(&when->ns, text, style);
}

/* ---- As they are shown ---- */

static size_t show_second(char *text, enum when_style style, uint64_t second)
{
	time_t time = (time_t)second;
	struct tm tm;

	if (style == WHEN_UTC ? gmtime_r(&time, &tm) : style == WHEN_LOCAL ? localtime_r(&time, &tm) : NULL)
		return strftime(text, WHEN_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	return (size_t)snprintf(text, WHEN_TEXT_SIZE, "%llu", (unsigned long long)second);
}

size_t when_show(struct when_text *shown, enum when_style style, uint64_t ns)
{
	if (!shown->len || shown->second != ns / NS_PER_S) {
		shown->second = ns / NS_PER_S;
		shown->len = show_second(shown->text, style, shown->second);
	}
	char *const end = shown->text + shown->len + 1 + FRACTION_DIGITS;
	tp_digits_before(end, NS_PER_S + ns % NS_PER_S)[0] = '.'; /* in the place of a 1, behind which the zeros are kept */
	*end = '\0';
	return shown->len + 1 + FRACTION_DIGITS;
}
