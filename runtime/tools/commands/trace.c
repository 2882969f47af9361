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
#include "fail_msg.h"

#define LISTENER "lines"

/* ---- What both ways have in common ---- */

/* Sleeps until there is something to do: other: a descriptor that is readable then, -1: none. */
static void wait_for_any(const struct pump *pump, int other, int another)
{
	struct pollfd polled[PUMP_POLLED + 3];
	nfds_t nr = pump_polled(pump, polled);

	polled[nr++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	polled[nr++] = (struct pollfd){.fd = other, .events = POLLIN};
	polled[nr++] = (struct pollfd){.fd = another, .events = POLLIN};
	poll(polled, nr, -1);
}

/* False, and a message unless it is just that nobody wants to read on. */
static bool tell_output_failed(const struct pump *pump)
{
	return pump->out.error == EPIPE || fail_msg("the output can't be written: %s", strerror(pump->out.error));
}

/* ---- A process that runs ---- */

static int open_trace(struct session *session, struct pump *pump, const char *wanted, const char *events)
{
	if (!session_reach(session, wanted))
		return EXIT_FAILED;
	int fd = pump_pair(pump);
	if (fd < 0)
		return EXIT_FAILED;
	bool good = session_open(session, fd, "text", "tp-trace");
	close(fd); /* the process has it, and its end shows by this */
	return good && session_enable(session, events) ? EXIT_DONE : EXIT_FAILED;
}

/* A message waits for its terminal; one that was stopped would keep tp from its end. */
static bool can_tell(const struct pump *pump)
{
	struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};

	return !out_is_waiting(&pump->out) || (poll(&polled, 1, 0) == 1 && (polled.revents & POLLOUT));
}

static void tell_what_came(const struct session *session, const struct pump *pump, const unsigned long *lost)
{
	if (lost)
		fail_msg("%lu line%s of %s; lost: %s", pump->lines, pump->lines == 1 ? "" : "s",
		     connection_title(&session->connection), lost_text(lost));
	else
		fail_msg("%lu line%s of %s, which has ended: it can't be asked how many were lost", pump->lines,
		     pump->lines == 1 ? "" : "s", connection_title(&session->connection));
}

/* Until a signal, or the end of the process or of the output. */
static int follow(struct session *session, struct pump *pump)
{
	unsigned long lost[NR_CAUSES];
	bool going_on = true;

	while (going_on && !session_is_over(session)) {
		wait_for_any(pump, session->connection.fd, session->pidfd);
		for (int sig; (sig = signals_next());) {
			if (signal_ends(sig))
				going_on = false;
			else if (sig == SIGTSTP)
				signals_stop();
		}
		if (!pump_move(pump))
			return tell_output_failed(pump) ? EXIT_DONE : EXIT_FAILED;
	}
	const bool known = session_finish(session, lost);
	pump_finish(pump);
	if (can_tell(pump))
		tell_what_came(session, pump, known ? lost : NULL);
	return EXIT_DONE;
}

static int trace_process(struct pump *pump, const char *wanted, const char *events)
{
	struct session session = {.pidfd = -1, .connection.fd = -1};
	int status = open_trace(&session, pump, wanted, events);

	if (status == EXIT_DONE)
		status = follow(&session, pump);
	session_close(&session);
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
		wait_for_any(pump, -1, -1);
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
	if (child.ended && child_crash(&child))
		fail_msg("'%s' (%d) %s", program[0], (int)child.pid, child_crash(&child));
	fail_msg("%lu line%s of '%s'", pump->lines, pump->lines == 1 ? "" : "s", program[0]);
	return status;
}

/* ---- The command ---- */

static int trace(const struct tp_args *args, struct pump *pump, const char *events)
{
	if (args_has(args, 'p')) {
		const char *wanted = given_pid(args);
		return wanted ? trace_process(pump, wanted, events) : EXIT_WRONG;
	}
	char *directory = directory_private();
	int status = directory ? trace_program(pump, args->program, events, directory) : EXIT_FAILED;
	if (directory)
		directory_remove(directory);
	free(directory);
	return status;
}

static int run(const struct tp_args *args)
{
	struct pump pump;
	int status = EXIT_FAILED;

	if (!given_target(args))
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
	.usage = (const char *const[]){"-p PID [-e EVENTS]", "[-e EVENTS] -- PROGRAM [ARGUMENT...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_PID,
		OPTION_EVENTS,
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
		"which says at its end on stderr how many.\n",
	.run = run,
};
