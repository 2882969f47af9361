/* SPDX-License-Identifier: MIT */
/* Has events, markers, and with -DLIBRARY those of library.c. */
#define CREATE_TRACE_POINTS
#include "listed.h"
#include <tp/marker.h>
#ifdef LIBRARY
void library_call(void);
#endif

int main(int argc, char **argv)
{
	trace_listed_hit(argc, argv[0]);
	trace_listed_empty();
	trace_listed_bare(argc);
	trace_mark(listed_mark, "argc %d name %s rate %f", argc, argv[0], 1.5);
	trace_mark(listed_mark, "argc %d name %s rate %f", argc, argv[0], 2.5);
	trace_mark(listed_none, MARK_NOARGS);
#ifdef LIBRARY
	library_call();
#endif
	return 0;
}
