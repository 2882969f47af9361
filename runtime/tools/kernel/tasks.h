/* SPDX-License-Identifier: MIT */
/* tasks.h - the process of a thread, and the thread's name: the kernel's events have its id only. */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/metadata.h"

struct task {
	int32_t tid, pid;
	uint32_t round; /* of the last look; 0: there is none here */
	char name[COMM_SIZE];
};

/* Zeros are none, but for tracefs: its top-level directory, which knows threads that have ended. */
struct tasks {
	int tracefs;
	uint32_t round;
	struct task *places; /* a hash table */
	size_t size, nr;
	char *names, *pids; /* tracefs's lists in this round */
};

/* From here on, threads are looked at anew: some have got other names. Called first. */
void tasks_next_round(struct tasks *tasks);

/* Until the next call. NULL, and a message: there is no memory. */
const struct task *task_of(struct tasks *tasks, int32_t tid, int cpu);

void tasks_free(struct tasks *tasks);

#endif /* TASKS_H */
