/* SPDX-License-Identifier: MIT */
/*
 * torture.c - all that programs do with tracepoints, by many threads at once:
 *
 *	torture [OPTION=NUMBER]...
 *
 * An option is the number of threads of an actor, the name of a count, of which
 * 0 says that it may stay 0, or one of the others below.
 * Whatever goes wrong ends the program at once, with a message and what each
 * thread was about; so does a thread that makes no progress. Otherwise one line
 * says how much was done.
 */
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

static unsigned long opt_seconds = 2, opt_seed = 1;
static unsigned long opt_patience = 0;   /* so many seconds more, until each count has moved that should */
unsigned long opt_stall = 30;            /* seconds without progress that are too many */
unsigned long opt_forget = 1;            /* guests may forget to remove their probes */
unsigned long opt_child_allocates = 1;   /* 0: its sanitizer's malloc does not survive a fork */
unsigned long opt_child_after_probe = 1; /* a child of a probe goes on, and does not just exit */
unsigned long opt_alternate = 1;         /* signal handlers run on stacks of their own */
unsigned long opt_text = 1;              /* a text sink, too */

static struct {
	const char *name;
	unsigned long *value;
} options[] = {
	{"seconds", &opt_seconds},
	{"seed", &opt_seed},
	{"patience", &opt_patience},
	{"stall", &opt_stall},
	{"forget", &opt_forget},
	{"child_allocates", &opt_child_allocates},
	{"child_after_probe", &opt_child_after_probe},
	{"alternate", &opt_alternate},
	{"text", &opt_text},
};

static struct actor {
	const char *name;
	void (*round)(void);
	unsigned long threads;
} actors[] = {
	{"hitters", hitter, 2},	  {"registrars", registrar, 2}, {"meddlers", meddler, 1},     {"visitors", visitor, 2},
	{"guests", guest, 1},	  {"forkers", forker, 1},	{"signallers", signaller, 1}, {"churners", churner, 1},
	{"switchers", switcher, 1}, {"readers", reader, 1},	{"walkers", walker, 1},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const count_names[] = {
#define X(name) #name,
	COUNTS(X)
#undef X
};

static unsigned long opt_count[NR_COUNTS] = {
#define X(name) 1,
	COUNTS(X)
#undef X
};

/* ---- Workers ---- */

#define MAX_WORKERS 256

__thread struct worker *me;
__thread unsigned int in_malloc;

static struct {
	unsigned int nr;
	struct worker workers[MAX_WORKERS];
} *shared;

static bool stop;

bool stopping(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static unsigned int nr_workers(void)
{
	unsigned int nr = __atomic_load_n(&shared->nr, __ATOMIC_ACQUIRE);

	return nr < MAX_WORKERS ? nr : MAX_WORKERS;
}

struct worker *worker_new(const char *actor)
{
	unsigned int number = __atomic_fetch_add(&shared->nr, 1, __ATOMIC_ACQ_REL);

	CHECK(number < MAX_WORKERS, "too many threads");
	struct worker *worker = &shared->workers[number];
	worker->number = number;
	for (int i = 0; i < 2; i++)
		worker->random[i] = (opt_seed * 2 * MAX_WORKERS + number * 2 + (unsigned int)i + 1) * 0x9e3779b97f4a7c15u;
	__atomic_store_n(&worker->where, "beginning", __ATOMIC_RELAXED);
	__atomic_store_n(&worker->actor, actor, __ATOMIC_RELEASE);
	return worker;
}

void worker_begin(struct worker *worker)
{
	me = worker;
	stack_begin();
	__atomic_store_n(&me->running, true, __ATOMIC_RELAXED);
	__atomic_store_n(&me->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

/* me stays: the thread's destructors hit, too. */
void worker_end(void)
{
	__atomic_store_n(&me->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&me->running, false, __ATOMIC_RELAXED);
	meddler_end();
	stack_end();
}

bool any_worker_tid(pid_t *tid)
{
	*tid = __atomic_load_n(&shared->workers[rnd(nr_workers())].tid, __ATOMIC_RELAXED);
	return *tid != 0;
}

/* xorshift64* */
unsigned long rnd(unsigned long below)
{
	if (!me)
		return 0;
	uint64_t *state = &me->random[in_signal != 0];
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (x * 0x2545f4914f6cdd1du >> 8) % below;
}

unsigned long new_token(void)
{
	return argument(OWN_HIT, (unsigned long)me->number << 40 | ++me->tokens);
}

void nap(unsigned int microseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)microseconds * 1000}, NULL);
}

unsigned long total(enum count what)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < nr_workers(); i++)
		sum += __atomic_load_n(&shared->workers[i].counts[what], __ATOMIC_RELAXED);
	return sum;
}

/* ---- When all is lost ---- */

/* dprintf() takes a lock that a fork holds. */
static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ssize_t written = write(STDERR_FILENO, line, len < (int)sizeof(line) ? (size_t)len : sizeof(line) - 1);
	(void)written;
}

static void print_workers(void)
{
	for (unsigned int i = 0; i < nr_workers(); i++) {
		const struct worker *worker = &shared->workers[i];
		if (__atomic_load_n(&worker->running, __ATOMIC_RELAXED))
			say("torture:   %s%s %u, thread %d, step %lu: %s\n", worker == me ? "* " : "", worker->actor,
			    worker->index, (int)__atomic_load_n(&worker->tid, __ATOMIC_RELAXED),
			    __atomic_load_n(&worker->beat, __ATOMIC_RELAXED),
			    __atomic_load_n(&worker->where, __ATOMIC_RELAXED));
	}
}

void die(const char *fmt, ...)
{
	static int dying;
	char line[512];
	va_list ap;

	/* The first message is the one that counts. */
	if (__atomic_exchange_n(&dying, 1, __ATOMIC_RELAXED)) {
		for (;;)
			pause();
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	say("torture: %s (seed %lu, process %d)\n", line, opt_seed, (int)getpid());
	print_workers();
	abort();
}

static void on_crash(int signal)
{
	void *frames[64];

	say("torture: signal %d (seed %lu, process %d)\n", signal, opt_seed, (int)getpid());
	backtrace_symbols_fd(frames, backtrace(frames, LENGTH(frames)), STDERR_FILENO);
	print_workers();
	raise(signal); /* SA_RESETHAND: this time it ends the process */
}

static void catch_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
	void *frame;

	backtrace(&frame, 1); /* loads what it needs */
	for (size_t i = 0; i < LENGTH(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* ---- Actors, and the watchdog ---- */

struct thread {
	pthread_t thread;
	const struct actor *actor;
	struct worker *worker;
	unsigned long beat; /* as the watchdog saw it last ... */
	double since;       /* ... and when it saw it first */
};

static unsigned int nr_at_work;

static void *act(void *data)
{
	const struct thread *thread = data;

	worker_begin(thread->worker);
	while (!stopping())
		thread->actor->round();
	worker_end();
	__atomic_fetch_sub(&nr_at_work, 1, __ATOMIC_RELEASE);
	return NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void watch(struct thread *thread)
{
	unsigned long beat = __atomic_load_n(&thread->worker->beat, __ATOMIC_RELAXED);

	if (beat != thread->beat) {
		thread->beat = beat;
		thread->since = now();
	}
	CHECK(!__atomic_load_n(&thread->worker->running, __ATOMIC_RELAXED) || now() - thread->since < (double)opt_stall,
	      "%s %u makes no progress", thread->actor->name, thread->worker->index);
}

/* The machine may be busy with something else: then some have not had their turn yet. */
static bool something_is_to_come(void)
{
	for (unsigned int i = 0; i < NR_COUNTS; i++) {
		if (opt_count[i] && total((enum count)i) == 0)
			return true;
	}
	return false;
}

static bool is_over(double seconds)
{
	return seconds > (double)opt_seconds &&
	       (seconds > (double)(opt_seconds + opt_patience) || !something_is_to_come());
}

static void run(void)
{
	struct thread threads[MAX_WORKERS];
	unsigned int nr = 0;
	double start = now();

	for (size_t i = 0; i < LENGTH(actors); i++) {
		for (unsigned int n = 0; n < actors[i].threads; n++) {
			threads[nr] = (struct thread){.actor = &actors[i], .worker = worker_new(actors[i].name), .since = start};
			threads[nr++].worker->index = n;
		}
	}
	nr_at_work = nr;
	for (unsigned int i = 0; i < nr; i++)
		CHECK(pthread_create(&threads[i].thread, NULL, act, &threads[i]) == 0, "pthread_create");
	while (__atomic_load_n(&nr_at_work, __ATOMIC_ACQUIRE)) {
		nap(20000);
		for (unsigned int i = 0; i < nr; i++)
			watch(&threads[i]);
		if (is_over(now() - start))
			__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	}
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i].thread, NULL);
}

static void check_end(void)
{
	bury_all();
	for (unsigned int point = 0; point < NR_OWN_POINTS; point++)
		CHECK(!is_enabled((enum point)point), "tracepoint %u is on at the end", point);
}

static void set_option(const char *text)
{
	size_t len = strcspn(text, "=");
	unsigned long *value = NULL;
	char *end = NULL;

	for (size_t i = 0; i < LENGTH(options); i++) {
		if (strncmp(options[i].name, text, len) == 0 && !options[i].name[len])
			value = options[i].value;
	}
	for (size_t i = 0; i < LENGTH(count_names); i++) {
		if (strncmp(count_names[i], text, len) == 0 && !count_names[i][len])
			value = &opt_count[i];
	}
	for (size_t i = 0; i < LENGTH(actors); i++) {
		if (strncmp(actors[i].name, text, len) == 0 && !actors[i].name[len])
			value = &actors[i].threads;
	}
	if (value && text[len])
		*value = strtoul(text + len + 1, &end, 0);
	if (end && end != text + len + 1 && !*end)
		return;
	fprintf(stderr, "torture: %s: not an OPTION=NUMBER; the options are", text);
	for (size_t i = 0; i < LENGTH(options); i++)
		fprintf(stderr, " %s", options[i].name);
	for (size_t i = 0; i < LENGTH(actors); i++)
		fprintf(stderr, " %s", actors[i].name);
	fputc('\n', stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		set_option(argv[i]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("torture");
		return 1;
	}
	me = worker_new("main");
	if (!UNDER_SANITIZER) /* which says more of it */
		catch_crashes();
	threads_start();
	run();
	check_end();
	printf("torture: %lu s, seed %lu:", opt_seconds, opt_seed);
	for (unsigned int i = 0; i < NR_COUNTS; i++)
		printf(" %s=%lu", count_names[i], total((enum count)i));
	putchar('\n');
	return 0;
}
