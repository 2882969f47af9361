/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - begins and ends, as the arguments say, each with a number, seq, that counts up:
 *
 *	b:ID[:PEER[:METHOD[:MORE]]]  a begin; MORE bytes are added to its record
 *	e:ID[:PEER[:STATUS]]         an end
 *	Tb:..., Te:...               the same, in a thread of its own
 *	s:USECS                      sleeps
 *	f                            forks: the child goes on, and the parent waits for it and goes on, too
 *	storm:THREADS:PAIRS          threads that leave their begins to each other
 *	loop                         pairs for ever
 *	busy                         the same, as often as can be
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "pairs.h"

static int seq;

static int next_seq(void)
{
	return __atomic_add_fetch(&seq, 1, __ATOMIC_RELAXED);
}

static void hit(char *text)
{
	char *part[5] = {NULL};
	size_t nr = 0;

	for (char *save, *at = strtok_r(text, ":", &save); at && nr < 5; at = strtok_r(NULL, ":", &save))
		part[nr++] = at;
	const long id = atol(part[1]);
	const char *peer = part[2] ? part[2] : "x";
	const int number = part[3] ? atoi(part[3]) : 1;
	if (*part[0] == 'b')
		trace_pairs_begin(id, peer, number, next_seq(), part[4] ? (unsigned int)atoi(part[4]) : 0);
	else
		trace_pairs_end((short)id, peer, number, next_seq());
}

static void *hit_in_thread(void *text)
{
	hit(text);
	return NULL;
}

/* ---- A storm: the id of a begin goes through a ring to whoever ends it ---- */

#define RING 64

static int ring[RING];
static int nr_pairs;

static void *begin_all(void *arg)
{
	const int base = *(int *)arg;

	for (int i = 0; i < nr_pairs; i++) {
		const int id = base * nr_pairs + i;
		trace_pairs_begin(id % 32000, "storm", 1, id, 0);
		int *slot = &ring[(unsigned int)id % RING];
		for (int none = 0; !__atomic_compare_exchange_n(slot, &none, id + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); none = 0)
			usleep(1);
	}
	return NULL;
}

static int nr_ended, nr_all;

static void *end_all(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; __atomic_load_n(&nr_ended, __ATOMIC_RELAXED) < nr_all; i++) {
		const int id = __atomic_exchange_n(&ring[i % RING], 0, __ATOMIC_ACQ_REL);
		if (!id)
			continue;
		trace_pairs_end((short)((id - 1) % 32000), "storm", (id - 1) % 3, id - 1);
		__atomic_add_fetch(&nr_ended, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static volatile sig_atomic_t nr_signals;

/* Pairs of its own, inside of whatever it interrupts. */
static void on_alarm(int sig)
{
	(void)sig;
	nr_signals++;
	trace_pairs_begin(-1, "handler", 2, 0, 0);
	trace_pairs_end(-1, "handler", 9, 0);
}

static void storm(int nr_threads, int pairs)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[2 * 64];
	int bases[64];

	nr_pairs = pairs;
	nr_all = nr_threads * pairs;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < nr_threads; i++) {
		bases[i] = i;
		pthread_create(&threads[2 * i], NULL, begin_all, &bases[i]);
		pthread_create(&threads[2 * i + 1], NULL, end_all, NULL);
	}
	for (int i = 0; i < 2 * nr_threads; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%d\n", (int)nr_signals);
}

static void loop(void)
{
	for (int i = 0;; i++) {
		trace_pairs_begin(i % 1000, i % 3 ? "10.0.0.1" : "10.0.0.2", 1 + i % 2, next_seq(), 0);
		usleep(i % 100 ? 50 : 2000);
		trace_pairs_end((short)(i % 1000), "y", i % 5 ? 200 : 500, next_seq());
	}
}

static void busy(void)
{
	for (;;) {
		trace_pairs_begin(1, "x", 1, next_seq(), 0);
		trace_pairs_end(1, "y", 200, next_seq());
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *arg = argv[i];
		pthread_t thread;
		int threads, pairs;
		if (*arg == 'T' && pthread_create(&thread, NULL, hit_in_thread, arg + 1) == 0)
			pthread_join(thread, NULL);
		else if (sscanf(arg, "storm:%d:%d", &threads, &pairs) == 2)
			storm(threads, pairs);
		else if (*arg == 's')
			usleep((useconds_t)atoi(arg + 2));
		else if (*arg == 'f')
			(void)(fork() && wait(NULL));
		else if (*arg == 'l')
			loop();
		else if (strcmp(arg, "busy") == 0)
			busy();
		else
			hit(arg);
	}
	return 0;
}
