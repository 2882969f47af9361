/* SPDX-License-Identifier: MIT */
#include "sites.hh"

void hit_in_two(struct count *c)
{
	hit_in_this_file(c);
}
