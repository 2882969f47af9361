// SPDX-License-Identifier: MIT
// Compiled twice, as two files of a program: inline functions that both have.
#include "widths.h"

inline int shared(int n)
{
	trace_even((uint32_t)n, "shared");
	return n * 3;
}

template <class T> T of_type(T n)
{
	TP_SDT_PROBE("template", "of_type", n);
	return n;
}

#ifdef FIRST
int second(int n);

int main(int argc, char **)
{
	int (*volatile f)(int) = shared;
	long (*volatile g)(long) = of_type<long>;

	return second(argc) + f(argc) + static_cast<int>(g(argc)) == 8 ? 0 : 1;
}
#else
int second(int n);
int second(int n)
{
	int (*volatile f)(int) = shared;
	long (*volatile g)(long) = of_type<long>;

	return f(n) + static_cast<int>(g(n));
}
#endif
