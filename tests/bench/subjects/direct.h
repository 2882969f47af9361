/* SPDX-License-Identifier: MIT */
/* CALLS calls of the probe, as one would write them without any tracing. */
#define HIT(number, id, name) \
	do { \
		_Pragma("GCC unroll 8") for (int call = 0; call < CALLS; call++) \
			empty_probe(NULL, number, id, name); \
	} while (0)
