/* SPDX-License-Identifier: MIT */
/*
 * threads.c - threads that record, and the signals that they record in.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

#ifndef sigev_notify_thread_id /* glibc has only this name for it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Of a thread: its own sequence, and one for each signal. */
#define NR_SIGNALS 3
#define THREADS_MAX 64
#define HITS_MAX 20000000 /* some GB: from then on, slowly */
#define PATIENCE_S 600    /* then, what they wait for does not come; as PATIENCE of support.py */

static struct thread {
	pthread_t id;
	pthread_t sender; /* of signals */
	unsigned int who; /* the first of 1 + NR_SIGNALS */
	bool held;
	unsigned long more; /* hits that it has, before it is held again */
	timer_t timers[NR_SIGNALS];
} threads[THREADS_MAX];
static unsigned int nr_threads;
static bool stop, senders_stop, hold;

static __thread unsigned int this_who;

/* ---- Signals ---- */

static int signal_number(int i)
{
	return SIGRTMIN + i;
}

/* Others may nest in it, the same not. */
static void on_signal(int signal)
{
	int saved = errno;

	hit(this_who + 1 + (unsigned int)(signal - SIGRTMIN));
	errno = saved;
}

static void arm_timers(struct thread *thread)
{
	for (int i = 0; i < NR_SIGNALS; i++) {
		/* Unlike intervals, so that they meet in all ways. */
		long interval = 1000000000L / (long)options.signals + 7919 * i;
		struct itimerspec often = {.it_interval.tv_nsec = interval, .it_value.tv_nsec = interval};
		struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number(i)};

		event.sigev_notify_thread_id = gettid();
		if (timer_create(CLOCK_MONOTONIC, &event, &thread->timers[i]) != 0 ||
		    timer_settime(thread->timers[i], 0, &often, NULL) != 0)
			die("timer_create");
	}
}

static void disarm_timers(struct thread *thread)
{
	for (int i = 0; i < NR_SIGNALS; i++)
		timer_delete(thread->timers[i]);
}

static void *send_signals(void *arg)
{
	const struct thread *thread = arg;

	for (int i = 0; !__atomic_load_n(&senders_stop, __ATOMIC_RELAXED); i++) {
		pthread_kill(thread->id, signal_number(i % NR_SIGNALS));
		if (i % 16 == 0)
			usleep(100);
	}
	return NULL;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (int i = 0; i < NR_SIGNALS; i++)
		sigaction(signal_number(i), &action, NULL);
}

/* ---- Threads ---- */

/* Behind each hit. */
static bool has_more(struct thread *thread)
{
	return __atomic_load_n(&thread->more, __ATOMIC_RELAXED) &&
	       __atomic_sub_fetch(&thread->more, 1, __ATOMIC_RELEASE);
}

static void be_held(struct thread *thread)
{
	__atomic_store_n(&thread->held, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&hold, __ATOMIC_ACQUIRE) && !__atomic_load_n(&thread->more, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&stop, __ATOMIC_RELAXED))
		usleep(100);
	__atomic_store_n(&thread->held, false, __ATOMIC_RELEASE);
}

/* Whoever stops us may get no processor, and has a disk, too. */
static void be_slow(time_t *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!*since)
		*since = now.tv_sec;
	if (now.tv_sec - *since > PATIENCE_S)
		die("far too many events");
	usleep(1000);
}

static void *record(void *arg)
{
	struct thread *thread = arg;
	unsigned long recorded = 0;
	time_t slow_since = 0;

	this_who = take_whos(1 + NR_SIGNALS);
	__atomic_store_n(&thread->who, this_who, __ATOMIC_RELEASE);
	if (options.signals)
		arm_timers(thread);
	for (unsigned long n = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		hit(this_who);
		if (options.forks && n % options.forks == 0 && child_records(20))
			_exit(0);
		if (n == options.limit)
			break;
		if (is_recorded() && ++recorded > HITS_MAX) /* off, they are nothing */
			be_slow(&slow_since);
		if (options.pace && n % options.pace == 0)
			usleep(1000);
		if (!has_more(thread) && __atomic_load_n(&hold, __ATOMIC_RELAXED))
			be_held(thread);
	}
	if (options.signals) {
		disarm_timers(thread);
		while (!__atomic_load_n(&senders_stop, __ATOMIC_RELAXED)) /* they need us */
			usleep(100);
	}
	return NULL;
}

static void create(pthread_t *id, void *(*function)(void *), void *data)
{
	errno = pthread_create(id, NULL, function, data);
	if (errno)
		die("pthread_create");
}

void start_threads(const char *nr)
{
	if (options.signals)
		catch_signals();
	for (unsigned long i = number(nr); i; i--) {
		struct thread *thread = &threads[nr_threads++];

		thread->who = NR_WHOS;
		create(&thread->id, record, thread);
		while (options.signals && __atomic_load_n(&thread->who, __ATOMIC_ACQUIRE) == NR_WHOS)
			usleep(10);
		if (options.signals)
			create(&thread->sender, send_signals, thread);
	}
}

void stop_threads(const char *unused)
{
	(void)unused;
	__atomic_store_n(&senders_stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; options.signals && i < nr_threads; i++)
		pthread_join(threads[i].sender, NULL);
	__atomic_store_n(&stop, !options.limit, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < nr_threads; i++)
		pthread_join(threads[i].id, NULL);
	forget_threads();
	stop = senders_stop = hold = false;
}

void hold_threads(const char *unused)
{
	(void)unused;
	__atomic_store_n(&hold, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < nr_threads; i++) {
		while (!__atomic_load_n(&threads[i].held, __ATOMIC_ACQUIRE))
			usleep(100);
	}
}

/* Those that are held: each records so many more, and not one more than that. */
void let_threads_record(const char *nr)
{
	for (unsigned int i = 0; i < nr_threads; i++)
		__atomic_store_n(&threads[i].more, number(nr), __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < nr_threads; i++) {
		while (__atomic_load_n(&threads[i].more, __ATOMIC_ACQUIRE) ||
		       !__atomic_load_n(&threads[i].held, __ATOMIC_ACQUIRE))
			usleep(100);
	}
}

void release_threads(const char *unused)
{
	(void)unused;
	__atomic_store_n(&hold, false, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < nr_threads; i++) {
		while (__atomic_load_n(&threads[i].held, __ATOMIC_ACQUIRE))
			usleep(100);
	}
}

void forget_threads(void)
{
	nr_threads = 0;
}

/* Each living thread records so many more. */
void wait_for_hits(const char *nr)
{
	uint64_t until[THREADS_MAX];

	for (unsigned int i = 0; i < nr_threads; i++) {
		while (__atomic_load_n(&threads[i].who, __ATOMIC_ACQUIRE) == NR_WHOS)
			usleep(10);
		until[i] = __atomic_load_n(&shared->whos[threads[i].who].hits, __ATOMIC_RELAXED) + number(nr);
	}
	for (unsigned int i = 0; i < nr_threads; i++) {
		while (__atomic_load_n(&shared->whos[threads[i].who].hits, __ATOMIC_RELAXED) < until[i])
			usleep(100);
	}
}

static void *record_shortly(void *unused)
{
	unsigned int who = take_whos(1);

	for (int i = 0; i < 3; i++)
		hit(who);
	return unused;
}

/* THREADS,AT_ONCE */
void run_short_threads(const char *nr)
{
	unsigned long at_once = number(strchr(nr, ',') + 1);
	pthread_t ids[THREADS_MAX];

	for (unsigned long i = 0; i < number(nr); i += at_once) {
		for (unsigned long j = 0; j < at_once; j++)
			create(&ids[j], record_shortly, NULL);
		for (unsigned long j = 0; j < at_once; j++)
			pthread_join(ids[j], NULL);
	}
}
