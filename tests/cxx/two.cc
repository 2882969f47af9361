/* SPDX-License-Identifier: MIT */
#include "points.hh"

void hit_in_two()
{
	auto lambda = [](int number) { trace_points_hit("lambda", number); };
	object here(1);

	hit_inline(1);
	hit_inline_never(2);
	hit_template(3);
	hit_template(4.0);
	hits_thrice<3>::hit();
	here.method();
	lambda(5);
}
