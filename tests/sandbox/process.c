/* SPDX-License-Identifier: MIT */
/*
 * process.c - whole processes: what they do before and under a filter.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#include "../tasks.h"

static int filtered;

static void *live_long(void *unused)
{
	hit_often();
	while (!__atomic_load_n(&filtered, __ATOMIC_ACQUIRE))
		sched_yield();
	hit_often();
	return unused;
}

static void *hit_in_new_thread(void *unused)
{
	hit_often();
	return unused;
}

/* Of threads besides this one there is the runtime's at most. Its name is part of the opening, whenever its turn is. */
static void wait_for_its_name(void)
{
	int nr_others;

	do {
		DIR *tasks = opendir("/proc/self/task");
		must(tasks, "/proc/self/task");
		nr_others = -1;
		for (struct dirent *task; (task = readdir(tasks));)
			nr_others += task->d_name[0] != '.' && !task_is_called(task->d_name, "tp-helper");
		closedir(tasks);
	} while (nr_others > 0);
}

static void live(void)
{
	pthread_t old_thread, new_thread;

	hit_often();
	wait_for_its_name();
	must(pthread_create(&old_thread, NULL, live_long, NULL) == 0, "pthread_create");
	enter_filter(arguments + 1, true);
	__atomic_store_n(&filtered, 1, __ATOMIC_RELEASE);
	hit_often();
	if (getenv("SANDBOX_NEW_THREADS")) {
		must(pthread_create(&new_thread, NULL, hit_in_new_thread, NULL) == 0, "pthread_create");
		pthread_join(new_thread, NULL);
	}
	pthread_join(old_thread, NULL);
}

static void live_alone(void)
{
	fill_ring();
	enter_filter(arguments + 1, false);
	hit_often();
}

static int nr_workers = 4;
static void (*begin)(void) = fill_ring; /* what a thread records before its filter */
static int nr_filtered, nr_done;

static void *work(void *calls)
{
	begin();
	enter_filter(calls, false);
	__atomic_fetch_add(&nr_filtered, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&filtered, __ATOMIC_ACQUIRE))
		;
	hit_often();
	__atomic_fetch_add(&nr_done, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
	return NULL;
}

static void wait_until_all(const int *number)
{
	while (__atomic_load_n(number, __ATOMIC_ACQUIRE) < nr_workers)
		;
}

/* The process then ends while they are there still. */
static void live_with_workers(void)
{
	char **calls = arguments;
	pthread_t worker;

	while (*calls && strcmp(*calls, "--") != 0)
		calls++;
	must(*calls, "no -- between the filters");
	for (int i = 0; i < nr_workers; i++)
		must(pthread_create(&worker, NULL, work, calls + 1) == 0, "pthread_create");
	begin();
	wait_until_all(&nr_filtered);
	enter_filter(arguments + 1, false);
	__atomic_store_n(&filtered, 1, __ATOMIC_RELEASE);
	hit_often();
	wait_until_all(&nr_done);
}

static void live_from_first_event_on(void)
{
	begin = hit;
	nr_workers = atoi(getenv("SANDBOX_WORKERS"));
	live_with_workers();
}

void (*process_of(const char *name))(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} processes[] = {{"life", live}, {"alone", live_alone}, {"workers", live_with_workers},
		      {"first_event_on", live_from_first_event_on}};

	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		if (strcmp(processes[i].name, name) == 0)
			return processes[i].run;
	}
	return NULL;
}
