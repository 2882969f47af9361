/* SPDX-License-Identifier: MIT */
#include "sites.hh"

extern "C" void hit_two(void);
extern "C" void hit_two(void)
{
	in_inline(2);
	in_template(3);
	in_template(static_cast<short>(4));
	in_static_of_inline(2);
	Thing{2}.method();
}
