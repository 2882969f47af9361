/* SPDX-License-Identifier: MIT */
/* one.cc and two.cc: the same inline functions and templates in two files, and objects with sites in constructors. */
#include "sites.h"

namespace {

struct object {
	struct count *at_end;
	object(struct count *c, struct count *end) : at_end(end) { HIT(c); }
	~object() { HIT(at_end); }
};

object global(&at_start, &at_end);

/* What is called when an exception passes by. */
struct local {
	struct count *c;
	~local() { HIT(c); }
};

void throws(struct count *c, int n)
{
	local object = { c };
	HIT(c);
	if (n)
		throw n;
	HIT_SHARED(c);
}

void hit_in_this_file(struct count *c)
{
	hit_static_inline(c);
	hit_inline(c);
	hit_inline_never(c);
	repeated<4>::hit(c);
	hit_template(c, 3);
	hit_template(c, 4u);
	hit_template(c, 2.5);
	auto lambda = [c](int n) {
		for (int i = 0; i < n; i++)
			HIT_SHARED(c);
	};
	lambda(3);
	throws(c, 0);
	try {
		throws(c, 1);
	} catch (int) {
		HIT(c);
	}
}

}
