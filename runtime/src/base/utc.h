/* SPDX-License-Identifier: MIT */
/*
 * base/utc.h - a moment as people read it. gmtime_r() takes a lock that
 * another thread of a forked child's parent may have held.
 */
#ifndef TP_UTC_H
#define TP_UTC_H

#include <stdint.h>

struct tp_utc {
	int64_t year;
	unsigned int month, day; /* from 1 */
	unsigned int hour, minute, second;
};

/* Seconds since the epoch, in the Gregorian calendar. */
struct tp_utc tp_utc_of(int64_t seconds);

#endif /* TP_UTC_H */
