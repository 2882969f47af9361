/* SPDX-License-Identifier: MIT */
/* trace.c - "tp trace": the events of a process, as they come. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/child.h"
#include "client/directory.h"
#include "client/common_options.h"
#include "client/pump.h"
#include "client/session.h"
#include "client/signals.h"
#include "client/status_line.h"
#include "client/targets.h"
#include "report/line_time.h"
#include "fail_msg.h"

#define LISTENER "lines"

enum { OPTION_FOR = OPTION_LONG, OPTION_LOCAL, OPTION_UTC, OPTION_DELTA };

struct traced {
	struct targets targets;
	struct session *sessions;
	size_t nr, nr_over, nr_of[SESSION_SILENT + 1]; /* by how they have ended */
	unsigned long lost[NR_CAUSES];
	struct pump *pump;
	const char *events;
	int64_t until_ms; /* by CLOCK_MONOTONIC; 0: no end */
};

/* ---- What both ways have in common ---- */

/* Sleeps until there is something to do. traced: NULL for a program. */
static void wait_for_any(const struct pump *pump, const struct traced *traced)
{
	const size_t nr_sessions = traced ? traced->nr : 0;
	struct pollfd *polled = calloc(PUMP_POLLED + 1 + 2 * nr_sessions, sizeof(*polled));

	if (!polled)
		return;
	nfds_t nr = pump_polled(pump, polled);
	polled[nr++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	for (size_t i = 0; i < nr_sessions; i++) { /* those of one that is over are -1 */
		polled[nr++] = (struct pollfd){.fd = traced->sessions[i].connection.fd, .events = POLLIN};
		polled[nr++] = (struct pollfd){.fd = traced->sessions[i].pidfd, .events = POLLIN};
	}
	poll(polled, nr, traced ? targets_patience(&traced->targets, traced->until_ms) : -1);
	free(polled);
}

/* False, and a message unless it is just that nobody wants to read on. */
static bool tell_output_failed(const struct pump *pump)
{
	return pump->out.error == EPIPE || fail_msg("the output can't be written: %s", strerror(pump->out.error));
}

/* ---- Processes that run ---- */

/* came: since. What a child has inherited comes by its parent's socket. False, and a message. */
static bool open_one(struct traced *traced, struct connection *connection, bool came)
{
	struct session *sessions = reallocarray(traced->sessions, traced->nr + 1, sizeof(*sessions));

	if (!sessions)
		return fail_no_memory();
	traced->sessions = sessions;
	struct session *one = &sessions[traced->nr];
	session_begin(one, connection);
	const bool inherits = came && session_inherits(one, "text");
	int fd = inherits ? -1 : pump_pair(traced->pump);
	bool good = fd >= 0 && session_open(one, fd, "text", "tp-trace");
	if (fd >= 0)
		close(fd); /* the process has it, and its end shows by this */
	good = good && session_enable(one, traced->events);
	if (good)
		traced->nr++;
	else
		session_close(one);
	return good || inherits;
}

static void take_those_that_come(struct traced *traced)
{
	for (size_t i = targets_grow(&traced->targets); i < traced->targets.nr; i++)
		open_one(traced, &traced->targets.all[i], true);
}

/* A message waits for its terminal; one that was stopped would keep tp from its end. */
static bool can_tell(const struct pump *pump)
{
	struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};

	return !out_is_waiting(&pump->out) || (poll(&polled, 1, 0) == 1 && (polled.revents & POLLOUT));
}

static void finish(struct traced *traced, struct session *session)
{
	unsigned long lost[NR_CAUSES];
	const enum session_end end = session_finish(session, lost);

	traced->nr_over++;
	traced->nr_of[end]++;
	for (size_t i = 0; i < NR_CAUSES; i++)
		traced->lost[i] += lost[i];
	targets_lose(&traced->targets, session->connection.pid);
	session_close(session);
}

/* "; 2 have ended, and can't be asked", or "". */
static const char *unknown_text(char *buf, size_t size, size_t nr, const char *one, const char *several)
{
	buf[0] = '\0';
	if (nr)
		snprintf(buf, size, "; %zu %s", nr, nr == 1 ? one : several);
	return buf;
}

static void tell_what_came(const struct traced *traced)
{
	const unsigned long lines = traced->pump->lines;
	const size_t *nr_of = traced->nr_of;
	char of[64], ended[96], silent[96];

	if (traced->nr > 1)
		snprintf(of, sizeof(of), "%zu processes", traced->nr);
	const char *title = traced->nr > 1 ? of : connection_title(&traced->sessions[0].connection);
	if (nr_of[SESSION_KNOWN])
		fail_msg("%lu line%s of %s; lost: %s%s%s", lines, lines == 1 ? "" : "s", title, lost_text(traced->lost),
			 unknown_text(ended, sizeof(ended), nr_of[SESSION_ENDED], "has ended, and can't be asked",
				      "have ended, and can't be asked"),
			 unknown_text(silent, sizeof(silent), nr_of[SESSION_SILENT], "has not said it", "have not said it"));
	else if (nr_of[SESSION_SILENT])
		fail_msg("%lu line%s of %s; tp has ended before it was said how many were lost", lines, lines == 1 ? "" : "s", title);
	else
		fail_msg("%lu line%s of %s, which %s ended: it can't be asked how many were lost", lines, lines == 1 ? "" : "s", title,
			 traced->nr > 1 ? "have" : "has");
}

/* Until a signal, the end of the time, or that of all processes or of the output. */
static int follow(struct traced *traced)
{
	struct pump *pump = traced->pump;
	bool going_on = true;

	while (going_on && (traced->nr_over < traced->nr || targets_may_come(&traced->targets))) {
		wait_for_any(pump, traced);
		for (int sig; (sig = signals_next());) {
			if (signal_ends(sig))
				going_on = false;
			else if (sig == SIGTSTP)
				signals_stop();
		}
		if (!pump_move(pump))
			return tell_output_failed(pump) ? EXIT_DONE : EXIT_FAILED;
		for (size_t i = 0; i < traced->nr; i++) {
			if (traced->sessions[i].id[0] && session_is_over(&traced->sessions[i]))
				finish(traced, &traced->sessions[i]);
		}
		take_those_that_come(traced);
		if (pump_is_full(pump) || (traced->until_ms && now_ms() >= traced->until_ms))
			going_on = false;
	}
	for (size_t i = 0; i < traced->nr; i++) {
		if (traced->sessions[i].id[0])
			finish(traced, &traced->sessions[i]);
	}
	pump_finish(pump);
	if (!can_tell(pump))
		return EXIT_DONE;
	wipe_interrupt();
	tell_what_came(traced);
	return pump->lines || sessions_have_matched("nothing was traced") ? EXIT_DONE : EXIT_FAILED;
}

static int trace_processes(struct pump *pump, const struct tp_args *args, const char *events)
{
	struct traced traced = {.pump = pump, .events = events};
	int64_t ms = 0;

	if (args_has(args, OPTION_FOR) && (ms = given_seconds(args, "--for", args_value(args, OPTION_FOR))) < 0)
		return EXIT_WRONG;
	bool good = targets_reach(&traced.targets, args);

	for (size_t i = 0; good && i < traced.targets.nr; i++)
		good = open_one(&traced, &traced.targets.all[i], false);
	traced.until_ms = ms ? now_ms() + ms : 0;
	const int status = good ? follow(&traced) : EXIT_FAILED;
	for (size_t i = 0; i < traced.nr; i++)
		session_close(&traced.sessions[i]);
	targets_close(&traced.targets);
	free(traced.sessions);
	return status;
}

/* ---- A program that is started ---- */

static bool listen_in(struct pump *pump, const char *directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" LISTENER, directory);
	pump->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pump->listener >= 0 && bind(pump->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(pump->listener, SOMAXCONN) == 0)
		return true;
	return fail_msg("no socket can be made in '%s': %s", directory, strerror(errno));
}

/* Until the program has ended, and all children that it has left behind; they only until a signal. */
static int follow_child(struct pump *pump, struct child *child, const char *program)
{
	bool told = false;

	for (;;) {
		wait_for_any(pump, NULL);
		for (int sig; (sig = signals_next());) {
			if (signal_ends(sig) && child->ended)
				return child_exit_status(child);
			child_pass_on(child, sig);
			if (sig == SIGTSTP)
				signals_stop();
		}
		/* Behind its signal, or nothing would wake us; in front of moving, as what it has sent is there by now. */
		const bool ended = child_has_ended(child);
		/* Where nobody reads on, it runs on like a program that was not traced. */
		if (!pump->out.failed && !pump_move(pump)) {
			tell_output_failed(pump);
			pump_stop(pump);
		}
		if (pump_is_full(pump))
			pump_stop(pump);
		if (ended && !pump->nr)
			return child_exit_status(child);
		if (ended && !told)
			fail_msg("'%s' has ended; processes that it has started are traced until ^C", program);
		told = ended;
	}
}

static int trace_program(struct pump *pump, char *const *program, const char *events, const char *directory)
{
	struct child child;
	char output[256];

	snprintf(output, sizeof(output), "socket:%s/" LISTENER, directory);
	if (!listen_in(pump, directory))
		return EXIT_FAILED;
	if (!child_start_traced(&child, program, output, events))
		return child.status;
	int status = follow_child(pump, &child, program[0]);
	pump_finish(pump);
	if (!can_tell(pump))
		return status;
	end_interrupted_line();
	if (child.ended && child_crash(&child))
		fail_msg("'%s' (%d) %s", program[0], (int)child.pid, child_crash(&child));
	fail_msg("%lu line%s of '%s'", pump->lines, pump->lines == 1 ? "" : "s", program[0]);
	return status;
}

/* ---- The command ---- */

static int trace(const struct tp_args *args, struct pump *pump, const char *events)
{
	if (!args->program)
		return trace_processes(pump, args, events);
	char *directory = directory_private();
	int status = directory ? trace_program(pump, args->program, events, directory) : EXIT_FAILED;
	if (directory)
		directory_remove(directory);
	free(directory);
	return status;
}

static size_t change_time(void *data, char *line, size_t len)
{
	_Static_assert(LINE_TIME_MORE <= PUMP_LINE_MORE, "there is room for the longest time");
	return line_time_change(data, line, len);
}

/* As the options say. False after a message. */
static bool set_lines(struct pump *pump, struct line_time *time, const struct tp_args *args)
{
	const char *most = args_value(args, 'n');
	char *end;

	if (args_has(args, OPTION_LOCAL) && args_has(args, OPTION_UTC))
		return args_wrong(args, "give it --utc or --local, not both") == EXIT_DONE;
	if (most) {
		pump->most = strtoul(most, &end, 10);
		if (most[0] < '1' || most[0] > '9' || *end)
			return args_wrong(args, "-n takes a number of lines, from 1") == EXIT_DONE;
	}
	time->style = args_has(args, OPTION_UTC) ? WHEN_UTC : args_has(args, OPTION_LOCAL) ? WHEN_LOCAL : WHEN_EPOCH;
	time->with_delta = args_has(args, OPTION_DELTA);
	if (time->with_delta || time->style != WHEN_EPOCH)
		pump->edit = change_time;
	pump->data = time;
	return true;
}

static int run(const struct tp_args *args)
{
	struct line_time time = {.style = WHEN_EPOCH};
	struct pump pump = {.listener = -1};
	int status = EXIT_FAILED;

	if (!target_is_given(args))
		return EXIT_WRONG;
	if (args->program && args_has(args, OPTION_FOR))
		return args_wrong(args, "a program is traced until it ends: --for goes with -p");
	if (!set_lines(&pump, &time, args))
		return EXIT_WRONG;
	char *events = given_events(args);
	if (events && pump_open(&pump)) {
		if (signals_begin())
			status = trace(args, &pump, events);
		pump_close(&pump);
		signals_end();
	}
	free(events);
	return status;
}

const struct tp_command command_trace = {
	.name = "trace",
	.summary = "show the events of a process as they come",
	.usage = (const char *const[]){"-p PID... [-e EVENTS] [OPTION...]", "[-e EVENTS] [OPTION...] -- PROGRAM [ARGUMENT...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		OPTION_EVENTS,
		{'n', "lines", "NUMBER", "stop after so many lines"},
		{OPTION_FOR, "for", "SECONDS", "stop after this time"},
		{OPTION_UTC, "utc", NULL, "times as dates, in UTC, instead of seconds since the epoch"},
		{OPTION_LOCAL, "local", NULL, "times as dates, in the time zone of TZ"},
		{OPTION_DELTA, "delta", NULL, "the time since the line before, too, as (+0.000012345)"},
		{.name = NULL},
	},
	.text =
		"Shows a line for each event, until ^C or until the process ends: the time in seconds since the "
		"epoch, process/thread, SYSTEM:EVENT, and the text of TP_printk.\n\n"
		"The process never waits for tp: if the terminal is slow or stopped, lines are lost, and counted; "
		"the last line, on stderr, says how many. Whatever ends tp, SIGKILL included, the process is left "
		"as it was found.\n\n"
		"With a PROGRAM, its first event is shown, too, and those of the processes that it starts. tp exits "
		"with its status; with 128 + N if signal N has killed it. Lost lines are counted by the program, "
		"which says at its end on stderr how many. After -n, the program goes on, and tp waits for its end.\n",
	.run = run,
};
