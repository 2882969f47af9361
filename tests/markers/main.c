/* SPDX-License-Identifier: MIT */
/*
 * Hits each marker of its files, off and on, and prints what their probes
 * have got.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tp/marker.h>

void hit_one(void);
void hit_two(void);
void never_called(void);

static unsigned int evaluated;

static int evaluate(int a)
{
	evaluated++;
	return a;
}

static inline void in_static_inline(int a)
{
	trace_mark(in_static_inline, "a %d", a);
}

/* Its section may go. */
void never_called(void)
{
	trace_mark(never, MARK_NOARGS);
}

static __attribute__((noinline)) void release(const int *p)
{
	(void)p;
}

static void hit_c(int n)
{
	in_static_inline(evaluate(1));
	for (int i = 0; i < 4; i++) {
		__attribute__((cleanup(release))) int clean = i;
		in_static_inline(clean);
		trace_mark(in_loop, "i %d", evaluate(i));
	}
	int array[n];
	array[0] = 5;
	if (n)
		trace_mark(in_if, "array %d of %d", array[0], n);
	else
		trace_mark(in_if, "array %d of %d", 0, 0);
	trace_mark(six, "%d %d %d %d %d %s", 1, 2, 3, 4, evaluate(5), "six");
	trace_mark(errno, "%g", 0.5); /* a macro's name is none to a marker */
}

static void hit_all(void)
{
	hit_c(2);
	hit_one();
	hit_two();
}

/* ---- Probes ---- */

static const struct {
	const char *name, *format;
} markers[] = {
	{"in_static_inline", "a %d"}, {"in_loop", "i %d"}, {"in_if", "array %d of %d"},
	{"six", "%d %d %d %d %d %s"}, {"errno", "%g"}, {"in_inline", "a %d"}, {"in_template", "a %d size %zu"},
	{"in_method", "value %d"}, {"in_lambda", "b %d text %s"}, {"in_scope", "n %d"},
	{"many", "%d %d %d %d %d %d %s %g"}, {"in_constructor", MARK_NOARGS},
};
#define NR (sizeof(markers) / sizeof(markers[0]))

static char got[NR][256];

static void note(void *data, void *marker, const char *fmt, va_list *args)
{
	char *text = data;
	size_t len = strlen(text);

	(void)marker;
	len += (size_t)snprintf(text + len, 256 - len, "; ");
	vsnprintf(text + len, 256 - len, fmt, *args);
}

static void look(struct marker *marker, void *priv)
{
	for (size_t i = 0; i < NR; i++) {
		if (strcmp(marker->name, markers[i].name) == 0)
			((unsigned int *)priv)[i]++;
	}
}

/* In front of all constructors of C++. */
static void __attribute__((constructor(110))) listen(void)
{
	marker_probe_register("in_constructor", MARK_NOARGS, note, got[NR - 1]);
}

int main(void)
{
	unsigned int listed[NR] = {0};

	hit_all();
	printf("off: %u evaluated beside the calls\n", evaluated - 1);
	for (size_t i = 0; i < NR - 1; i++) {
		if (marker_probe_register(markers[i].name, markers[i].format, note, got[i]))
			printf("%s can't be registered\n", markers[i].name);
	}
	hit_all();
	for (size_t i = 0; i < NR; i++)
		marker_probe_unregister(markers[i].name, note, got[i]);
	hit_all();
	tp_for_each_marker(look, listed);
	for (size_t i = 0; i < NR; i++)
		printf("%s%s%s\n", markers[i].name, got[i], listed[i] ? "" : " is not listed");
	return 0;
}
