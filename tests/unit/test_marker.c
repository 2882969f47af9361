/* SPDX-License-Identifier: MIT */
/*
 * test_marker.c - markers and their probes: names, formats, modules.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/marker.h>
#include <tp/tp.h>

#include "core/core.h"
#include "util.h"

/* ---- Probes ---- */

struct calls {
	int nr;
	const void *marker;
	char text[128];
};

static void __attribute__((format(printf, 3, 0))) note(void *data, void *marker, const char *fmt, va_list *args)
{
	struct calls *calls = data;

	calls->nr++;
	calls->marker = marker;
	vsnprintf(calls->text, sizeof(calls->text), fmt, *args);
}

static void probe(void *data, void *marker, const char *fmt, va_list *args)
{
	note(data, marker, fmt, args);
}

static void second(void *data, void *marker, const char *fmt, va_list *args)
{
	note(data, marker, fmt, args);
}

static int evaluated;

static int evaluate(int value)
{
	evaluated++;
	return value;
}

/* ---- Markers of this program ---- */

static void hit(int a, const char *text)
{
	trace_mark(hit, "a %d text %s", evaluate(a), text);
}

static inline void hit_inline(int a)
{
	trace_mark(hit_inline, "a %d", a);
}

static void hit_both(int a)
{
	trace_mark(both, "a %d", a);
	trace_mark(both, "a %d", a + 1);
}

TEST(probe_gets_the_arguments)
{
	struct calls calls = {.nr = 0};

	evaluated = 0;
	hit(1, "x");
	ck_assert_int_eq(evaluated, 0);
	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", probe, &calls), 0);
	hit(2, "y");
	ck_assert_int_eq(evaluated, 1);
	ck_assert_int_eq(calls.nr, 1);
	ck_assert_str_eq(calls.text, "a 2 text y");
	const struct marker *marker = calls.marker;
	ck_assert_str_eq(marker->name, "hit");
	ck_assert_str_eq(marker->format, "a %d text %s");
	ck_assert_contains(marker->tp.file, "test_marker.c");
	ck_assert_int_eq(marker_probe_unregister("hit", probe, &calls), 0);
	hit(3, "z");
	ck_assert_int_eq(calls.nr, 1);
	ck_assert_int_eq(evaluated, 1);
	ck_assert_int_eq(marker_synchronize_unregister(), 0);
}

TEST(each_probe_has_its_own_arguments)
{
	struct calls calls[3] = {{.nr = 0}};

	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", probe, &calls[0]), 0);
	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", probe, &calls[1]), 0);
	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", second, &calls[2]), 0);
	evaluated = 0;
	hit(7, "all");
	ck_assert_int_eq(evaluated, 1);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(calls[i].nr, 1);
		ck_assert_str_eq(calls[i].text, "a 7 text all");
	}
	ck_assert_int_eq(marker_probe_unregister("hit", probe, &calls[1]), 0);
	hit(8, "two");
	ck_assert_int_eq(calls[0].nr + calls[2].nr, 4);
	ck_assert_int_eq(calls[1].nr, 1);
}

TEST(several_sites_of_a_name)
{
	struct calls calls = {.nr = 0};

	ck_assert_int_eq(marker_probe_register("both", "a %d", probe, &calls), 0);
	hit_both(1);
	ck_assert_int_eq(calls.nr, 2);
	ck_assert_str_eq(calls.text, "a 2");
	ck_assert_int_eq(marker_probe_register("hit_inline", "a %d", probe, &calls), 0);
	hit_inline(5);
	hit_inline(6);
	ck_assert_int_eq(calls.nr, 4);
	ck_assert_str_eq(calls.text, "a 6");
	ck_assert_int_eq(marker_probe_unregister("both", probe, &calls), 0);
	hit_both(1);
	ck_assert_int_eq(calls.nr, 4);
}

/* Each way to pass arguments: none, words in registers, more of them, and such that are no words. */
static void hit_all_kinds(void)
{
	struct {
		unsigned int three : 3;
		int nine : 9;
	} bits = {5, -3};
	volatile short moving = -4;
	const char array[] = "array";

	trace_mark(kinds_0, MARK_NOARGS);
	trace_mark(kinds_1, "%s", array);
	trace_mark(kinds_2, "%u %d", bits.three, bits.nine);
	trace_mark(kinds_3, "%d %c %hhu", moving, 'c', (unsigned char)200);
	trace_mark(kinds_4, "%d %ld %lld %u", -1, -2L, -3LL, 4u);
	trace_mark(kinds_5, "%d %ld %lld %u %p", -1, -2L, -3LL, 4u, (void *)16);
	trace_mark(kinds_6, "%d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, "seven");
	trace_mark(kinds_real, "%d %g %s %Lg", 1, 2.5, "x", 3.5L);
	trace_mark(kinds_reals, "%g %g %g %g %g %g %g %g %g %g", 1., 2., 3., 4., 5., 6., 7., 8., 9., (double)10.f);
}

TEST(kinds_of_arguments)
{
	static const struct {
		const char *name, *format, *text;
	} kinds[] = {
		{"kinds_0", MARK_NOARGS, " "},
		{"kinds_1", "%s", "array"},
		{"kinds_2", "%u %d", "5 -3"},
		{"kinds_3", "%d %c %hhu", "-4 c 200"},
		{"kinds_4", "%d %ld %lld %u", "-1 -2 -3 4"},
		{"kinds_5", "%d %ld %lld %u %p", "-1 -2 -3 4 0x10"},
		{"kinds_6", "%d %d %d %d %d %d %s", "1 2 3 4 5 6 seven"},
		{"kinds_real", "%d %g %s %Lg", "1 2.5 x 3.5"},
		{"kinds_reals", "%g %g %g %g %g %g %g %g %g %g", "1 2 3 4 5 6 7 8 9 10"},
	};
	const size_t nr = sizeof(kinds) / sizeof(kinds[0]);
	struct calls calls[sizeof(kinds) / sizeof(kinds[0])] = {{.nr = 0}};

	for (size_t i = 0; i < nr; i++)
		ck_assert_int_eq(marker_probe_register(kinds[i].name, kinds[i].format, probe, &calls[i]), 0);
	hit_all_kinds();
	for (size_t i = 0; i < nr; i++) {
		ck_assert_int_eq(calls[i].nr, 1);
		ck_assert_str_eq(calls[i].text, kinds[i].text);
	}
}

/* ---- Probes that register and unregister ---- */

static void leave(void *data, void *marker, const char *fmt, va_list *args)
{
	note(data, marker, fmt, args);
	ck_assert_int_eq(marker_probe_unregister("hit", leave, data), 0);
	ck_assert_int_eq(marker_synchronize_unregister(), -EDEADLK);
}

TEST(unregister_in_the_probe)
{
	struct calls calls = {.nr = 0}, others = {.nr = 0};

	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", leave, &calls), 0);
	ck_assert_int_eq(marker_probe_register("hit", "a %d text %s", probe, &others), 0);
	capture_stderr();
	hit(1, "x");
	free(captured_stderr());
	hit(2, "y");
	ck_assert_int_eq(calls.nr, 1);
	ck_assert_int_eq(others.nr, 2);
	ck_assert_str_eq(others.text, "a 2 text y");
}

/* ---- Modules ---- */

struct module {
	struct marker markers[3];
	struct tp_marker_pointers pointers[4];
	char text[256];
	struct tp_module module;
};

/* A module with three markers of one name, which it announces as a compiler may: one of them twice. */
static void module_init(struct module *m, const char *name, const char *format)
{
	static const int announced[] = {0, 1, 1, 2};

	memset(m, 0, sizeof(*m));
	snprintf(m->text, sizeof(m->text), TP_MARKER_PREFIX "%s%c%s%cmodule.c%cmarker", name, 0, format, 0, 0);
	for (int i = 0; i < 4; i++)
		m->pointers[i] = (struct tp_marker_pointers){&m->markers[announced[i]], m->text, announced[i] + 1};
	m->module = (struct tp_module){
		TP_MODULE_HEAD, .marker_pointers = m->pointers, .marker_pointers_end = m->pointers + 4,
	};
}

static void module_hit(struct module *m, int a)
{
	for (int i = 0; i < 3; i++) {
		struct tracepoint *tp = &m->markers[i].tp;
		if (tp_tracepoint_is_on(tp))
			((tp_marker_iterate_t *)tp->iterate)(tp, a);
	}
}

TEST(probe_before_the_module)
{
	static struct module m, other;
	struct calls calls = {.nr = 0};

	module_init(&m, "early", "%d");
	module_init(&other, "early", "%d");
	ck_assert_int_eq(marker_probe_register("early", "%d", probe, &calls), 0);
	module_hit(&m, 1);
	ck_assert_int_eq(calls.nr, 0);
	tp_module_load(&m.module);
	module_hit(&m, 2);
	ck_assert_int_eq(calls.nr, 3);
	tp_module_load(&other.module);
	module_hit(&other, 3);
	ck_assert_int_eq(calls.nr, 6);
	ck_assert_str_eq(calls.text, "3");

	tp_module_unload(&m.module);
	ck_assert(!tp_tracepoint_is_on(&m.markers[0].tp));
	module_hit(&m, 4);
	module_hit(&other, 5);
	ck_assert_int_eq(calls.nr, 9);
	tp_module_load(&m.module); /* it comes back */
	module_hit(&m, 6);
	ck_assert_int_eq(calls.nr, 12);
	ck_assert_int_eq(marker_probe_unregister("early", probe, &calls), 0);
	ck_assert(!tp_tracepoint_is_on(&m.markers[2].tp) && !tp_tracepoint_is_on(&other.markers[0].tp));
	tp_module_unload(&m.module);
	tp_module_unload(&other.module);
}

TEST(formats_that_differ)
{
	static struct module m, other;
	struct calls calls = {.nr = 0};

	module_init(&m, "quarrel", "x %d");
	module_init(&other, "quarrel", "y %d");
	tp_module_load(&m.module);
	capture_stderr();
	ck_assert_int_eq(marker_probe_register("quarrel", "y %d", probe, &calls), -EINVAL);
	char *text = captured_stderr();
	ck_assert_contains(text, "a probe for marker 'quarrel' is refused: it takes \"y %d\", but the marker has "
				 "\"x %d\"");
	free(text);

	capture_stderr();
	tp_module_load(&other.module);
	text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 3); /* a line each */
	ck_assert_contains(text, "marker 'quarrel' of ");
	ck_assert_contains(text, "stays off: its format is \"y %d\", but the marker of that name in ");
	ck_assert_contains(text, " (module.c:2) stays off");
	ck_assert_contains(text, " has \"x %d\"; give both the same format, or rename one");
	ck_assert_lacks(text, "marker:");
	free(text);
	ck_assert_int_eq(other.markers[0].tp.state, TP_STATE_REFUSED);
	ck_assert_int_eq(marker_probe_register("quarrel", "x %d", probe, &calls), 0);
	module_hit(&other, 1);
	ck_assert_int_eq(calls.nr, 0);
	module_hit(&m, 1);
	ck_assert_int_eq(calls.nr, 3);
	tp_module_unload(&other.module);
	tp_module_unload(&m.module);
}

TEST(probe_of_another_format_waits)
{
	static struct module m;
	struct calls calls = {.nr = 0};

	module_init(&m, "waits", "x %d");
	ck_assert_int_eq(marker_probe_register("waits", "y %d", probe, &calls), 0);
	capture_stderr();
	tp_module_load(&m.module);
	char *text = captured_stderr();
	ck_assert_contains(text, "waits for a marker 'waits' with the format \"y %d\", but that of ");
	free(text);
	module_hit(&m, 1);
	ck_assert_int_eq(calls.nr, 0);
	tp_module_unload(&m.module);
}

TEST(no_such_marker)
{
	char name[TP_MARKER_NAME_MAX + 2];
	struct calls calls = {.nr = 0};

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(marker_probe_register(NULL, "%d", probe, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_register("none", NULL, probe, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_register("none", "%d", NULL, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_register(name, "%d", probe, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_unregister(NULL, probe, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_unregister("none", NULL, NULL), -EINVAL);
	ck_assert_int_eq(marker_probe_unregister("none", probe, NULL), -ENOENT);
	name[TP_MARKER_NAME_MAX] = '\0';
	ck_assert_int_eq(marker_probe_register(name, "%d", probe, &calls), 0);
	ck_assert_int_eq(marker_probe_register(name, "%d", probe, &calls), -EEXIST);
	ck_assert_int_eq(marker_probe_unregister(name, probe, &calls), 0);
}

/* ---- Which there are ---- */

struct search {
	const char *name;
	unsigned int found, sites, probes, events;
	enum tp_state state;
};

static void look(struct marker *marker, void *priv)
{
	struct search *search = priv;
	struct tp_tracepoint_info info;

	if (strcmp(marker->name, search->name) != 0)
		return;
	tp_get_tracepoint_info(&marker->tp, &info);
	search->found++;
	search->sites += info.nr_sites;
	search->probes += info.nr_probes;
	search->state = info.state;
	search->events += marker->event != NULL;
	ck_assert_str_ne(info.module, "");
}

static void look_for_markers(struct tracepoint *tp, void *priv)
{
	unsigned int *found = priv;

	*found += strchr(tp->name, ':') != NULL;
}

TEST(markers_are_listed)
{
	static struct module m;
	struct search both = {.name = "both"}, three = {.name = "three"};
	struct calls calls = {.nr = 0};
	unsigned int among_tracepoints = 0;

	ck_assert_int_eq(marker_probe_register("both", "a %d", probe, &calls), 0);
	tp_for_each_marker(look, &both);
	ck_assert_uint_eq(both.found, 2);
	ck_assert_uint_ge(both.sites, TP_STATIC_KEYS ? 2 : 0);
	ck_assert_uint_eq(both.probes, 2);
	ck_assert_int_eq(both.state, TP_STATE_ON);

	module_init(&m, "three", "%d");
	tp_module_load(&m.module);
	tp_for_each_marker(look, &three);
	ck_assert_uint_eq(three.found, 3);
	ck_assert_uint_eq(three.events, 3);
	ck_assert_int_eq(three.state, TP_STATE_OFF);
	tp_for_each_tracepoint(look_for_markers, &among_tracepoints);
	ck_assert_uint_eq(among_tracepoints, 0);
	tp_module_unload(&m.module);
	three = (struct search){.name = "three"};
	tp_for_each_marker(look, &three);
	ck_assert_uint_eq(three.found, 0);
	hit_both(1);
	ck_assert_int_eq(calls.nr, 2);
}
