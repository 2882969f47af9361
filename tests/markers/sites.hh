/* SPDX-License-Identifier: MIT */
/* Sites that several files have, of which the linker keeps one. */
#include <tp/marker.h>

inline void in_inline(int a)
{
	trace_mark(in_inline, "a %d", a);
}

template <class T> void in_template(T a)
{
	trace_mark(in_template, "a %d size %zu", static_cast<int>(a), sizeof(T));
}

struct Thing {
	int value;
	void method() const
	{
		trace_mark(in_method, "value %d", value);
	}
};

inline int in_static_of_inline(int a)
{
	auto lambda = [](int b) {
		trace_mark(in_lambda, "b %d text %s", b, "x");
		return b + 1;
	};
	return lambda(a);
}
