/* SPDX-License-Identifier: MIT */
/*
 * test_registry.c - names of tracepoints: probes before modules, modules
 * that come and go, and two that disagree.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "sample.h"
#include "util.h"

static int last, hits;

static void probe(void *data, int value)
{
	*(int *)data = value;
	hits++;
}

static void look(struct tracepoint *tp, void *priv)
{
	struct {
		const struct tracepoint *wanted;
		int found;
	} *search = priv;

	search->found += tp == search->wanted;
}

static int found(const struct tracepoint *tp)
{
	struct {
		const struct tracepoint *wanted;
		int found;
	} search = {tp, 0};

	tp_for_each_tracepoint(look, &search);
	return search.found;
}

TEST(own_tracepoints_are_there)
{
	ck_assert_int_eq(found(&__tracepoint_sample_int), 1);
	ck_assert_int_eq(found(&__tracepoint_sample_text), 1);
	ck_assert_int_eq(found(&__tracepoint_sample_kinds), 1);
}

TEST(module_comes_and_goes)
{
	static struct sample_module m;

	sample_module_init(&m, "m", "comes", "int");
	ck_assert_int_eq(found(&m.tp), 0);
	tp_module_load(&m.module);
	ck_assert_int_eq(found(&m.tp), 1);
	tp_module_load(&m.module); /* the constructor of another of its files */
	ck_assert_int_eq(found(&m.tp), 1);
	ck_assert_int_eq(tracepoint_probe_register(&m.tp, (tp_probe_t)probe, &last), 0);
	sample_module_hit(&m, 5);
	ck_assert_int_eq(last, 5);

	tp_module_unload(&m.module);
	ck_assert_int_eq(found(&m.tp), 0);
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	ck_assert_ptr_null(m.tp.funcs);
	tp_module_unload(&m.module);
	sample_module_hit(&m, 6);
	ck_assert_int_eq(last, 5);

	/* The probe is the name's, and waits for it. */
	tp_module_load(&m.module);
	sample_module_hit(&m, 7);
	ck_assert_int_eq(last, 7);
	ck_assert_int_eq(tp_probe_unregister("comes", (tp_probe_t)probe, &last), 0);
	ck_assert(!tp_tracepoint_is_on(&m.tp));
}

TEST(probe_before_the_tracepoint)
{
	static struct sample_module m;

	ck_assert_int_eq(tp_probe_register("early", "int", (tp_probe_t)probe, &last, 10), 0);
	ck_assert_int_eq(tp_probe_register("early", "int", (tp_probe_t)probe, &last, 10), -EEXIST);
	/* Which of the two prototypes is right, the tracepoint decides. */
	ck_assert_int_eq(tp_probe_register("early", "long", (tp_probe_t)probe, &hits, 10), 0);
	sample_module_init(&m, "m", "early", "int");
	tp_module_load(&m.module);
	ck_assert(tp_tracepoint_is_on(&m.tp));
	sample_module_hit(&m, 11);
	ck_assert_int_eq(last, 11);
	ck_assert_int_eq(tp_probe_register("early", "long", (tp_probe_t)probe, &last, 10), -EINVAL);
	tp_module_unload(&m.module);
	ck_assert_int_eq(tp_probe_unregister("early", (tp_probe_t)probe, &hits), 0);
	ck_assert_int_eq(tp_probe_unregister("early", (tp_probe_t)probe, &last), 0);
	ck_assert_int_eq(tp_probe_unregister("early", (tp_probe_t)probe, &last), -ENOENT);
	/* Nothing knows the name any more, so it may have another prototype. */
	ck_assert_int_eq(tp_probe_register("early", "long", (tp_probe_t)probe, &last, 10), 0);
	ck_assert_int_eq(tp_probe_unregister("early", (tp_probe_t)probe, &last), 0);
}

TEST(two_modules_share_a_name)
{
	static struct sample_module one, two;

	sample_module_init(&one, "m", "shared", "int");
	sample_module_init(&two, "m", "shared", "int");
	tp_module_load(&one.module);
	ck_assert_int_eq(tracepoint_probe_register(&one.tp, (tp_probe_t)probe, &last), 0);
	tp_module_load(&two.module);
	sample_module_hit(&two, 21);
	ck_assert_int_eq(last, 21);
	ck_assert_int_eq(tracepoint_probe_register(&two.tp, (tp_probe_t)probe, &last), -EEXIST);
	tp_module_unload(&one.module);
	sample_module_hit(&two, 22);
	ck_assert_int_eq(last, 22);
	ck_assert_int_eq(tracepoint_probe_unregister(&two.tp, (tp_probe_t)probe, &last), 0);
	ck_assert(!tp_tracepoint_is_on(&two.tp));
	tp_module_unload(&two.module);
}

TEST(other_prototype_is_refused)
{
	static struct sample_module one, two;

	sample_module_init(&one, "m", "quarrel", "int");
	sample_module_init(&two, "m", "quarrel", "struct thing *, long");
	tp_module_load(&one.module);
	tracepoint_probe_register(&one.tp, (tp_probe_t)probe, &last);
	capture_stderr();
	tp_module_load(&two.module);
	char *text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	ck_assert_int_eq(strncmp(text, "tp: ", 4), 0);
	ck_assert_contains(text, "'quarrel'");
	ck_assert_contains(text, "(struct thing *, long)");
	ck_assert_contains(text, "(int)");
	ck_assert_uint_eq(count_of(text, "test_registry"), 2); /* the objects: this program twice */
	free(text);

	ck_assert(!tp_tracepoint_is_on(&two.tp));
	ck_assert_int_eq(found(&two.tp), 1);
	ck_assert_int_eq(two.tp.state, TP_STATE_REFUSED);
	ck_assert_uint_eq(two.event.id, 0);
	ck_assert_int_eq(tracepoint_probe_register(&two.tp, (tp_probe_t)probe, &hits), -EINVAL);
	sample_module_hit(&one, 41); /* and life goes on */
	ck_assert_int_eq(last, 41);
	tp_module_unload(&two.module);
	sample_module_hit(&one, 42);
	ck_assert_int_eq(last, 42);
	tp_module_unload(&one.module);
}

TEST(probe_of_other_prototype_waits_on)
{
	static struct sample_module m;

	tp_probe_register("expected", "long", (tp_probe_t)probe, &last, 10);
	sample_module_init(&m, "m", "expected", "int");
	capture_stderr();
	tp_module_load(&m.module);
	char *text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	ck_assert_contains(text, "'expected'");
	ck_assert_contains(text, "a probe in ");
	ck_assert_contains(text, "(long)");
	free(text);
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	/* The tracepoint is none the worse for it. */
	ck_assert_int_eq(tracepoint_probe_register(&m.tp, (tp_probe_t)probe, &last), 0);
	sample_module_hit(&m, 51);
	ck_assert_int_eq(last, 51);
	tp_module_unload(&m.module);
}

TEST(module_without_memory_stays_off)
{
	static struct sample_module m;

	sample_module_init(&m, "m", "poor", "int");
	ck_assert_int_eq(tp_probe_register("poor", "int", (tp_probe_t)probe, &last, 10), 0);
	capture_stderr();
	fail_malloc_after(0);
	tp_module_load(&m.module);
	let_malloc_be();
	char *text = captured_stderr();
	ck_assert_contains(text, " stay off until somebody registers a probe or enables an event: out of memory\n");
	free(text);
	ck_assert_int_eq(m.tp.state, TP_STATE_UNLOADED);
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	fail_malloc_after(0);
	ck_assert_int_eq(tp_probe_register("other", "int", (tp_probe_t)probe, &last, 10), -ENOMEM);
	let_malloc_be();
	ck_assert_int_eq(tp_probe_register("other", "int", (tp_probe_t)probe, &last, 10), 0);
	ck_assert_int_eq(m.tp.state, TP_STATE_ON);
	ck_assert(tp_tracepoint_is_on(&m.tp));
	tp_module_unload(&m.module);
	ck_assert_int_eq(tp_probe_unregister("poor", (tp_probe_t)probe, &last), 0);
	ck_assert_int_eq(tp_probe_unregister("other", (tp_probe_t)probe, &last), 0);
}

/* A program that is not traced does nothing for each of its tracepoints. */
TEST(modules_are_only_listed)
{
	static struct sample_module a, b;

	sample_module_init(&a, "a", "listed", "int");
	sample_module_init(&b, "b", "listed", "long");
	fail_malloc_after(0);
	capture_stderr();
	tp_module_load(&a.module);
	tp_module_load(&b.module);
	tp_module_unload(&b.module);
	tp_module_load(&b.module);
	ck_assert_int_eq(a.module.state, TP_MODULE_LISTED);
	ck_assert_int_eq(a.tp.state, TP_STATE_UNLOADED);
	ck_assert_uint_eq(a.event.id, 0);
	ck_assert_int_eq(tp_probe_register("listed", "int", (tp_probe_t)probe, &last, 10), -ENOMEM);
	ck_assert_int_eq(a.module.state, TP_MODULE_LISTED);
	let_malloc_be();
	char *text = captured_stderr();
	ck_assert_str_eq(text, "");
	free(text);
	capture_stderr();
	ck_assert_int_eq(tp_probe_register("listed", "int", (tp_probe_t)probe, &last, 10), 0);
	text = captured_stderr();
	ck_assert_contains(text, "tp: tracepoint 'listed' of "); /* as two modules disagree */
	ck_assert_contains(text, "stays off: its prototype is (long)");
	free(text);
	ck_assert(tp_tracepoint_is_on(&a.tp));
	ck_assert(!tp_tracepoint_is_on(&b.tp));
	ck_assert_int_eq(b.tp.state, TP_STATE_REFUSED);
	tp_module_unload(&a.module);
	tp_module_unload(&b.module);
	ck_assert_int_eq(tp_probe_unregister("listed", (tp_probe_t)probe, &last), 0);
}

TEST(many_names)
{
	enum { NR = 3000 };
	char (*names)[16] = calloc(NR, sizeof(*names));

	for (int i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		ck_assert_int_eq(tp_probe_register(names[i], "int", (tp_probe_t)probe, &last, 10), 0);
	}
	for (int i = 0; i < NR; i++)
		ck_assert_int_eq(tp_probe_unregister(names[i], (tp_probe_t)probe, &last), 0);
	for (int i = 0; i < NR; i++)
		ck_assert_int_eq(tp_probe_unregister(names[i], (tp_probe_t)probe, &last), -ENOENT);
	free(names);
	tracepoint_synchronize_unregister();
}

/* ---- With a thread in a probe ---- */

static bool in_probe, may_leave, unloaded;

static void sit(void *data, int value)
{
	(void)data;
	(void)value;
	__atomic_store_n(&in_probe, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&may_leave, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void *hit_module(void *module)
{
	sample_module_hit(module, 1);
	return NULL;
}

static void *unload_module(void *module)
{
	tp_module_unload(module);
	__atomic_store_n(&unloaded, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A thread that sits in a probe of the module's tracepoint, until it may leave. */
static pthread_t sitting_thread(struct sample_module *m)
{
	pthread_t thread;

	ck_assert_int_eq(tracepoint_probe_register(&m->tp, (tp_probe_t)sit, NULL), 0);
	pthread_create(&thread, NULL, hit_module, m);
	while (!__atomic_load_n(&in_probe, __ATOMIC_ACQUIRE))
		usleep(100);
	return thread;
}

TEST(only_a_module_that_was_on_waits)
{
	static struct sample_module on, off;
	pthread_t unloader;

	sample_module_init(&on, "m", "on", "int");
	sample_module_init(&off, "m", "off", "int");
	tp_module_load(&on.module);
	tp_module_load(&off.module);
	pthread_t sitting = sitting_thread(&on);
	tp_module_unload(&off.module); /* or the test's time is up */
	ck_assert_ptr_null(off.tp.registered);

	pthread_create(&unloader, NULL, unload_module, &on.module);
	usleep(50000);
	ck_assert(!__atomic_load_n(&unloaded, __ATOMIC_ACQUIRE));
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	pthread_join(unloader, NULL);
	pthread_join(sitting, NULL);
	ck_assert_ptr_null(on.tp.registered);
	ck_assert_int_eq(tp_probe_unregister("on", (tp_probe_t)sit, NULL), 0);
}

TEST(exit_waits_for_no_probe)
{
	static struct sample_module m;
	int status;

	pid_t child = fork();
	if (child == 0) {
		alarm(600);
		sample_module_init(&m, "m", "sits", "int");
		tp_module_load(&m.module);
		sitting_thread(&m);
		register_trace_sample_int(probe, &last); /* the module of the program itself was on, too */
		exit(7);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}

static void fork_and_wait(void *data, int value)
{
	(void)value;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, data, 0);
}

static void *synchronize(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&may_leave, __ATOMIC_RELAXED))
		tracepoint_synchronize_unregister();
	return NULL;
}

TEST(probes_fork_while_others_wait_for_them)
{
	pthread_t thread;
	int status = -1;

	register_trace_sample_int(fork_and_wait, &status);
	pthread_create(&thread, NULL, synchronize, NULL);
	for (int i = 0; i < 100; i++)
		trace_sample_int(i);
	__atomic_store_n(&may_leave, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	unregister_trace_sample_int(fork_and_wait, &status);
	ck_assert_int_eq(status, 0);
}
