// SPDX-License-Identifier: MIT
/* What is compiled in many ways, as C and as C++: functions with sites, some inlined more than once. */
#include <tp/marker.h>

#include "widths.h"

#ifdef __cplusplus
extern "C"
#endif
int hit(int n, char **p);
void never_called(int n);

static inline int twice(int n)
{
	trace_even((uint32_t)n, "twice");
	return n + 1;
}

int hit(int n, char **p)
{
	static const int array[2] = {1, 2};
	static int evaluated;

	trace_none();
	trace_narrow((uint32_t)n, -8, 0xf8, -16, 0xfff0, true, 'J', BLUE, LEFT);
	trace_wide((uint32_t)n, -32, 0xfffffff0u, -64, UINT64_MAX - 64, p[0], NULL, array);
	trace_left_out(-1, 2.5, pair_of(n), -1000000000000, 1.5f, 3.5L, -3);
	trace_fourteen(n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13);
	if (n)
		TP_SDT_PROBE("marker", "one", ++evaluated);
	else
		trace_mark(seventeen, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8,
			   9, 10, 11, 12, 13, 14, 15, 16, 17);
	trace_mark(most, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2,
		   3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
		   30, 31, 32);
	return twice(n) + twice(n + 1) + evaluated;
}

void never_called(int n)
{
	TP_SDT_PROBE("marker", "never", n);
}
