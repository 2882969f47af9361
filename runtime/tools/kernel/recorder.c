/* SPDX-License-Identifier: MIT */
#include "kernel/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_stream.h"
#include "kernel/tasks.h"
#include "fail_msg.h"

#define PATIENCE_MS 100     /* until events are in the trace, where they are few */
#define PAGES_IN_A_ROW 256u /* of a processor, before the others have their turn */

struct cpu {
	int fd; /* its pages */
	struct kernel_stream stream;
};

struct recorder {
	struct kernel_trace *trace;
	const struct instance *instance;
	const struct ring_layout *layout;
	bool is_flight;
	struct tasks tasks;
	struct cpu *cpus;
	size_t nr;
	struct pollfd *polled; /* theirs, and the one that ends it */
	unsigned char *page;
	struct recorder_result result;
};

/* ---- Processors ---- */

static bool add_cpu(struct recorder *recorder, int number, int fd)
{
	struct cpu *cpus = reallocarray(recorder->cpus, recorder->nr + 1, sizeof(*cpus));

	if (!cpus) {
		close(fd);
		return fail_no_memory();
	}
	recorder->cpus = cpus;
	cpus[recorder->nr++] = (struct cpu){
		.fd = fd, .stream = {.dir = recorder->trace->fd, .path = recorder->trace->path, .cpu = number, .fd = -1},
	};
	return true;
}

/* Those that may ever run; their numbers need not be without gaps. */
static bool open_cpus(struct recorder *recorder)
{
	const long most = sysconf(_SC_NPROCESSORS_CONF) + 1024;
	char path[64];

	for (int number = 0; number < most; number++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", number);
		int fd = openat(recorder->instance->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && !add_cpu(recorder, number, fd))
			return false;
		if (fd < 0 && errno != ENOENT)
			return fail_msg("the kernel's events can't be read: %s in tracefs: %s", path, strerror(errno));
	}
	return recorder->nr || fail_msg("the kernel's events can't be read: tracefs has no per_cpu/cpu0/trace_pipe_raw");
}

static bool begin(struct recorder *recorder)
{
	if (!open_cpus(recorder))
		return false;
	recorder->polled = calloc(recorder->nr + 1, sizeof(*recorder->polled));
	recorder->page = malloc(recorder->layout->page_size);
	if (!recorder->polled || !recorder->page)
		return fail_no_memory();
	for (size_t i = 0; i < recorder->nr; i++)
		recorder->polled[i] = (struct pollfd){.fd = recorder->cpus[i].fd, .events = POLLIN};
	return tracefs_write(recorder->instance->dir, "tracing_on", "1") ||
	       fail_msg("the kernel's tracing can't be switched on: %s", strerror(errno));
}

/* ---- Pages ---- */

static bool put_events(struct recorder *recorder, struct cpu *cpu, struct ring_page *page)
{
	struct ring_event event;
	int32_t tid;
	size_t size;

	while (ring_page_next(page, &event)) {
		const unsigned char *record = kernel_trace_record(recorder->trace, &event, &size);
		if (!record)
			continue;
		memcpy(&tid, record + sizeof(uint32_t), sizeof(tid));
		const struct task *task = task_of(&recorder->tasks, tid, cpu->stream.cpu);
		if (!task || !kernel_stream_event(&cpu->stream, event.time, task, record, size))
			return false;
	}
	return true;
}

/* Events of the processor that the kernel has overwritten so far; 0: it does not say. */
static uint64_t overwritten(const struct recorder *recorder, const struct cpu *cpu)
{
	static const char key[] = "overrun: ";
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu->stream.cpu);
	char *text = tracefs_read(recorder->instance->dir, path, &len);
	const char *at = text ? strstr(text, key) : NULL;
	const uint64_t nr = at ? strtoull(at + strlen(key), NULL, 10) : 0;
	free(text);
	return nr;
}

/* A page says how many were lost in front of it only if it has room for that. The kernel's sum has all; some may not have been read of yet. */
static void count_lost(struct recorder *recorder, struct cpu *cpu, uint64_t lost)
{
	const uint64_t before = cpu->stream.lost, sum = lost ? overwritten(recorder, cpu) : 0;

	if (lost && !sum)
		cpu->stream.lost += lost == UINT64_MAX ? 1 : lost;
	else if (sum > before)
		cpu->stream.lost = sum;
	recorder->result.lost += cpu->stream.lost - before;
}

/* Until there is none left, or that is enough, and *more. */
static bool read_pages(struct recorder *recorder, struct cpu *cpu, bool *more)
{
	struct ring_page page;

	for (unsigned int i = 0; i < PAGES_IN_A_ROW; i++) {
		ssize_t n = read(cpu->fd, recorder->page, recorder->layout->page_size);
		if (n <= 0)
			return true; /* EAGAIN; or the processor is gone */
		if (!ring_page_begin(&page, recorder->layout, recorder->page, (size_t)n))
			return fail_msg("per_cpu/cpu%d/trace_pipe_raw in tracefs has a page of %zd bytes that can't be understood: the kernel's events "
					"are not recorded any more", cpu->stream.cpu, n);
		if (!recorder->is_flight)
			count_lost(recorder, cpu, page.lost);
		if (!put_events(recorder, cpu, &page))
			return false;
	}
	*more = true;
	return true;
}

/* *more: what there may be. */
static bool read_all(struct recorder *recorder, bool *more)
{
	bool good = true;

	*more = false;
	tasks_next_round(&recorder->tasks);
	for (size_t i = 0; i < recorder->nr && good; i++)
		good = read_pages(recorder, &recorder->cpus[i], more);
	for (size_t i = 0; i < recorder->nr && good; i++)
		good = kernel_stream_flush(&recorder->cpus[i].stream);
	return good;
}

/* ---- All ---- */

static bool is_stopped(struct recorder *recorder, int patience)
{
	const nfds_t first = recorder->is_flight ? recorder->nr : 0;

	poll(recorder->polled + first, recorder->nr + 1 - first, patience);
	return recorder->polled[recorder->nr].revents != 0;
}

static bool record(struct recorder *recorder)
{
	bool more = false, good = true;

	while (good && !is_stopped(recorder, recorder->is_flight ? -1 : more ? 0 : PATIENCE_MS)) {
		if (!recorder->is_flight)
			good = read_all(recorder, &more);
	}
	tracefs_write(recorder->instance->dir, "tracing_on", "0");
	do
		good = good && read_all(recorder, &more);
	while (good && more);
	return good;
}

static bool end(struct recorder *recorder)
{
	bool good = true;

	for (size_t i = 0; i < recorder->nr; i++) {
		good = kernel_stream_end(&recorder->cpus[i].stream) && good;
		close(recorder->cpus[i].fd);
	}
	free(recorder->cpus);
	free(recorder->polled);
	free(recorder->page);
	tasks_free(&recorder->tasks);
	free(recorder);
	return good;
}

struct recorder *recorder_begin(struct kernel_trace *trace, const struct instance *instance, const struct ring_layout *layout, bool is_flight)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder) {
		fail_no_memory();
		return NULL;
	}
	*recorder = (struct recorder){
		.trace = trace, .instance = instance, .layout = layout, .is_flight = is_flight, .tasks = {.tracefs = instance->tracefs},
	};
	if (begin(recorder))
		return recorder;
	end(recorder);
	return NULL;
}

struct recorder_result recorder_run(struct recorder *recorder, int stop)
{
	recorder->polled[recorder->nr] = (struct pollfd){.fd = stop, .events = POLLIN};
	recorder->result.failed = !record(recorder);

	struct recorder_result result = recorder->result;
	result.failed = !end(recorder) || result.failed;
	return result;
}
