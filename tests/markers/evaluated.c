/* SPDX-License-Identifier: MIT */
/*
 * evaluated.c - how often the arguments of a marker are evaluated, off and on. Of these,
 * two have an effect among the first twelve, and one behind them. C, and C++ as well.
 */
#include <stdio.h>
#include <tp/marker.h>

static int calls, increments, argument;

static int call(void)
{
	return ++calls;
}

static void probe(void *data, void *call_private, const char *fmt, va_list *args)
{
	(void)data, (void)call_private, (void)fmt, (void)va_arg(*args, int);
	argument = va_arg(*args, int);
}

#define FORMAT "%d %d %d %d %d %d %d %d %d %d %d %d %d %d"

static void hit(void)
{
	trace_mark(many, FORMAT, call(), increments++, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, call(), 14);
}

int main(void)
{
	const struct {
		unsigned int bits : 3;
	} some = {5};

	hit();
	printf("off: %d calls, %d increments\n", calls, increments);
	if (marker_probe_register("many", FORMAT, probe, 0) != 0)
		return 1;
	hit();
	printf("on: %d calls, %d increments, the argument is %d\n", calls, increments, argument);
	trace_mark(other, "text %s bits %u real %g literal %s", "t", some.bits, 1.5, "x");
	trace_mark(none, MARK_NOARGS);
	return 0;
}
