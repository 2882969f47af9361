/* SPDX-License-Identifier: MIT */
/*
 * moments.c - what a program does with its tracepoints and sinks, moment by moment.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "sandbox.h"

#include <tp/tp.h>

#include "program.h"

int hits;

void hit(void)
{
	trace_sandbox_hit(__atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED), "some text of no great length");
}

/* Packets are filled several times. */
void hit_often(void)
{
	const char *wanted = getenv("SANDBOX_HITS");
	const int number = wanted ? atoi(wanted) : 2000;

	for (int i = 0; i < number; i++)
		hit();
}

static void nothing(void)
{
}

/* A text sink looks after its file once a second: at the first event in each. */
static void hit_and_wait(void)
{
	const struct timespec time = {.tv_sec = 1, .tv_nsec = 50000000};

	hit();
	nanosleep(&time, NULL);
}

static void hit_a_few_times(void)
{
	for (int i = 0; i < 10; i++)
		hit();
}

/* The clock is measured anew, and that is not due again before as much time has passed. */
void fill_ring(void)
{
	hit_often();
	hit_and_wait();
	hit_often();
}

static void *fill_and_stay(void *may_go_on)
{
	hit_often();
	__atomic_store_n((int *)may_go_on, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
	return NULL;
}

static void let_another_fill(void)
{
	static int filled;
	pthread_t thread;

	must(pthread_create(&thread, NULL, fill_and_stay, &filled) == 0, "pthread_create");
	while (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void *fill_and_go_on(void *filled)
{
	for (;;) {
		hit_often();
		__atomic_store_n((int *)filled, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Two threads have a ring each, which a snapshot has held for a while. */
static void fill_rings(void)
{
	static int filled;
	char path[4096];
	pthread_t thread;

	must(pthread_create(&thread, NULL, fill_and_go_on, &filled) == 0, "pthread_create");
	fill_ring();
	while (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		sched_yield();
	snprintf(path, sizeof(path), "%s.snapshot", getenv("SANDBOX_FILE"));
	must(tp_ctf_snapshot(tp_output("ctf"), path) == 0, "tp_ctf_snapshot");
	fill_ring();
}

static void rename_and_wait(void)
{
	hit();
	must(rename(getenv("SANDBOX_FILE"), getenv("SANDBOX_FILE_THEN")) == 0, "rename");
	hit_and_wait();
}

/* Each byte more in a file is one too many. */
static void hit_and_limit(void)
{
	hit_and_wait();
	must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1}) == 0, "setrlimit");
}

static void *hit_from_another_thread(void *unused)
{
	while (__atomic_load_n(&hits, __ATOMIC_RELAXED) < 3)
		sched_yield();
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		hit();
	return unused;
}

/* Another thread is at it all the time from the subject's third event on: its second one looks after the file. */
static void hit_together(void)
{
	pthread_t thread;

	hit_and_wait();
	must(pthread_create(&thread, NULL, hit_from_another_thread, NULL) == 0, "pthread_create");
}

static void stay_at_exit(void *unused)
{
	(void)unused;
	stay();
}

static void hit_and_arm(void)
{
	pthread_key_t last; /* behind those of the libraries, whose keys are older */

	hit();
	must(pthread_key_create(&last, stay_at_exit) == 0, "pthread_key_create");
	pthread_setspecific(last, &hits);
}

unsigned long lost_by_child;

unsigned long lost(void)
{
	const char *name = getenv("SANDBOX_SINK");
	struct tp_sink *sink = name ? tp_output(name) : NULL;

	return sink ? tp_sink_lost(sink) : 0;
}

/* ---- A fork ---- */

static bool is_forking;
static void *(*work_of_child)(void *);

static void *work_after_hit(void *data)
{
	while (!__atomic_load_n(&shared->has_hit, __ATOMIC_ACQUIRE))
		;
	return work_of_child(data);
}

/* The C library's, but that a thread which the runtime makes in the child, inside fork(), finds the child's event. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *data)
{
	static __typeof__(pthread_create) *create;

	if (!create)
		*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	must(create, "dlsym");
	if (!is_forking)
		return create(thread, attributes, work, data);
	work_of_child = work;
	return create(thread, attributes, work_after_hit, data);
}

static void forks(void)
{
	is_forking = true;
	pid_t child = fork();
	int status;

	hits++; /* the child's */
	if (child == 0) {
		hit();
		__atomic_store_n(&shared->has_hit, 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&shared->may_end, __ATOMIC_ACQUIRE))
			;
		_exit((int)lost());
	}
	__atomic_store_n(&shared->child, child, __ATOMIC_RELEASE);
	must(waitpid(child, &status, 0) == child, "waitpid");
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	lost_by_child = (unsigned long)WEXITSTATUS(status);
}

/* ---- The end, and others ---- */

static void ends(void)
{
	exit(0);
}

static void closes(void)
{
	const int error = tp_sink_close(tp_output(getenv("SANDBOX_SINK")));

	must(error != -EINVAL && error != -EDEADLK, "tp_sink_close");
}

static FILE *file;

static void open_file(void)
{
	file = strcmp(getenv("SANDBOX_SINK"), "text") == 0 ? fopen(getenv("SANDBOX_FILE"), "w") : stdout;
	must(file, "fopen");
}

static void opens(void)
{
	const char *kind = getenv("SANDBOX_SINK"), *path = getenv("SANDBOX_FILE");
	struct tp_sink *sink = NULL;

	if (strcmp(kind, "text") == 0)
		sink = tp_text_sink(file);
	else if (strcmp(kind, "ctf") == 0)
		sink = tp_ctf_sink(path, NULL);
	else if (strcmp(kind, "perfetto") == 0)
		sink = tp_perfetto_sink(path, NULL);
	else if (strcmp(kind, "stats") == 0)
		sink = tp_stats_sink(path, NULL);
	else if (strcmp(kind, "sdt") == 0)
		sink = tp_sdt_sink();
	else if (strcmp(kind, "ftrace") == 0)
		sink = tp_ftrace_sink(getenv("SANDBOX_INSTANCE"));
	else if (strcmp(kind, "lttng") == 0)
		sink = tp_lttng_sink();
	must(sink, "open");
}

static void probe(void *data, int n, const char *text)
{
	(void)data;
	(void)n;
	(void)text;
}

static void registers(void)
{
	must(register_trace_sandbox_hit(probe, NULL) == 0, "register");
}

static void unregisters(void)
{
	must(unregister_trace_sandbox_hit(probe, NULL) == 0, "unregister");
	tracepoint_synchronize_unregister();
}

static void *module;

static void loads(void)
{
	module = dlopen(getenv("SANDBOX_MODULE"), RTLD_NOW);
	must(module, "dlopen");
}

static void unloads(void)
{
	must(dlclose(module) == 0, "dlclose");
}

static void writes(void)
{
	tp_stats_write(tp_output("stats"));
}

static void wrong_prototype(void)
{
	must(tp_probe_register("sandbox_hit", "int", (tp_probe_t)probe, NULL, 10) == -EINVAL, "tp_probe_register");
}

/* What is in the file of statistics when a call fails that the closing needs. */
static void hit_and_write(void)
{
	hit_and_wait();
	if (strcmp(getenv("SANDBOX_SINK"), "stats") == 0)
		writes();
}

static const struct moment moments[] = {
	{"first", nothing, hit},
	{"event", hit_and_wait, hit_a_few_times},
	{"rename", rename_and_wait, hit_a_few_times},
	{"broken", hit_and_limit, hit_a_few_times},
	{"together", hit_together, hit_often},
	{"packet", hit_and_wait, hit_often},
	{"ring", fill_ring, hit_often},
	{"rings", fill_rings, hit_often},
	{"taken", let_another_fill, hit_often},
	{"thread", hit_and_arm, NULL}, /* it returns */
	{"fork", hit_and_wait, forks},
	{"end", hit_and_wait, ends},
	{"close", hit_and_write, closes},
	{"open", open_file, opens},
	{"message", nothing, wrong_prototype},
	{"register", nothing, registers},
	{"unregister", registers, unregisters},
	{"load", hit, loads},
	{"unload", loads, unloads},
	{"write", hit, writes},
};

const struct moment *moment_of(const char *name)
{
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		if (strcmp(moments[i].name, name) == 0)
			return &moments[i];
	}
	return NULL;
}
