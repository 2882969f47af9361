/* SPDX-License-Identifier: MIT */
/* cpp.cc - lessons of C++. */
#include "lessons.h"

static unsigned long calls;

template <unsigned int limit> static void limited(void *, unsigned long left)
{
	TP_LIMIT_RECURSION(limit);
	calls++;
	if (left)
		trace_lessons_bare(left - 1);
}

/* The limit holds after an exception, too: it is given back on all ways out. */
static void throwing(void *, unsigned long n)
{
	TP_LIMIT_RECURSION(1);
	calls++;
	try {
		if (n)
			throw 1;
	} catch (int) {
		return;
	}
}

extern "C" void lesson_recursion_in_cpp(void)
{
	CHECK(register_trace_lessons_bare(limited<1>, nullptr) == 0);
	trace_lessons_bare(99);
	CHECK(calls == 1);
	CHECK(unregister_trace_lessons_bare(limited<1>, nullptr) == 0);
	CHECK(register_trace_lessons_bare(limited<3>, nullptr) == 0);
	trace_lessons_bare(99);
	CHECK(calls == 4);
	trace_lessons_bare(99);
	CHECK(calls == 7);
	CHECK(unregister_trace_lessons_bare(limited<3>, nullptr) == 0);
	CHECK(register_trace_lessons_bare(throwing, nullptr) == 0);
	trace_lessons_bare(1);
	trace_lessons_bare(1);
	CHECK(calls == 9);
	CHECK(unregister_trace_lessons_bare(throwing, nullptr) == 0);
}
