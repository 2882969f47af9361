/* SPDX-License-Identifier: MIT */
/*
 * test_probes.c - probes on tracepoints: order, errors, concurrency, and
 * removal without memory.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "failing_malloc.h"
#include "sample.h"
#include "util.h"

/* ---- What was called, in order ---- */

static char calls[256];

static void note(void *data, int value)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s%d ", (const char *)data, value);
}

static void note_too(void *data, int value)
{
	note(data, -value);
}

static char *hit(int value)
{
	calls[0] = '\0';
	trace_sample_int(value);
	return calls;
}

/* ---- One thread ---- */

TEST(off_without_probes)
{
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
	ck_assert_ptr_null(__tracepoint_sample_int.funcs);
	ck_assert_str_eq(hit(1), "");
}

TEST(one_two_three_and_more)
{
	char names[20][4];
	char expected[256] = "";
	size_t starts[21] = {0};

	for (int n = 0; n < 20; n++) {
		snprintf(names[n], sizeof(names[n]), "p%d", n);
		ck_assert_int_eq(register_trace_sample_int(note, names[n]), 0);
		ck_assert(tp_tracepoint_is_on(&__tracepoint_sample_int));
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s7 ", names[n]);
		ck_assert_str_eq(hit(7), expected);
		starts[n + 1] = strlen(expected);
	}
	for (int n = 0; n < 20; n++) {
		ck_assert_int_eq(unregister_trace_sample_int(note, names[n]), 0);
		ck_assert_str_eq(hit(7), expected + starts[n + 1]);
	}
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
	tracepoint_synchronize_unregister();
}

TEST(priorities)
{
	static const struct {
		const char *name;
		int prio;
	} probes[] = {{"a", 10}, {"b", 20}, {"c", 10}, {"d", -5}, {"e", 20}, {"f", 15}, {"g", INT32_MIN}, {"h", INT32_MAX}};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		ck_assert_int_eq(register_trace_prio_sample_int(note, (void *)(uintptr_t)probes[i].name, probes[i].prio), 0);
	ck_assert_str_eq(hit(1), "h1 b1 e1 f1 a1 c1 d1 g1 ");
}

TEST(default_priority_is_ten)
{
	ck_assert_int_eq(register_trace_prio_sample_int(note, "nine", 9), 0);
	ck_assert_int_eq(register_trace_sample_int(note, "default"), 0);
	ck_assert_int_eq(register_trace_prio_sample_int(note, "eleven", 11), 0);
	ck_assert_str_eq(hit(1), "eleven1 default1 nine1 ");
}

TEST(same_function_and_data_exists)
{
	ck_assert_int_eq(register_trace_sample_int(note, "a"), 0);
	ck_assert_int_eq(register_trace_prio_sample_int(note, "a", 99), -EEXIST);
	ck_assert_int_eq(register_trace_sample_int(note, "b"), 0);
	ck_assert_int_eq(register_trace_sample_int(note_too, "a"), 0);
	ck_assert_str_eq(hit(1), "a1 b1 a-1 ");
}

TEST(unknown_probe_is_no_entry)
{
	ck_assert_int_eq(unregister_trace_sample_int(note, "a"), -ENOENT);
	ck_assert_int_eq(register_trace_sample_int(note, "a"), 0);
	/* The kernel says 0 here. */
	ck_assert_int_eq(unregister_trace_sample_int(note, "b"), -ENOENT);
	ck_assert_int_eq(unregister_trace_sample_int(note_too, "a"), -ENOENT);
	ck_assert_str_eq(hit(1), "a1 ");
	ck_assert_int_eq(unregister_trace_sample_int(note, "a"), 0);
	ck_assert_int_eq(unregister_trace_sample_int(note, "a"), -ENOENT);
}

TEST(nothing_is_invalid)
{
	ck_assert_int_eq(register_trace_sample_int(NULL, "a"), -EINVAL);
	ck_assert_int_eq(unregister_trace_sample_int(NULL, "a"), -EINVAL);
	ck_assert_int_eq(tp_probe_register(NULL, "int", (tp_probe_t)note, NULL, 0), -EINVAL);
	ck_assert_int_eq(tp_probe_register("sample_int", NULL, (tp_probe_t)note, NULL, 0), -EINVAL);
	ck_assert_int_eq(tp_probe_unregister(NULL, (tp_probe_t)note, NULL), -EINVAL);
	ck_assert_int_eq(tracepoint_probe_register(NULL, (tp_probe_t)note, NULL), -EINVAL);
	ck_assert_int_eq(tracepoint_probe_unregister(NULL, (tp_probe_t)note, NULL), -EINVAL);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

TEST(no_memory_to_register)
{
	ck_assert_int_eq(register_trace_sample_int(note, "a"), 0);
	fail_malloc_after(0);
	ck_assert_int_eq(register_trace_sample_int(note, "b"), -ENOMEM);
	ck_assert_int_eq(tp_probe_register("sample_new", "int", (tp_probe_t)note, "b", 0), -ENOMEM);
	fail_malloc_after(1); /* the name, but not the array */
	ck_assert_int_eq(tp_probe_register("sample_new", "int", (tp_probe_t)note, "b", 0), -ENOMEM);
	let_malloc_be();
	ck_assert_str_eq(hit(1), "a1 ");
	ck_assert_int_eq(tp_probe_unregister("sample_new", (tp_probe_t)note, "b"), -ENOENT);
}

/* ---- Removal without memory ---- */

TEST(removal_needs_no_memory)
{
	const struct tracepoint_func *funcs;

	register_trace_sample_int(note, "a");
	register_trace_sample_int(note, "b");
	register_trace_sample_int(note, "c");
	funcs = __tracepoint_sample_int.funcs;
	fail_malloc_after(0);
	ck_assert_int_eq(unregister_trace_sample_int(note, "b"), 0);
	ck_assert_ptr_eq(__tracepoint_sample_int.funcs, funcs); /* edited, not copied */
	ck_assert(funcs[1].func == TP_REMOVED);
	ck_assert_str_eq(hit(1), "a1 c1 ");
	ck_assert_int_eq(unregister_trace_sample_int(note, "b"), -ENOENT);
	ck_assert_int_eq(unregister_trace_sample_int(note, "a"), 0);
	ck_assert_str_eq(hit(1), "c1 ");
	ck_assert_int_eq(unregister_trace_sample_int(note, "c"), 0);
	let_malloc_be();
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
	ck_assert_ptr_null(__tracepoint_sample_int.funcs);
	tracepoint_synchronize_unregister();
}

TEST(removed_elements_are_purged)
{
	register_trace_prio_sample_int(note, "a", 30);
	register_trace_prio_sample_int(note, "b", 20);
	register_trace_prio_sample_int(note, "c", 10);
	fail_malloc_after(0);
	unregister_trace_sample_int(note, "b");
	let_malloc_be();
	ck_assert_int_eq(register_trace_prio_sample_int(note, "b", 15), 0);
	for (const struct tracepoint_func *it = __tracepoint_sample_int.funcs; it->func; it++)
		ck_assert(it->func != TP_REMOVED);
	ck_assert_str_eq(hit(1), "a1 b1 c1 ");

	fail_malloc_after(0);
	unregister_trace_sample_int(note, "a");
	ck_assert_int_eq(tracepoint_synchronize_unregister(), 0); /* has no memory, either */
	ck_assert_str_eq(hit(1), "b1 c1 ");
	let_malloc_be();
	ck_assert_int_eq(unregister_trace_sample_int(note, "c"), 0);
	ck_assert_int_eq(tracepoint_synchronize_unregister(), 0);
	ck_assert_ptr_eq(__tracepoint_sample_int.funcs[0].data, "b");
	ck_assert(!__tracepoint_sample_int.funcs[1].func);
	ck_assert_str_eq(hit(1), "b1 ");
}

TEST(modules_meet_removed_elements)
{
	static struct sample_module one, two;
	static const char *const names[] = {"a", "b", "c"};

	/* Two modules with one name, of which one goes, and the other. */
	sample_module_init(&one, "m", "edited", "int");
	sample_module_init(&two, "m", "edited", "int");
	tp_module_load(&one.module);
	tp_module_load(&two.module);
	for (int i = 0; i < 3; i++)
		tp_probe_register("edited", "int", (tp_probe_t)note_too, (void *)(uintptr_t)names[i], 10);
	fail_malloc_after(0);
	ck_assert_int_eq(tp_probe_unregister("edited", (tp_probe_t)note_too, (void *)(uintptr_t)names[0]), 0);
	ck_assert(two.tp.funcs[0].func == TP_REMOVED);
	tp_module_unload(&one.module);
	ck_assert_ptr_null(one.tp.funcs);
	calls[0] = '\0';
	sample_module_hit(&two, 1);
	ck_assert_str_eq(calls, "b-1 c-1 ");

	/* The name lives on by its probes alone. */
	tp_module_unload(&two.module);
	ck_assert_int_eq(tp_probe_unregister("edited", (tp_probe_t)note_too, (void *)(uintptr_t)names[2]), 0);
	let_malloc_be();
	tp_module_load(&two.module);
	calls[0] = '\0';
	sample_module_hit(&two, 1);
	ck_assert_str_eq(calls, "b-1 ");
	ck_assert_int_eq(tp_probe_unregister("edited", (tp_probe_t)note_too, (void *)(uintptr_t)names[1]), 0);
	ck_assert(!tp_tracepoint_is_on(&two.tp));
}

/* ---- Probes that change the probes ---- */

static void remove_itself(void *data, int value)
{
	note(data, value);
	ck_assert_int_eq(unregister_trace_sample_int(remove_itself, data), 0);
}

static void add_another(void *data, int value)
{
	note(data, value);
	register_trace_sample_int(note, "new");
}

TEST(probes_change_probes)
{
	register_trace_sample_int(remove_itself, "self");
	register_trace_sample_int(add_another, "add");
	register_trace_sample_int(note, "last");
	ck_assert_str_eq(hit(1), "self1 add1 last1 ");
	ck_assert_str_eq(hit(2), "add2 last2 new2 ");
	tracepoint_synchronize_unregister();
}

static void hit_again(void *data, int value)
{
	note(data, value);
	if (value > 0)
		trace_sample_int(value - 1);
}

TEST(probes_hit_tracepoints)
{
	register_trace_sample_int(hit_again, "r");
	ck_assert_str_eq(hit(3), "r3 r2 r1 r0 ");
}

static void synchronize_inside(void *data, int value)
{
	note(data, value);
	tracepoint_synchronize_unregister();
}

TEST(synchronize_inside_a_probe_is_refused)
{
	capture_stderr();
	register_trace_sample_int(synchronize_inside, "s");
	ck_assert_str_eq(hit(1), "s1 ");
	char *text = captured_stderr();
	ck_assert_contains(text, "tp: tracepoint_synchronize_unregister() was called from inside a probe");
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	free(text);
}

TEST(synchronize_frees_what_was_left)
{
	register_trace_sample_int(note, "kept");
	tracepoint_synchronize_unregister();
	size_t before = allocated();
	for (int i = 0; i < 20000; i++) {
		ck_assert_int_eq(register_trace_sample_int(note, "a"), 0);
		ck_assert_int_eq(unregister_trace_sample_int(note, "a"), 0);
	}
	tracepoint_synchronize_unregister();
	/* Two megabytes were left; malloc itself keeps some for later. */
	ck_assert_uint_le(allocated(), before + 65536);
}

/* ---- Many threads ---- */

#define NR_HITTERS 3
#define POISON 0x6b6b6b6b

struct counted {
	int canary;
	unsigned long hits;
};

static bool stop;
static unsigned long poisoned;

static void count(void *data, int value)
{
	struct counted *c = data;

	if (__atomic_load_n(&c->canary, __ATOMIC_RELAXED) != value)
		__atomic_fetch_add(&poisoned, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->hits, 1, __ATOMIC_RELAXED);
}

static void *hitter(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		trace_sample_int(42);
	return NULL;
}

static void *changer(void *seed)
{
	unsigned int state = (unsigned int)(uintptr_t)seed;
	const unsigned int rounds = under_sanitizer() ? 300 : few_or_many(300, 1500);

	for (unsigned int i = 0; i < rounds; i++) {
		struct counted *c[4];
		for (int j = 0; j < 4; j++) {
			c[j] = malloc(sizeof(*c[j]));
			*c[j] = (struct counted){.canary = 42};
			ck_assert_int_eq(register_trace_prio_sample_int(count, c[j], rand_r(&state) % 3), 0);
		}
		for (int j = 0; j < 4; j++)
			ck_assert_int_eq(unregister_trace_sample_int(count, c[j]), 0);
		tracepoint_synchronize_unregister();
		for (int j = 0; j < 4; j++) {
			__atomic_store_n(&c[j]->canary, POISON, __ATOMIC_RELAXED);
			free(c[j]);
		}
	}
	return NULL;
}

static void *switcher(void *unused)
{
	static struct counted kept = {.canary = 42}, dropped = {.canary = 42};

	(void)unused;
	/* In the middle of the others' changes: removal that finds no memory, again and again. */
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		register_trace_sample_int(count, &kept);
		register_trace_sample_int(count, &dropped);
		unregister_trace_sample_int(count, &dropped);
		unregister_trace_sample_int(count, &kept);
	}
	return NULL;
}

static void *sometimes_malloc(size_t size)
{
	static unsigned int n;

	return __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) % 7 ? malloc(size) : NULL;
}

static void storm(void *(*other)(void *))
{
	pthread_t hitters[NR_HITTERS], changers[2], another;

	stop = false;
	poisoned = 0;
	for (int i = 0; i < NR_HITTERS; i++)
		pthread_create(&hitters[i], NULL, hitter, NULL);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&changers[i], NULL, changer, (void *)(i + 1));
	if (other)
		pthread_create(&another, NULL, other, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(changers[i], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_HITTERS; i++)
		pthread_join(hitters[i], NULL);
	if (other)
		pthread_join(another, NULL);
	ck_assert_uint_eq(poisoned, 0);
}

TEST(no_call_after_synchronize)
{
	storm(NULL);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

TEST(others_switch_the_same_tracepoint)
{
	storm(switcher);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

static void *remover(void *unused)
{
	struct counted *c[8];
	int rounds = under_sanitizer() ? 500 : 2500;

	(void)unused;
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < 8; j++) {
			c[j] = malloc(sizeof(*c[j]));
			*c[j] = (struct counted){.canary = 42};
			while (register_trace_sample_int(count, c[j]) == -ENOMEM)
				;
		}
		for (int j = 0; j < 8; j++)
			ck_assert_int_eq(unregister_trace_sample_int(count, c[j]), 0);
		tracepoint_synchronize_unregister();
		for (int j = 0; j < 8; j++) {
			__atomic_store_n(&c[j]->canary, POISON, __ATOMIC_RELAXED);
			free(c[j]);
		}
	}
	return NULL;
}

TEST(readers_meet_removed_elements)
{
	pthread_t hitters[NR_HITTERS];

	stop = false;
	poisoned = 0;
	for (int i = 0; i < NR_HITTERS; i++)
		pthread_create(&hitters[i], NULL, hitter, NULL);
	tp_malloc = sometimes_malloc;
	remover(NULL);
	let_malloc_be();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_HITTERS; i++)
		pthread_join(hitters[i], NULL);
	ck_assert_uint_eq(poisoned, 0);
}

/* Threads that are born and die while others wait for readers. */
static void *short_lived(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		trace_sample_int(42);
	return NULL;
}

static void *spawner(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_t thread;
		pthread_create(&thread, NULL, short_lived, NULL);
		pthread_join(thread, NULL);
	}
	return NULL;
}

TEST(threads_come_and_go_meanwhile)
{
	storm(spawner);
}
