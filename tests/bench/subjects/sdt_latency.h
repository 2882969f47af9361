/* SPDX-License-Identifier: MIT */
/* The same by SystemTap's USDT probes. */
#include <sys/sdt.h>

#define HIT(number, id, name)                                                  \
	do {                                                                   \
		DTRACE_PROBE1(bench, pair_begin, (uint32_t)(number) & 1023);   \
		DTRACE_PROBE1(bench, pair_end, (uint32_t)(number) & 1023);     \
	} while (0)
