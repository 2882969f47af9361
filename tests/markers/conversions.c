/* SPDX-License-Identifier: MIT */
/* A marker of all that a record may have. */
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <tp/marker.h>

int main(void)
{
	trace_mark(integers, "d %d u=%u (hhd: %hhd hhu %hhu hd %hd hu %hu ld %ld lu %lu lld %lld llu %llu",
		   -1, 2u, (signed char)-3, (unsigned char)200, (short)-4, (unsigned short)60000, -5L, 6ul, -7LL, 8ull);
	trace_mark(others, "zu %zu zd %zd jd %jd td %td x 0x%x lX 0x%lX o %o", (size_t)9, (ssize_t)-10, (intmax_t)-11,
		   (ptrdiff_t)-12, 0xbeefu, 0xdeadul, 8u);
	trace_mark(values, "c %c p %p g %g lg %Lg s %s null %s cut %.*s%% end", 'A', (void *)0x1234, 2.5, 0.125L, "text",
		   (const char *)NULL, 2, "cut");
	trace_mark(twice, "a %d a %d %d int %d", 1, 2, 3, 4);
	trace_mark(nothing, MARK_NOARGS);
	return 0;
}
