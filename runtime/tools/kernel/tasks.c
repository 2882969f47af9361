/* SPDX-License-Identifier: MIT */
#include "kernel/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/instance.h"
#include "fail_msg.h"

#define SIZE_FIRST ((size_t)256)

/* ---- The table ---- */

/* A processor's idle thread has the id 0 on each of them. */
static int32_t key_of(int32_t tid, int cpu)
{
	return tid ? tid : -1 - cpu;
}

static struct task *find(struct task *places, size_t size, int32_t key)
{
	size_t at = (uint32_t)key * 2654435761u & (size - 1);

	while (places[at].round && places[at].tid != key)
		at = (at + 1) & (size - 1);
	return &places[at];
}

static bool grow(struct tasks *tasks)
{
	const size_t size = tasks->size ? 2 * tasks->size : SIZE_FIRST;
	struct task *places = calloc(size, sizeof(*places));

	if (!places)
		return fail_no_memory();
	for (size_t i = 0; i < tasks->size; i++) {
		if (tasks->places[i].round)
			*find(places, size, tasks->places[i].tid) = tasks->places[i];
	}
	free(tasks->places);
	tasks->places = places;
	tasks->size = size;
	return true;
}

/* ---- One that lives ---- */

static bool line_after(const char *text, const char *key, const char **value, size_t *len)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	*value = at + strlen(key);
	*len = strcspn(*value, "\n");
	return true;
}

static void set_name(struct task *task, const char *name, size_t len)
{
	memset(task->name, 0, sizeof(task->name));
	memcpy(task->name, name, len < sizeof(task->name) ? len : sizeof(task->name) - 1);
}

static bool ask_proc(struct task *task, int32_t tid)
{
	char path[48], text[512];
	const char *value;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (line_after(text, "Name:\t", &value, &len))
		set_name(task, value, len);
	if (line_after(text, "\nTgid:\t", &value, &len))
		task->pid = (int32_t)strtol(value, NULL, 10);
	return true;
}

/* ---- One that has ended, of which tracefs has kept lines: "TID NAME", "TID PID" ---- */

static bool look_up(struct tasks *tasks, char **list, const char *file, int32_t tid, const char **value, size_t *len)
{
	char key[24];
	size_t size;

	if (!*list)
		*list = tracefs_read(tasks->tracefs, file, &size);
	snprintf(key, sizeof(key), "\n%d ", (int)tid);
	if (!*list)
		return false;
	if (strncmp(*list, key + 1, strlen(key + 1)) != 0)
		return line_after(*list, key, value, len);
	*value = *list + strlen(key + 1);
	*len = strcspn(*value, "\n");
	return true;
}

static void ask_tracefs(struct tasks *tasks, struct task *task, int32_t tid)
{
	const char *value;
	size_t len;

	if (look_up(tasks, &tasks->names, "saved_cmdlines", tid, &value, &len))
		set_name(task, value, len);
	if (look_up(tasks, &tasks->pids, "saved_tgids", tid, &value, &len))
		task->pid = (int32_t)strtol(value, NULL, 10);
}

/* ---- All ---- */

/* What was known of it holds on where it has ended since. */
static void look(struct tasks *tasks, struct task *task, int32_t tid, int cpu)
{
	const bool is_known = task->round != 0;

	task->round = tasks->round;
	if (!is_known) {
		memset(task->name, 0, sizeof(task->name));
		task->tid = key_of(tid, cpu);
		task->pid = tid;
	}
	if (!tid)
		snprintf(task->name, sizeof(task->name), "swapper/%u", (unsigned int)cpu % 10000u);
	else if (!ask_proc(task, tid) && !is_known)
		ask_tracefs(tasks, task, tid);
}

const struct task *task_of(struct tasks *tasks, int32_t tid, int cpu)
{
	if (2 * tasks->nr >= tasks->size && !grow(tasks))
		return NULL;
	struct task *task = find(tasks->places, tasks->size, key_of(tid, cpu));
	tasks->nr += task->round == 0;
	if (task->round != tasks->round)
		look(tasks, task, tid, cpu);
	return task;
}

static void forget_lists(struct tasks *tasks)
{
	free(tasks->names);
	free(tasks->pids);
	tasks->names = tasks->pids = NULL;
}

void tasks_next_round(struct tasks *tasks)
{
	forget_lists(tasks);
	if (!++tasks->round)
		tasks->round = 1;
}

void tasks_free(struct tasks *tasks)
{
	forget_lists(tasks);
	free(tasks->places);
	tasks->places = NULL;
	tasks->size = tasks->nr = 0;
}
