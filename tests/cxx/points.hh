/* SPDX-License-Identifier: MIT */
/* Sites of which each file that includes this has a copy: the linker keeps one, with its static key. */
#include "points.h"

inline void hit_inline(int number)
{
	trace_points_hit("inline", number);
}

__attribute__((noinline)) inline void hit_inline_never(int number)
{
	trace_points_hit("never inlined", number);
}

template <class T> __attribute__((noinline)) void hit_template(T number)
{
	trace_points_hit("template", static_cast<int>(number));
}

template <int number> struct hits_thrice {
	static void hit()
	{
		trace_points_hit("recursive template", number);
		hits_thrice<number - 1>::hit();
	}
};
template <> struct hits_thrice<0> {
	static void hit() {}
};

class object {
public:
	explicit object(int number_) : number(number_) { trace_points_hit("constructor", number); }
	virtual ~object() { trace_points_hit("destructor", number); }
	virtual void method() { trace_points_hit("method", number); }

private:
	int number;
};

extern "C" void hit_in_one(), hit_in_two(), hit_in_c(void);
