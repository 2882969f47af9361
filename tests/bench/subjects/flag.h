/* SPDX-License-Identifier: MIT */
/* What one writes by hand: a flag, which the argument is, and CALLS calls behind it. */
static volatile int flag;
#define PREPARE(argument) (flag = (argument))

#define HIT(number, id, name) \
	do { \
		if (__builtin_expect(flag, 0)) { \
			_Pragma("GCC unroll 8") for (int call = 0; call < CALLS; call++) \
				empty_probe(NULL, number, id, name); \
		} \
	} while (0)
