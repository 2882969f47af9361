/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/recorder.h"
#include "read/metadata.h"
#include "fail_msg.h"

#define BUFFER_USUAL "4M"
#define BUFFER_MAX ((uint64_t)1 << 40)

/* The only namespace whose process ids are those that the kernel's events have: PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

/* ---- The clock ---- */

static bool has_word(const char *text, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
		const bool begins = at == text || strchr(" [", at[-1]);
		if (begins && (at[len] == '\0' || strchr(" ]\n", at[len])))
			return true;
	}
	return false;
}

/*
 * The kernel is to take the very clock that traces of processes have here. It has a name for the TSC; where it has none for the counter, all take
 * CLOCK_MONOTONIC.
 */
static bool choose_clock(struct kernel_recording *recording)
{
	size_t len;
	char *clocks = tracefs_read(recording->instance.dir, "trace_clock", &len);
	const char *name = "mono";

	tp_clock_open(&recording->clock);
	if (recording->clock.counter && strcmp(recording->clock.name, "tsc") == 0 && clocks && has_word(clocks, "x86-tsc")) {
		name = "x86-tsc";
	} else if (recording->clock.counter) {
		setenv("TP_CLOCK", "monotonic", 1);
		tp_clock_open(&recording->clock);
	}
	const bool known = clocks && has_word(clocks, name);
	free(clocks);
	if (!known)
		return fail_msg("this kernel's trace buffers have no clock '%s', which --kernel needs: take a later Linux", name);
	return tracefs_write(recording->instance.dir, "trace_clock", name) ||
	       fail_msg("the kernel's trace buffer does not take the clock '%s': %s", name, strerror(errno));
}

/* ---- Before anything is begun ---- */

/* Bytes; 0: it is no size. */
static uint64_t size_of(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	const uint64_t number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
	const char *unit = number && *end ? strchr(units, *end) : NULL;

	if (!number || (*end && (!unit || end[1])))
		return 0;
	const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	return number <= BUFFER_MAX >> shift ? number << shift : 0;
}

static bool set_buffer(struct kernel_recording *recording, const char *given)
{
	const uint64_t size = size_of(given ? given : BUFFER_USUAL);
	char text[32];
	size_t len;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)(size / 1024));
	if (!tracefs_write(recording->instance.dir, "buffer_size_kb", text) && given)
		return fail_msg("the kernel's trace buffer can't be made as large as %s for each processor: %s", given, strerror(errno));
	char *made = tracefs_read(recording->instance.dir, "buffer_size_kb", &len);
	recording->buffer_kib = made ? strtoull(made, NULL, 10) : 0;
	free(made);
	return true;
}

static bool read_layout(struct kernel_recording *recording)
{
	size_t len;
	char *text = tracefs_read(recording->instance.dir, "events/header_page", &len);
	const bool good = text && ring_layout_read(&recording->layout, text);

	free(text);
	return good || fail_msg("this kernel's trace buffer is laid out as this version of tp does not know it: events/header_page in tracefs");
}

static bool is_first_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino == FIRST_PID_NAMESPACE;
}

static void check_namespace(void)
{
	if (!is_first_pid_namespace())
		fail_msg("the kernel's events have other process ids than this container's processes: record outside of it to see both in one thread");
}

bool kernel_open(struct kernel_recording *recording, const char *patterns, const char *buffer, bool is_flight)
{
	recording->is_flight = is_flight;
	if (buffer && size_of(buffer) < 4096)
		return fail_msg("--kernel-buffer takes a size, such as 16M, and no less than 4K");
	if (!instance_make(&recording->instance) || !read_layout(recording) || !choose_clock(recording) || !set_buffer(recording, buffer) ||
	    !kernel_events_find(&recording->events, &recording->instance, patterns) ||
	    !kernel_events_enable(&recording->events, &recording->instance))
		return false;
	tracefs_write(recording->instance.dir, "options/record-tgid", "1"); /* else threads that have ended may be without a process */
	check_namespace();
	return true;
}

/* ---- The recorder ---- */

/*
 * Each event that the recorder causes would make more for it to do. Only this one process: a switch from one to another that are left out would
 * be missing among the switches.
 */
static void leave_out_own(const struct kernel_recording *recording)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (is_first_pid_namespace())
		tracefs_write(recording->instance.dir, "set_event_notrace_pid", pid);
}

static bool say(int to, const struct recorder_result *said)
{
	return write(to, said, sizeof(*said)) == (ssize_t)sizeof(*said);
}

/* Says that it has begun, or not, and what it was in the end. Signals of a terminal are blocked: tp ends it. */
static void be_recorder(struct kernel_recording *recording, int stop, int result)
{
	struct recorder_result said = {.lost = 0};

	signal(SIGXFSZ, SIG_IGN);
	close(recording->stop);
	close(recording->result);
	leave_out_own(recording);
	struct recorder *recorder = recorder_begin(&recording->trace, &recording->instance, &recording->layout, recording->is_flight);
	said.failed = !recorder;
	bool good = say(result, &said);
	if (recorder) {
		said = recorder_run(recorder, stop);
		instance_remove(&recording->instance);
		good = say(result, &said) && good;
	}
	_exit(good ? 0 : 1);
}

/* A grandchild, which is nobody's to wait for: tp's children are programs. */
static bool fork_recorder(struct kernel_recording *recording, int stop, int result)
{
	const pid_t child = fork();

	if (child == 0) {
		if (fork() == 0)
			be_recorder(recording, stop, result);
		_exit(0);
	}
	if (child < 0)
		return false;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return true;
}

enum heard { HEARD, HEARD_NOTHING /* the recorder was killed */, HEARD_NOT_YET /* and nobody wants to wait any longer */ };

#define LOOK_MS 50

/* may_wait: NULL, or whether to go on waiting. */
static enum heard hear(const struct kernel_recording *recording, struct recorder_result *said, bool (*may_wait)(void))
{
	struct pollfd polled = {.fd = recording->result, .events = POLLIN};
	ssize_t n;

	while (may_wait && poll(&polled, 1, LOOK_MS) == 0) {
		if (!may_wait())
			return HEARD_NOT_YET;
	}
	do
		n = read(recording->result, said, sizeof(*said));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*said) ? HEARD : HEARD_NOTHING;
}

static void close_both(const int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

static bool start_recorder(struct kernel_recording *recording)
{
	int stop[2] = {-1, -1}, result[2] = {-1, -1};
	struct recorder_result said;

	if (pipe2(stop, O_CLOEXEC) == 0 && pipe2(result, O_CLOEXEC) == 0) {
		recording->stop = stop[1];
		recording->result = result[0];
		if (fork_recorder(recording, stop[0], result[1])) {
			close(stop[0]);
			close(result[1]);
			if (hear(recording, &said, NULL) == HEARD)
				return !said.failed; /* it has said why */
			return fail_msg("the kernel's events can't be recorded: the process for that could not be started, or was killed");
		}
	}
	const int error = errno;
	close_both(stop);
	close_both(result);
	recording->stop = recording->result = -1;
	return fail_msg("the kernel's events can't be recorded: no process can be started for that: %s", strerror(error));
}

bool kernel_start(struct kernel_recording *recording, const char *dir)
{
	char *path;

	if (asprintf(&path, "%s/" KERNEL_DIR, dir) < 0)
		return fail_no_memory();
	const bool good = kernel_trace_make(&recording->trace, path, &recording->instance, &recording->events, &recording->layout,
					    &recording->clock);
	free(path);
	return good && start_recorder(recording);
}

/* ---- The end ---- */

struct search {
	const char *dir;
	struct tp_clock *clock; /* its name is looked for; its numbers are those of the first that has it */
	bool found;
	char *other; /* the first trace with another clock */
};

/* As the trace says it by itself: those that read all of them take the kernel's for each. */
static void look_at(struct search *search, const char *path)
{
	struct metadata metadata = {.frequency = 0};
	struct trace_dir dir;
	char name[32];

	if (trace_dir_open(&dir, path) && metadata_read(&metadata, &dir)) {
		metadata_clock(&metadata, "name", name, sizeof(name));
		const bool has_it = strcmp(name, search->clock->name) == 0;
		if (has_it && !search->found) {
			search->found = true;
			search->clock->frequency = metadata.frequency;
			search->clock->offset_s = (int64_t)metadata.offset_s;
			search->clock->offset = metadata.offset;
		} else if (!has_it && !search->other) {
			search->other = strdup(path);
		}
	}
	metadata_free(&metadata);
	trace_dir_close(&dir);
}

/* That they can't be read is said by others. */
static void search_all(struct search *search)
{
	struct dirent **entries = NULL;
	const int nr = scandir(search->dir, &entries, NULL, alphasort);
	char *path;

	fail_msg_silence(true);
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;
		if (name[0] != '.' && strcmp(name, KERNEL_DIR) != 0 && asprintf(&path, "%s/%s", search->dir, name) >= 0) {
			look_at(search, path);
			free(path);
		}
		free(entries[i]);
	}
	fail_msg_silence(false);
	free(entries);
}

/* Each process has measured the counter's frequency by itself, and each a little otherwise. */
static void take_clock(struct kernel_recording *recording, const char *dir)
{
	struct tp_clock clock = recording->clock;
	struct search search = {.dir = dir, .clock = &clock};

	search_all(&search);
	if (!search.found)
		tp_clock_refine(&clock);
	if (search.other)
		fail_msg("the kernel's events have the clock %s, and '%s' has another: their order is right to some microseconds only", clock.name,
			 search.other);
	kernel_trace_set_clock(&recording->trace, &clock);
	free(search.other);
}

/* If it runs on, it takes the instance away. */
static enum heard end_recorder(struct kernel_recording *recording, struct recorder_result *said, bool (*may_wait)(void))
{
	close(recording->stop);
	const enum heard heard = hear(recording, said, may_wait);
	close(recording->result);
	recording->stop = recording->result = -1;
	if (heard != HEARD_NOTHING)
		recording->instance.name[0] = '\0';
	return heard;
}

uint64_t kernel_stop(struct kernel_recording *recording, const char *dir, bool (*may_wait)(void))
{
	struct recorder_result said;

	if (recording->stop < 0)
		return 0;
	const enum heard heard = end_recorder(recording, &said, may_wait);
	if (heard == HEARD_NOTHING)
		fail_msg("the process that recorded the kernel's events was killed; what it has recorded until then is kept");
	else if (heard == HEARD_NOT_YET)
		fail_msg("another process is still writing events of the kernel into '%s': tp does not wait for it", recording->trace.path);
	take_clock(recording, dir);
	return heard == HEARD && !said.failed ? said.lost : UINT64_MAX;
}

void kernel_close(struct kernel_recording *recording)
{
	struct recorder_result said;

	if (recording->stop >= 0)
		end_recorder(recording, &said, NULL);
	instance_remove(&recording->instance);
	instance_close(&recording->instance);
	kernel_events_free(&recording->events);
	kernel_trace_free(&recording->trace);
}
