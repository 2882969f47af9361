/* SPDX-License-Identifier: MIT */
#include "client/targets.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/common_options.h"
#include "client/proc.h"
#include "client/tracepoints.h"
#include "client/unreachable.h"
#include "fail_msg.h"

/* How often children that have come are looked for, and processes in all places. */
#define LOOK_MS 200
#define LOOK_EVERYWHERE_MS 1000

/* Of several processes that have the name, how many are told, and how much of the arguments of each. */
#define CANDIDATES_MAX 20
#define ARGUMENTS_MAX 256

/* ---- What was given ---- */

bool targets_are_given(const struct tp_args *args)
{
	if (args_has(args, 'p') || args_has(args, OPTION_ALL))
		return true;
	args_wrong(args, "give it -p PID, the process");
	return false;
}

bool target_is_given(const struct tp_args *args)
{
	const bool process = args_has(args, 'p') || args_has(args, OPTION_ALL);

	if (args->program && (process || args_has(args, OPTION_CHILDREN)))
		args_wrong(args, "give it either -p PID, or a program behind --");
	else if (args->program && !args->program[0])
		args_wrong(args, "behind -- stands the program that is to be run");
	else if (!process && !args->program)
		args_wrong(args, "give it -p PID, or a program behind --");
	else
		return true;
	return false;
}

/* ---- The list ---- */

struct connection targets_take(struct connection *connection)
{
	struct connection taken = *connection;

	connection->fd = -1;
	connection->message = NULL;
	return taken;
}

static bool has(const struct targets *targets, const struct connection *connection)
{
	for (size_t i = 0; i < targets->nr; i++) {
		const struct connection *one = &targets->all[i];
		if (one->pid == connection->pid && strcmp(one->name, connection->name) == 0)
			return true;
	}
	return false;
}

/* By an id and by a name, say, it is there once. False, and a message. */
static bool add(struct targets *targets, struct connection *connection)
{
	if (has(targets, connection))
		return true;
	struct connection *all = reallocarray(targets->all, targets->nr + 1, sizeof(*all));
	if (!all)
		return fail_no_memory();
	targets->all = all;
	all[targets->nr++] = targets_take(connection);
	return true;
}

/* ---- By id ---- */

/* A forked child listens a tenth of a second after its beginning: what would be said now would not be true any more. */
static bool may_listen_soon(pid_t pid)
{
	const uint64_t moment = 500000000;
	struct timespec now;
	struct proc proc;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return proc_read(&proc, pid) && proc.state != 'Z' && proc_may_be_reached(proc.uid) &&
	       (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < proc.start + moment && tracepoints_of(pid) != TRACEPOINTS_NONE;
}

static bool add_pid(struct targets *targets, pid_t pid)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	struct found found;
	struct connection *open;
	bool good;

	while ((good = find_process(&found, pid, true)) && !(open = found_open(&found, pid)) && may_listen_soon(pid)) {
		found_free(&found);
		nanosleep(&pause, NULL);
	}

	if (good)
		good = open ? add(targets, open) : tell_why_not(pid, &found);
	found_free(&found);
	return good;
}

/* ---- By name ---- */

/* By what the process says, or by what the kernel says of it. NULL: everything is called so. */
static bool is_called(const struct connection *connection, const char *program, bool by_kernel)
{
	if (connection->state != CONNECTION_OPEN)
		return false;
	return !program || (by_kernel ? proc_is_called(connection->pid, program) : strcmp(connection->greeting.program, program) == 0);
}

/* Leaves those that are called so. */
static size_t keep_called(struct found *found, const char *program)
{
	size_t nr = 0;
	bool by_kernel = false;

	for (size_t i = 0; i < found->nr; i++)
		nr += is_called(&found->all[i], program, by_kernel);
	by_kernel = !nr;
	nr = 0;
	for (size_t i = 0; i < found->nr; i++) {
		if (is_called(&found->all[i], program, by_kernel))
			found->all[nr++] = found->all[i];
		else
			connection_close(&found->all[i]);
	}
	return found->nr = nr;
}

/* Leaves those that are no children of others: they come with these. */
static size_t keep_parents(struct found *found)
{
	bool *is_child = calloc(found->nr, sizeof(*is_child));
	struct proc proc;
	size_t nr = 0;

	for (size_t i = 0; is_child && i < found->nr; i++)
		is_child[i] = proc_read(&proc, found->all[i].pid) && found_open(found, proc.parent);
	for (size_t i = 0; i < found->nr; i++) {
		if (is_child && is_child[i])
			connection_close(&found->all[i]);
		else
			found->all[nr++] = found->all[i];
	}
	free(is_child);
	return found->nr = nr;
}

static bool is_later(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec : one->tv_nsec > other->tv_nsec;
}

/* Leaves the one that has begun to listen last. */
static void keep_newest(struct found *found)
{
	for (size_t i = 1; i < found->nr; i++) {
		struct connection *newest = &found->all[0], *one = &found->all[i];
		if (is_later(&one->greeting.since, &newest->greeting.since)) {
			const struct connection older = *newest;
			*newest = *one;
			*one = older;
		}
		connection_close(one);
	}
	found->nr = found->nr ? 1 : 0;
}

/* With its arguments, by which people tell them apart. */
static void tell_candidate(const struct connection *one)
{
	char time[16];
	size_t len = 0;
	char *arguments = one->pid ? proc_text(one->pid, "cmdline", ARGUMENTS_MAX, &len) : NULL;

	while (len && arguments[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (arguments[i] == '\0')
			arguments[i] = ' ';
	}
	strftime(time, sizeof(time), "%T", localtime(&one->greeting.since.tv_sec));
	fail_msg("%7d since %s: %s", (int)one->pid, time, len ? arguments : one->greeting.program);
	free(arguments);
}

static void tell_candidates(const struct found *found, const char *program)
{
	fail_msg("'%s' is the program of several processes: say -p with one of these ids, or --newest or --all", program);
	for (size_t i = 0; i < found->nr && i < CANDIDATES_MAX; i++)
		tell_candidate(&found->all[i]);
	if (found->nr > CANDIDATES_MAX)
		fail_msg("and %zu more, which \"tp ps\" lists", found->nr - CANDIDATES_MAX);
}

static bool add_called(struct targets *targets, const char *program, bool all, bool newest)
{
	struct found found;
	bool good = find_all(&found, program);

	if (good && !keep_called(&found, program))
		good = program ? tell_why_no_program(program) : fail_msg("no process listens that you may look into; \"tp help ps\" says which do");
	if (good && !all && targets->children)
		keep_parents(&found);
	if (good && !all && newest)
		keep_newest(&found);
	if (good && !all && found.nr > 1) {
		tell_candidates(&found, program);
		good = false;
	}
	for (size_t i = 0; good && i < found.nr; i++)
		good = add(targets, &found.all[i]);
	found_free(&found);
	return good;
}

static bool add_wanted(struct targets *targets, const char *wanted, bool all, bool newest)
{
	if (wanted[0] && wanted[strspn(wanted, "0123456789")] == '\0')
		return add_pid(targets, strlen(wanted) < 10 ? (pid_t)strtol(wanted, NULL, 10) : INT_MAX);
	return add_called(targets, wanted, all, newest);
}

/* ---- Children ---- */

static struct member *find_member(const struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->nr_family; i++) {
		if (targets->family[i].pid == pid)
			return &targets->family[i];
	}
	return NULL;
}

static bool add_member(struct targets *targets, pid_t pid, bool reached)
{
	struct member *family = reallocarray(targets->family, targets->nr_family + 1, sizeof(*family));

	if (!family)
		return fail_no_memory();
	targets->family = family;
	family[targets->nr_family++] = (struct member){.pid = pid, .reached = reached};
	return true;
}

static void add_if_child(void *data, pid_t pid)
{
	struct targets *targets = data;
	struct proc proc;

	if (!find_member(targets, pid) && proc_read(&proc, pid) && find_member(targets, proc.parent))
		add_member(targets, pid, false);
}

static void forget_the_gone(struct targets *targets)
{
	size_t kept = 0;

	for (size_t i = 0; i < targets->nr_family; i++) {
		if (!proc_is_gone(targets->family[i].pid))
			targets->family[kept++] = targets->family[i];
	}
	targets->nr_family = kept;
}

/* A child that has no tracepoints, or not yet, is no mistake. */
static void reach_member(struct targets *targets, struct member *member)
{
	struct found found;
	struct connection *open = find_process(&found, member->pid, false) ? found_open(&found, member->pid) : NULL;

	member->reached = open && add(targets, open);
	found_free(&found);
}

static void grow_by_children(struct targets *targets)
{
	size_t family;

	do { /* /proc has children before their parents, too */
		family = targets->nr_family;
		proc_each(add_if_child, targets);
	} while (family != targets->nr_family);
	forget_the_gone(targets);
	for (size_t i = 0; i < targets->nr_family; i++) {
		if (!targets->family[i].reached)
			reach_member(targets, &targets->family[i]);
	}
}

/* ---- Every process ---- */

static int compare_tried(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_untried(void *data, const struct place *place, const char *name)
{
	struct targets *targets = data;
	char *socket;

	if (asprintf(&socket, "%d:%s/%s", (int)place->root, place->path, name) < 0)
		return false;
	const bool tried = targets->nr_tried &&
			   bsearch(&socket, targets->tried, targets->nr_tried, sizeof(*targets->tried), compare_tried);
	char **all = tried ? NULL : reallocarray(targets->tried, targets->nr_tried + 1, sizeof(*all));
	if (!all) {
		free(socket);
		return false;
	}
	targets->tried = all;
	all[targets->nr_tried++] = socket;
	qsort(all, targets->nr_tried, sizeof(*all), compare_tried);
	return true;
}

static void grow_by_every(struct targets *targets)
{
	struct found found;

	if (find_new(&found, is_untried, targets)) {
		for (size_t i = 0; i < found.nr; i++) {
			if (found.all[i].state == CONNECTION_OPEN)
				add(targets, &found.all[i]);
		}
	}
	found_free(&found);
}

bool targets_await_every(struct targets *targets)
{
	targets->every = true;
	targets->several = true;
	for (size_t i = 0; i < targets->nr; i++) {
		targets->all[i].is_one_of_several = true;
		is_untried(targets, &targets->all[i].place, targets->all[i].name);
	}
	return targets->nr_tried == targets->nr || fail_no_memory();
}

size_t targets_grow(struct targets *targets)
{
	const size_t before = targets->nr;

	if (!(targets->children || targets->every) || now_ms() < targets->looked_ms + (targets->every ? LOOK_EVERYWHERE_MS : LOOK_MS))
		return before;
	targets->looked_ms = now_ms();
	if (targets->every)
		grow_by_every(targets);
	else
		grow_by_children(targets);
	for (size_t i = before; i < targets->nr; i++)
		targets->all[i].is_one_of_several = true;
	return before;
}

void targets_lose(struct targets *targets, pid_t pid)
{
	struct member *member = find_member(targets, pid);

	if (member)
		member->reached = false;
}

bool targets_may_come(const struct targets *targets)
{
	return targets->nr_family > 0 || targets->every;
}

int targets_patience(const struct targets *targets, int64_t until_ms)
{
	const int64_t left = until_ms - now_ms();
	const long most = targets->children || targets->every ? LOOK_MS : 60000;

	if (!until_ms)
		return most == LOOK_MS ? LOOK_MS : -1;
	return (int)(left < 0 ? 0 : left < most ? left : most);
}

/* ---- All ---- */

bool targets_reach(struct targets *targets, const struct tp_args *args)
{
	const bool all = args_has(args, OPTION_ALL), newest = args_has(args, OPTION_NEWEST);
	bool good = true;

	*targets = (struct targets){.children = args_has(args, OPTION_CHILDREN)};
	for (size_t i = 0; i < args->nr_options && good; i++) {
		if (args->options[i].id == 'p')
			good = add_wanted(targets, args->options[i].value, all, newest);
	}
	if (good && !args_has(args, 'p'))
		good = add_called(targets, NULL, true, false);
	for (size_t i = 0; i < targets->nr && good && targets->children; i++)
		good = add_member(targets, targets->all[i].pid, true);
	if (good)
		targets_grow(targets);
	targets->several = targets->nr > 1 || all || targets->children;
	for (size_t i = 0; i < targets->nr; i++)
		targets->all[i].is_one_of_several = targets->several;
	return good;
}

int targets_each(const struct tp_args *args, bool (*act)(struct connection *connection, const struct tp_args *args))
{
	struct targets targets;

	if (!targets_are_given(args))
		return EXIT_WRONG;
	bool good = targets_reach(&targets, args);
	const size_t nr = good ? targets.nr : 0;
	for (size_t i = 0; i < nr; i++) {
		if (targets.several)
			printf("%s%s:\n", i ? "\n" : "", connection_title(&targets.all[i]));
		fflush(stdout); /* before what is told */
		good = act(&targets.all[i], args) && good;
	}
	targets_close(&targets);
	return good ? EXIT_DONE : EXIT_FAILED;
}

void targets_close(struct targets *targets)
{
	for (size_t i = 0; i < targets->nr; i++)
		connection_close(&targets->all[i]);
	for (size_t i = 0; i < targets->nr_tried; i++)
		free(targets->tried[i]);
	free(targets->tried);
	free(targets->all);
	free(targets->family);
	*targets = (struct targets){.all = NULL};
}
