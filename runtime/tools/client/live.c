/* SPDX-License-Identifier: MIT */
#include "client/live.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/common_options.h"
#include "client/keys.h"
#include "client/proc.h"
#include "client/signals.h"
#include "client/status_line.h"
#include "client/sum.h"
#include "client/table.h"
#include "client/unreachable.h"
#include "fail_msg.h"

/* ---- What is shown ---- */

/* Nothing where there is no memory. */
static const char *text_of(const struct live *live)
{
	return live->text.text ? live->text.text : "";
}

/* As the processes have reported it, under headings, and then as one. */
static bool put_texts(struct live *live)
{
	const struct statistics *statistics = &live->statistics;
	const bool is_text = statistics->form == STATISTICS_TEXT, several = is_text && statistics->targets.several;
	struct lines *text = &live->text;
	struct sum sum = {.rows = NULL};
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++) {
		const struct counted *one = &statistics->all[i];
		if (!one->text.len)
			continue;
		good = (!is_text || !text->len || lines_add(text, "\n", 1)) && (!several || table_line(text, 0, "%s:", counted_title(one))) &&
		       lines_add(text, one->text.text, one->text.len) && (!several || sum_add(&sum, one->text.text));
	}
	if (good && several && text->len)
		good = lines_add(text, "\n", 1) && table_line(text, 0, "all %zu processes:", statistics->nr) && sum_put(&sum, text);
	sum_free(&sum);
	return good || fail_no_memory();
}

/* False, and a message. */
static bool make_text(struct live *live)
{
	const struct view *view = &live->view;
	struct area area = {.text = &live->text};

	lines_free(&live->text);
	if (live->statistics.form != STATISTICS_NUMBERS)
		return put_texts(live);
	if (live->on_terminal)
		screen_size(&area.width, &area.height);
	/* A line is for the keys, and then for the shell's prompt. */
	if (live->on_terminal && area.height > 2)
		area.height--;
	if (live->has_keys && live->shown && keys_fd() >= 0 && !table_line(&live->text, area.width, "%s", view->keys))
		return fail_no_memory();
	area.from = live->text.len;
	return view->put(view->view, &live->statistics, &area);
}

/* ---- While it runs ---- */

static void draw(struct live *live)
{
	if (make_text(live))
		screen_draw(&live->screen, text_of(live));
}

static void stop(struct live *live)
{
	if (live->shown)
		screen_leave(&live->screen);
	keys_end();
	signals_stop();
	if (live->has_keys)
		keys_begin();
	if (live->shown)
		draw(live);
}

/* False: one ends it. */
static bool take_keys(struct live *live)
{
	bool going_on = true, changed = false;

	for (char key; going_on && (key = keys_next());) {
		changed = live->view.key(live->view.view, key) || changed;
		going_on = key != 'q';
	}
	if (changed)
		draw(live);
	return going_on;
}

/* False: a signal ends it. */
static bool take_signals(struct live *live)
{
	struct statistics *statistics = &live->statistics;
	bool going_on = true;

	for (int sig; (sig = signals_next());) {
		if (sig == SIGTSTP)
			stop(live);
		else if (sig == SIGWINCH && live->shown)
			draw(live);
		else if (statistics->directory)
			child_pass_on(&statistics->child, sig);
		else if (signal_ends(sig))
			going_on = false;
	}
	return going_on;
}

static void wait_for_any(const struct live *live)
{
	const struct statistics *statistics = &live->statistics;
	const bool is_drawing = live->shown && out_is_waiting(&live->screen.out);
	struct pollfd *polled = calloc(3 + 2 * statistics->nr, sizeof(*polled));
	const int64_t end = live->until_ms && live->until_ms < live->next_ms ? live->until_ms : live->next_ms;
	nfds_t nr = 0;

	if (!polled)
		return;
	polled[nr++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	polled[nr++] = (struct pollfd){.fd = is_drawing ? live->screen.out.fd : -1, .events = POLLOUT};
	polled[nr++] = (struct pollfd){.fd = live->has_keys ? keys_fd() : -1, .events = POLLIN};
	for (size_t i = 0; i < statistics->nr; i++) {
		const struct session *session = &statistics->all[i].session;
		if (statistics->all[i].over)
			continue;
		polled[nr++] = (struct pollfd){.fd = session->connection.fd, .events = POLLIN};
		polled[nr++] = (struct pollfd){.fd = session->pidfd, .events = POLLIN};
	}
	poll(polled, nr, targets_patience(&statistics->targets, end > 0 ? end : 1));
	free(polled);
}

/* False: it can't go on. */
static bool show(struct live *live)
{
	if (!statistics_read(&live->statistics))
		return false;
	live->next_ms = now_ms() + live->interval;
	if (!live->shown)
		return true;
	if (live->has_keys)
		keys_begin(); /* it may have come to the foreground */
	draw(live);
	return !live->screen.out.failed;
}

/* False: the numbers can't be had. */
static bool follow(struct live *live)
{
	bool good = true, going_on = true;

	while (good && going_on && !statistics_are_over(&live->statistics)) {
		const int64_t now = now_ms();
		if (live->until_ms && now >= live->until_ms)
			break;
		if (now >= live->next_ms)
			good = show(live);
		if (live->shown && out_is_waiting(&live->screen.out))
			good = out_write(&live->screen.out) && good;
		wait_for_any(live);
		going_on = take_signals(live) && take_keys(live);
	}
	return good;
}

/* ---- The end ---- */

static void tell_no_last_numbers(const struct live *live, const struct counted *counted)
{
	const struct connection *connection = &counted->session.connection;

	if (counted->end == COUNTED_CUT && !proc_is_stopped(connection->pid))
		fail_msg("a signal has ended tp while it asked %s for the last numbers: these are those of up to %.3g s before",
			 connection_title(connection), (double)live->interval / 1000);
	else if (counted->end == COUNTED_SILENT || counted->end == COUNTED_CUT)
		fail_msg("%s has not answered: %s; these are the last numbers that it gave", connection_title(connection),
		     why_silent(connection->pid));
	else if (counted->end == COUNTED_ENDED)
		fail_msg("%s has ended: these are the numbers of up to %.3g s before", connection_title(connection),
		     (double)live->interval / 1000);
}

static void tell_notes(const struct counted *counted)
{
	const char *line = counted->notes.len ? counted->notes.text : "";

	for (; *line; line += strcspn(line, "\n") + 1)
		fail_msg("%s: %.*s", connection_title(&counted->session.connection), (int)strcspn(line, "\n"), line);
}

static void tell_end_of_program(const struct live *live, const char *program)
{
	const struct statistics *statistics = &live->statistics;
	const char *crash = child_crash(&statistics->child);
	const int pid = (int)statistics->child.pid;

	if (crash && statistics->at_end)
		fail_msg("'%s' (%d) %s: what it has counted is not in these numbers", program, pid, crash);
	else if (crash && statistics_has_numbers(statistics))
		fail_msg("'%s' (%d) %s: what happened in the last %.3g s before that is not in these numbers", program, pid, crash,
		     (double)live->interval / 1000);
	else if (crash)
		fail_msg("'%s' (%d) %s", program, pid, crash);
	if (!statistics_has_numbers(statistics))
		fail_msg("'%s' has no tracepoints, or has not ended as programs do: there are no numbers", program);
}

static int finish(struct live *live, const char *program, bool good)
{
	struct statistics *statistics = &live->statistics;
	const bool ended = statistics_are_over(statistics);

	if (live->shown)
		screen_end(&live->screen);
	keys_end();
	if (!statistics->directory)
		wipe_interrupt();
	else if (!live->shown)
		end_interrupted_line();
	live->shown = false;
	if (good && (statistics->directory || !ended))
		good = statistics_read(statistics);
	/* What follows may wait for the terminal. */
	statistics_end(statistics);
	signals_end();
	if (good && make_text(live))
		fputs(text_of(live), stdout);
	/* Of every process, some come and go. */
	for (size_t i = 0; i < statistics->nr && !statistics->targets.every; i++)
		tell_no_last_numbers(live, &statistics->all[i]);
	for (size_t i = 0; i < statistics->nr; i++)
		tell_notes(&statistics->all[i]);
	if (ended && statistics->directory)
		tell_end_of_program(live, program);
	if (!good)
		return EXIT_FAILED;
	if (statistics->directory)
		return child_exit_status(&statistics->child);
	return sessions_have_matched("nothing was counted") ? EXIT_DONE : EXIT_FAILED;
}

int live_show(struct live *live, const char *program)
{
	live->shown = live->on_terminal && !live->statistics.at_end;
	if (live->shown)
		live->shown = screen_begin(&live->screen);
	/* A program that was started reads from the terminal itself. */
	live->has_keys = live->shown && live->view.key && !live->statistics.directory;
	live->until_ms = live->for_ms ? now_ms() + live->for_ms : 0;
	const int status = finish(live, program, follow(live));
	lines_free(&live->text);
	return status;
}

/* ---- Options ---- */

bool live_options(struct live *live, const struct tp_args *args, struct view view, bool as_text)
{
	const char *interval = args_value(args, LIVE_INTERVAL), *time = args_value(args, LIVE_FOR);
	struct statistics *statistics = &live->statistics;
	int64_t ms = 0;

	*live = (struct live){.interval = 1000, .view = view};
	if (interval && (live->interval = given_seconds(args, "--interval", interval)) < 0)
		return false;
	if (time && (ms = given_seconds(args, "--for", time)) < 0)
		return false;
	live->on_terminal = !args_has(args, LIVE_JSON) && screen_is_possible();
	if (args_has(args, LIVE_JSON))
		statistics->form = STATISTICS_JSON;
	else if (as_text && !live->on_terminal)
		statistics->form = STATISTICS_TEXT;
	statistics->interval = (double)live->interval / 1000;
	live->for_ms = ms;
	return true;
}
