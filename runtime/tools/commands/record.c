/* SPDX-License-Identifier: MIT */
/* record.c - "tp record": a trace of processes that run, or of a program that is started. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/process_tree.h"
#include "client/common_options.h"
#include "client/kernel_beside.h"
#include "client/recording.h"
#include "client/signals.h"
#include "client/status_line.h"
#include "client/targets.h"
#include "fail_msg.h"

enum { OPTION_FLIGHT = OPTION_LONG, OPTION_PACKET, OPTION_PACKETS, OPTION_SIZE, OPTION_CONTEXT, OPTION_FOR, OPTION_KERNEL, OPTION_KERNEL_BUFFER };

/* ---- Options of the trace ---- */

/* As TP_OUTPUT and the protocol have them. False, and a message. */
static bool make_options(const struct tp_args *args, char *options, size_t size)
{
	static const struct {
		int id;
		const char *name;
	} names[] = {{OPTION_FLIGHT, "size"}, {OPTION_PACKET, "packet"}, {OPTION_PACKETS, "packets"}, {OPTION_SIZE, "size"},
		     {OPTION_CONTEXT, "context"}};
	size_t len = 0;

	options[0] = '\0';
	if (args_has(args, OPTION_FLIGHT))
		len += (size_t)snprintf(options, size, "mode=flight");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && len < size; i++) {
		const char *value = args_value(args, names[i].id);
		if (value && strpbrk(value, ",;% ")) {
			args_wrong(args, "'%s' is no value of --%s", value, names[i].name);
			return false;
		}
		if (value)
			len += (size_t)snprintf(options + len, size - len, "%s%s=%s", len ? "," : "", names[i].name, value);
	}
	return len < size || fail_msg("the options are too long");
}

/* ---- Processes that run ---- */

struct record {
	struct targets targets;
	struct recording *all;
	size_t nr, nr_over;
	unsigned long long nr_events;
	int64_t begin_ms, until_ms; /* by CLOCK_MONOTONIC; 0: no end */
	const char *path, *options, *events;
	struct kernel_recording *kernel; /* NULL: its events are not wanted */
	const char *shared;              /* the directory of all traces, where it records, too */
	struct status_line line;
};

/* "12.3 s, 1200 events, 2.4 MiB, lost: 0" of all of them. */
static void show_line(struct record *record)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	const int64_t before = now_ms();
	struct trace_count sum = {.events = 0};
	char text[160];
	size_t unit = 0;

	for (size_t i = 0; i < record->nr; i++) {
		struct recording *one = &record->all[i];
		if (!one->over)
			recording_count(one);
		sum.events += one->count.events;
		sum.bytes += one->count.bytes;
		sum.lost += one->count.lost;
	}
	double size = (double)sum.bytes;
	for (; size >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		size /= 1024;
	snprintf(text, sizeof(text), "%.1f s, %llu event%s, %.*f %s, lost: %llu", (double)(before - record->begin_ms) / 1000,
		 (unsigned long long)sum.events, sum.events == 1 ? "" : "s", unit ? 1 : 0, size, units[unit], (unsigned long long)sum.lost);
	status_line_show(&record->line, text, now_ms() - before);
}

/* came: since. What a child has inherited goes into its parent's directory. False, and a message. */
static bool open_one(struct record *record, struct connection *connection, bool came)
{
	struct recording *all = reallocarray(record->all, record->nr + 1, sizeof(*all));

	if (!all)
		return fail_no_memory();
	record->all = all;
	struct recording *one = &all[record->nr];
	*one = (struct recording){.dir = -1};
	session_begin(&one->session, connection);
	const bool inherits = came && session_inherits(&one->session, "ctf");
	if (!inherits && recording_open(one, record->path, record->options) && recording_enable(one, record->events)) {
		record->nr++;
		return true;
	}
	if (!inherits)
		recording_undo(one);
	recording_close(one);
	return inherits;
}

/* One of these that can't be recorded is no reason for the others to end. */
static void take_those_that_come(struct record *record)
{
	for (size_t i = targets_grow(&record->targets); i < record->targets.nr; i++) {
		status_line_clear(&record->line); /* as something may be told */
		open_one(record, &record->targets.all[i], true);
	}
}

/* ended: by the process. */
static void finish(struct record *record, struct recording *recording, bool ended)
{
	const char *title = connection_title(&recording->session.connection);
	unsigned long lost[NR_CAUSES];

	status_line_clear(&record->line);
	recording->over = true;
	record->nr_over++;
	targets_lose(&record->targets, recording->session.connection.pid);
	const bool known = !ended && session_finish(&recording->session, lost) == SESSION_KNOWN;
	connection_close(&recording->session.connection);
	if (ended)
		fail_msg("%s has ended", title);
	record->nr_events += tell_recorded(recording->path, recording_name(recording), title, known ? lost : NULL);
}

static void wait_for_any(const struct record *record)
{
	struct pollfd *polled = calloc(2 * record->nr + 1, sizeof(*polled));
	nfds_t nr = 0;

	if (!polled)
		return;
	polled[nr++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	for (size_t i = 0; i < record->nr; i++) {
		const struct recording *one = &record->all[i];
		if (one->over)
			continue;
		polled[nr++] = (struct pollfd){.fd = one->session.connection.fd, .events = POLLIN};
		polled[nr++] = (struct pollfd){.fd = one->session.pidfd, .events = POLLIN};
	}
	poll(polled, nr, status_line_patience(&record->line, targets_patience(&record->targets, record->until_ms)));
	free(polled);
}

/* Until a signal, the end of the time, or that of all processes. */
static void follow(struct record *record)
{
	bool going_on = true;

	status_line_begin(&record->line);
	while (going_on && (record->nr_over < record->nr || targets_may_come(&record->targets))) {
		wait_for_any(record);
		if (status_line_is_due(&record->line))
			show_line(record);
		for (int sig; (sig = signals_next());) {
			if (signal_ends(sig)) {
				going_on = false;
			} else if (sig == SIGTSTP) {
				status_line_clear(&record->line);
				signals_stop();
			}
		}
		if (record->until_ms && now_ms() >= record->until_ms)
			going_on = false;
		for (size_t i = 0; i < record->nr; i++) {
			struct recording *one = &record->all[i];
			if (!one->over && session_is_over(&one->session))
				finish(record, one, true);
		}
		take_those_that_come(record);
	}
	status_line_clear(&record->line);
	wipe_interrupt();
	for (size_t i = 0; i < record->nr; i++) {
		if (!record->all[i].over)
			finish(record, &record->all[i], false);
	}
}

/* In front of the first process. */
static bool start_kernel(struct record *record)
{
	const char *dir = recordings_share(record->path);

	if (dir && kernel_beside_start(record->kernel, dir))
		record->shared = dir;
	return record->shared;
}

static int record_processes(const struct tp_args *args, const char *options, const char *events, struct kernel_recording *kernel)
{
	struct record record = {.path = args_value(args, 'o'), .options = options, .events = events, .kernel = kernel};
	int64_t ms = 0;

	if (args_has(args, OPTION_FOR) && (ms = given_seconds(args, "--for", args_value(args, OPTION_FOR))) < 0)
		return EXIT_WRONG;
	/* All are reached before anything is opened: a mistake in one changes nothing in the others. */
	bool good = signals_begin() && targets_reach(&record.targets, args) && (!kernel || start_kernel(&record));
	for (size_t i = 0; good && i < record.targets.nr; i++)
		good = open_one(&record, &record.targets.all[i], false);
	if (good) {
		record.begin_ms = now_ms();
		record.until_ms = ms ? record.begin_ms + ms : 0;
		follow(&record);
	}
	const bool matched = good && (record.nr_events || sessions_have_matched("nothing was recorded"));
	if (record.shared)
		kernel_beside_stop(kernel, record.shared, matched);
	for (size_t i = 0; i < record.nr; i++) {
		if (!good)
			recording_undo(&record.all[i]);
		else if (!matched) /* the same command without the mistake would find a directory that is not empty */
			recording_remove(&record.all[i]);
		recording_close(&record.all[i]);
	}
	if (kernel && !matched)
		recordings_end();
	targets_close(&record.targets);
	signals_end();
	free(record.all);
	return matched ? EXIT_DONE : EXIT_FAILED;
}

/* ---- The command ---- */

static int record(const struct tp_args *args, const char *options, const char *events, struct kernel_recording *kernel)
{
	if (args->program)
		return family_record(args->program, args_value(args, 'o'), options, events, kernel);
	return record_processes(args, options, events, kernel);
}

/* Whatever is wrong with it is said before a process is asked, or a program started. */
static int record_with_kernel(const struct tp_args *args, const char *options, const char *events)
{
	struct kernel_recording kernel = NO_KERNEL_RECORDING;
	char *patterns;
	const bool good = given_list(args, OPTION_KERNEL, &patterns) && signals_begin() &&
			  kernel_open(&kernel, patterns, args_value(args, OPTION_KERNEL_BUFFER), args_has(args, OPTION_FLIGHT));
	const int status = good ? record(args, options, events, &kernel) : EXIT_FAILED;

	kernel_close(&kernel);
	signals_end();
	free(patterns);
	return status;
}

static int run(const struct tp_args *args)
{
	char options[512];

	if (!target_is_given(args) || !make_options(args, options, sizeof(options)))
		return EXIT_WRONG;
	if (!args_has(args, 'o'))
		return args_wrong(args, "give it -o DIR, for the trace");
	if (args->program && args_has(args, OPTION_FOR))
		return args_wrong(args, "a program is recorded until it ends: --for goes with -p");
	if (args_has(args, OPTION_KERNEL_BUFFER) && !args_has(args, OPTION_KERNEL))
		return args_wrong(args, "--kernel-buffer goes with --kernel");
	char *events = given_events(args);
	if (!events)
		return EXIT_FAILED;
	const int status = args_has(args, OPTION_KERNEL) ? record_with_kernel(args, options, events) : record(args, options, events, NULL);
	free(events);
	return status;
}

const struct tp_command command_record = {
	.name = "record",
	.summary = "record a trace of processes, or of a program",
	.usage = (const char *const[]){"-p PID... [-e EVENTS] -o DIR [OPTION...]",
				       "[-e EVENTS] -o DIR [OPTION...] -- PROGRAM [ARGUMENT...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		OPTION_EVENTS,
		{'o', "output", "DIR", "the directory of the trace, which is made; one that is there must be empty"},
		{OPTION_FLIGHT, "flight", "[SIZE]", "a flight recorder: of the events, the newest are kept, SIZE bytes of all threads "
						    "together, such as 16M; 2M a thread without SIZE"},
		{OPTION_FOR, "for", "SECONDS", "stop after this time"},
		{OPTION_PACKET, "packet", "SIZE", "the size of a packet, which is a file; 1M without this option"},
		{OPTION_PACKETS, "packets", "NUMBER", "the most packets that a thread has"},
		{OPTION_SIZE, "size", "SIZE", "the most bytes of all packets"},
		{OPTION_CONTEXT, "context", "LIST", "what to add to each event: some of cpu, pid and name, as in cpu+pid"},
		{OPTION_KERNEL, "kernel", "KERNEL-EVENTS", "the kernel's events, too: names and globs, as in 'sched:sched_switch,irq:*'; needs root"},
		{OPTION_KERNEL_BUFFER, "kernel-buffer", "SIZE", "bytes of each processor's buffer in the kernel; 4M without this option"},
		{.name = NULL},
	},
	.text =
		"Records a CTF trace until ^C, until the time of --for is over, or until the process ends. The "
		"trace is in DIR, where you stand: the process writes into it whatever its own root directory or "
		"user is. It can be read at any time, and after whatever end of tp or the process, by \"tp "
		"report\", babeltrace2 and others. Of several processes, each has its trace below DIR, "
		"DIR/PROGRAM-PID; so has a process of root's that root records, as it may become another user.\n\n"
		"On a terminal, a line says how much has been recorded so far. At the end, tp says on stderr how much was recorded, and how many "
		"events were lost, by cause, and by which forked children. With "
		"--flight, the trace is what the flight recorder has at the end.\n\n"
		"A PROGRAM is recorded from its first event on. It gets TP_OUTPUT and TP_ENABLE in its environment, "
		"and so do the programs that it starts. If several processes record, forked children among them, "
		"each has its trace below DIR, DIR/PID. tp exits with PROGRAM's status; with 128 + N if signal N "
		"has killed it, which is told.\n\n"
		"With --kernel, each trace is below DIR, and DIR/kernel has the kernel's events. \"tp report DIR\" and \"tp convert DIR\" show "
		"all in one order, which is right: both read the same counter, without an error of a conversion.\n",
	.run = run,
};
