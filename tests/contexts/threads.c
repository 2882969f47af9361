/* SPDX-License-Identifier: MIT */
/* threads.c - lessons of threads: that come and go, that are cancelled, and interrupted. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lessons.h"

static bool stop;
static unsigned long calls;

static void count(void *data, unsigned long n)
{
	(void)data;
	__atomic_fetch_add(&calls, n, __ATOMIC_RELAXED);
}

static unsigned long nr_calls(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* ---- The state of a tracepoint in a loop ---- */

static bool was_on;

static void *wait_for_on_and_off(void *unused)
{
	while (!trace_lessons_bare_enabled())
		;
	__atomic_store_n(&was_on, true, __ATOMIC_RELAXED);
	while (trace_lessons_bare_enabled())
		;
	return unused;
}

static void *hit_until_called(void *unused)
{
	(void)unused;
	while (!stopped()) {
		for (int i = 0; i < 4; i++)
			trace_lessons_bare(1);
	}
	return NULL;
}

void lesson_hoisting(void)
{
	pthread_t waiting, hitting;

	pthread_create(&waiting, NULL, wait_for_on_and_off, NULL);
	pthread_create(&hitting, NULL, hit_until_called, NULL);
	usleep(20000); /* both are in their loops */
	CHECK(register_trace_lessons_bare(count, NULL) == 0);
	while (nr_calls() < 100 || !__atomic_load_n(&was_on, __ATOMIC_RELAXED))
		usleep(100);
	usleep(20000);
	CHECK(unregister_trace_lessons_bare(count, NULL) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
	unsigned long last = nr_calls();
	pthread_join(waiting, NULL);
	usleep(1000);
	CHECK(nr_calls() == last);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(hitting, NULL);
}

/* ---- A lock of the program's, taken by probes, and by those who change the probes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void *data, unsigned long n)
{
	(void)data;
	pthread_mutex_lock(&lock);
	calls += n;
	pthread_mutex_unlock(&lock);
}

/* Waits for probes that wait for the lock, whose holder must not wait for this thread. */
static void *wait_until_stopped(void *unused)
{
	while (!stopped())
		CHECK(tracepoint_synchronize_unregister() == 0);
	return unused;
}

void lesson_lock_in_a_probe(void)
{
	pthread_t threads[3];
	char data[3];

	CHECK(register_trace_lessons_bare(take_lock, NULL) == 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i < 2 ? hit_until_called : wait_until_stopped, NULL);
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		for (int j = 0; j < 3; j++)
			CHECK(register_trace_lessons_bare(take_lock, &data[j]) == 0);
		for (int j = 0; j < 3; j++)
			CHECK(unregister_trace_lessons_bare(take_lock, &data[j]) == 0);
		pthread_mutex_unlock(&lock);
		if (i % 100 == 0)
			CHECK(tracepoint_synchronize_unregister() == 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* ---- Threads that live longer than the runtime's and the program's destructors ---- */

static bool late;

static void *hit_for_ever(void *begin_late)
{
	while (begin_late && !__atomic_load_n(&late, __ATOMIC_ACQUIRE))
		usleep(100);
	for (int n = 0;; n++) {
		trace_lessons_bare(1);
		trace_lessons_hit(n);
	}
	return NULL;
}

static void start_hitting(bool begin_late)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hit_for_ever, begin_late ? &late : NULL);
	pthread_detach(thread);
}

void lesson_outlive(void)
{
	CHECK(register_trace_lessons_bare(count, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		start_hitting(false);
		start_hitting(true);
	}
	usleep(10000);
}

/* Among the last destructors. */
static void __attribute__((destructor(101))) live_on(void)
{
	if (!lesson_is("outlive"))
		return;
	__atomic_store_n(&late, true, __ATOMIC_RELEASE);
	start_hitting(false);
	for (int n = 0; n < 100; n++) {
		trace_lessons_hit(n);
		usleep(200);
	}
}

/* ---- A signal handler that is the first of a thread to hit ---- */

#define NR_FIRST 100

static void hit_in_handler(int signal)
{
	int error = errno;

	trace_lessons_bare((unsigned long)signal);
	trace_lessons_hit(signal);
	errno = error;
}

static void *be_interrupted(void *stack)
{
	if (stack) {
		const stack_t alternate = {.ss_sp = stack, .ss_size = (size_t)sysconf(_SC_SIGSTKSZ)};
		CHECK(sigaltstack(&alternate, NULL) == 0);
	}
	pthread_kill(pthread_self(), SIGUSR1);
	return NULL;
}

static void interrupt_threads(void *stack)
{
	const struct sigaction action = {.sa_handler = hit_in_handler, .sa_flags = stack ? SA_ONSTACK : 0};

	sigaction(SIGUSR1, &action, NULL);
	CHECK(register_trace_lessons_bare(count, NULL) == 0);
	for (int i = 0; i < NR_FIRST; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, be_interrupted, stack);
		pthread_join(thread, NULL);
	}
	CHECK(nr_calls() == NR_FIRST * SIGUSR1);
}

void lesson_signal_first(void)
{
	interrupt_threads(NULL);
}

/* Not of malloc, which leaves a guard of nothing below the stack. */
void lesson_signal_first_on_a_stack(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = ((size_t)sysconf(_SC_SIGSTKSZ) + page - 1) / page * page;
	char *memory = mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED && mprotect(memory + page, size, PROT_READ | PROT_WRITE) == 0);
	interrupt_threads(memory + page);
}

/* ---- Cancellation ---- */

/* Anywhere, but not in a thread's first hit, in which liburcu takes a lock. */
static void *go_on_hitting(void *anywhere)
{
	int old;

	trace_lessons_bare(1);
	pthread_setcanceltype(anywhere ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &old);
	for (int n = 0;; n++) {
		trace_lessons_bare(1);
		trace_lessons_hit(n);
		if (!anywhere)
			pthread_testcancel();
	}
	return NULL;
}

static char owner;

static void count_hit(void *data, int n)
{
	count(data, (unsigned int)n);
}

static void *go_on_registering(void *unused)
{
	for (;;) {
		register_trace_lessons_bare(count, &owner);
		register_trace_lessons_hit(count_hit, &owner); /* the first: its sites are switched */
		unregister_trace_lessons_hit(count_hit, &owner);
		unregister_trace_lessons_bare(count, &owner);
		pthread_testcancel();
	}
	return unused;
}

static void *go_on_waiting(void *unused)
{
	for (;;) {
		tracepoint_synchronize_unregister();
		pthread_testcancel();
	}
	return unused;
}

/* Whatever the threads were in, the others go on; and the program ends. */
static void cancel(void *(*go_on)(void *), bool anywhere)
{
	CHECK(register_trace_lessons_bare(count, NULL) == 0);
	for (unsigned int i = 0; i < 200; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, go_on, anywhere ? &owner : NULL);
		usleep(i * 7 % 500);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		int error = unregister_trace_lessons_bare(count, &owner);
		CHECK(error == 0 || error == -ENOENT);
		error = unregister_trace_lessons_hit(count_hit, &owner);
		CHECK(error == 0 || error == -ENOENT);
		all_that_there_is(true);
	}
}

void lesson_cancel_hits(void)
{
	cancel(go_on_hitting, false);
}

void lesson_cancel_hits_anywhere(void)
{
	cancel(go_on_hitting, true);
}

void lesson_cancel_registrars(void)
{
	cancel(go_on_registering, false);
}

void lesson_cancel_waiters(void)
{
	cancel(go_on_waiting, false);
}
