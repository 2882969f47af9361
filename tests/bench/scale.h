/* SPDX-License-Identifier: MIT */
/*
 * scale.h - how much more two threads do at once than one alone, or two processes.
 *
 * In turn, the first hits the site alone, then the second, then both at once, each on a
 * processor of its own. What each does in a while at once, beside what it does in that while
 * alone, is 1 if nothing holds it up; the sum of both is the result, and the median of many
 * turns counts. A turn takes a few milliseconds, so that the machine's other work, which changes
 * slowly, slows down all its parts. Two processes share nothing of their program's: what they
 * are short of 2 is the machine's share.
 */
#ifndef SCALE_H
#define SCALE_H

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BOTH = 2, TURNS = 45 };

/* Both processes have it. */
static struct {
	pthread_barrier_t barrier;
	unsigned int started;              /* how often, at once */
	double alone[BOTH], at_once[BOTH]; /* nanoseconds */
	double sums[TURNS];
} *scale;

/* A barrier wakes one thread before the other. This one does not, but keeps both processors busy. */
static void start_at_once(unsigned int times)
{
	__atomic_fetch_add(&scale->started, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&scale->started, __ATOMIC_ACQUIRE) < BOTH * times)
		;
}

static void *take_turns(void *argument)
{
	const int index = *(const int *)argument;

	pin(index);
	shape_loop(warm);
	shape_loop(events);
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		for (int who = 0; who <= BOTH; who++) {
			pthread_barrier_wait(&scale->barrier);
			if (who == index)
				scale->alone[index] = timed();
			if (who != BOTH)
				continue;
			start_at_once(turn + 1);
			scale->at_once[index] = timed();
		}
		pthread_barrier_wait(&scale->barrier);
		if (index == 0)
			scale->sums[turn] = scale->alone[0] / scale->at_once[0] + scale->alone[1] / scale->at_once[1];
	}
	return NULL;
}

/* The second is a thread, or a process. */
static double measure_scale(bool is_process)
{
	int indexes[BOTH] = {0, 1};
	pthread_barrierattr_t shared;
	pthread_t thread;
	pid_t process = 0;

	scale = mmap(NULL, sizeof(*scale), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (scale == MAP_FAILED)
		fail("there is no memory");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&scale->barrier, &shared, BOTH);
	if (is_process) {
		process = fork();
		if (process == 0) {
			take_turns(&indexes[1]);
			_exit(0);
		}
	}
	if (process < 0 || (!is_process && pthread_create(&thread, NULL, take_turns, &indexes[1]) != 0))
		fail("there is no second thread or process");
	take_turns(&indexes[0]);
	if (is_process)
		waitpid(process, NULL, 0);
	else
		pthread_join(thread, NULL);
	qsort(scale->sums, TURNS, sizeof(*scale->sums), compare);
	return scale->sums[TURNS / 2];
}

#endif /* SCALE_H */
