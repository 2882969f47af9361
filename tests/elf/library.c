/* SPDX-License-Identifier: MIT */
#define CREATE_TRACE_POINTS
#include "library.h"

__attribute__((visibility("default"))) void library_call(void);

void library_call(void)
{
	trace_library_hit(1);
}
