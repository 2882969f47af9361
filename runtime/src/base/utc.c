/* SPDX-License-Identifier: MIT */
/*
 * base/utc.c - see utc.h.
 */
#include "base/utc.h"

#define DAY 86400
#define DAYS_OF_400_YEARS 146097

/* Years begin in March here, so that the day that some of them have more is their last. */
struct tp_utc tp_utc_of(int64_t seconds)
{
	int64_t days = (seconds >= 0 ? seconds : seconds - (DAY - 1)) / DAY;
	unsigned int rest = (unsigned int)(seconds - days * DAY);

	days += 719468; /* from 1 March of the year 0 to 1 January 1970 */
	int64_t era = (days >= 0 ? days : days - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
	unsigned int day = (unsigned int)(days - era * DAYS_OF_400_YEARS);
	unsigned int year = (day - day / 1460 + day / 36524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
	day -= 365 * year + year / 4 - year / 100;
	unsigned int month = (5 * day + 2) / 153;

	return (struct tp_utc){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day - (153 * month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
	};
}
