/* SPDX-License-Identifier: MIT */
#include "sites.hh"

extern "C" void hit_one(void);

namespace
{
struct Global {
	Global()
	{
		trace_mark(in_constructor, MARK_NOARGS);
	}
} global;
}

static bool guarded(int n)
{
	/* Variables with a scope, between sites. */
	trace_mark(in_scope, "n %d", n);
	const Thing outer = {n};
	if (n > 0) {
		const Thing inner = {n + 1};
		trace_mark(in_scope, "n %d", inner.value);
		inner.method();
	}
	return outer.value > 0;
}

extern "C" void hit_one(void)
{
	in_inline(1);
	in_template(1);
	in_template(2.0);
	in_static_of_inline(1);
	if (guarded(1))
		trace_mark(many, "%d %d %d %d %d %d %s %g", 1, 2, 3, 4, 5, 6, "seven", 8.5);
}
