/* SPDX-License-Identifier: MIT */
#include "points.h"

void hit_in_c(void);
void hit_in_c(void)
{
	trace_points_hit("C", 6);
}
