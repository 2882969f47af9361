/* SPDX-License-Identifier: MIT */
#include "client/unreachable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/clean.h"
#include "client/listeners.h"
#include "client/names.h"
#include "client/proc.h"
#include "client/tracepoints.h"
#include "fail_msg.h"

const char *why_silent(pid_t pid)
{
	static char text[160];
	struct proc proc;

	if (!proc_read(&proc, pid) || proc.state == 'Z')
		return "it has ended";
	if (proc.state == 'T')
		snprintf(text, sizeof(text), "it is stopped, by SIGSTOP or ^Z, and answers after \"kill -CONT %d\"",
			 (int)pid);
	else if (proc.state == 't')
		snprintf(text, sizeof(text), "it is stopped by a debugger, and answers when that lets it go on");
	else
		snprintf(text, sizeof(text), "its thread tp-helper gets no processor, or the program does not call "
					     "tp_control_serve(); try again");
	return text;
}

/* ---- There is no such process here ---- */

/* In a container, a process has another id than outside. */
static bool tell_no_process(pid_t pid)
{
	struct found found;
	const struct connection *inner = NULL;

	if (!find_all(&found, NULL))
		return false;
	for (size_t i = 0; i < found.nr; i++) {
		if (found.all[i].state == CONNECTION_OPEN && found.all[i].greeting.pid == pid && found.all[i].pid)
			inner = &found.all[i];
	}
	if (inner)
		fail_msg("there is no process %d here; '%s' has this id in its own PID namespace: say -p %d", (int)pid,
		     inner->greeting.program, (int)inner->pid);
	else
		fail_msg("there is no process %d; \"tp ps\" lists those that can be reached", (int)pid);
	found_free(&found);
	return false;
}

/* ---- It listens ---- */

/* Something listens under its name. False: no. */
static bool tell_of_listener(const struct proc *proc, const struct found *found)
{
	for (size_t i = 0; i < found->nr; i++) {
		const struct connection *one = &found->all[i];
		if (one->pid && one->pid != proc->pid)
			continue;
		if (one->state == CONNECTION_SILENT)
			fail_msg("process %d (%s) has not answered: %s", (int)proc->pid, proc->name, why_silent(proc->pid));
		else if (one->state == CONNECTION_REFUSED)
			fail_msg("process %d (%s) can't be reached by %s/%s: %s", (int)proc->pid, proc->name, one->place.path,
			     one->name, one->text);
		else
			continue;
		return true;
	}
	return false;
}

/* ---- It does not listen ---- */

static bool is_set(pid_t pid, const char *name, const char *value)
{
	char *found = proc_environment(pid, name);
	bool is = found && strncmp(found, value, strlen(value)) == 0 &&
		  (!found[strlen(value)] || found[strlen(value)] == ',');

	free(found);
	return is;
}

static bool may_enter(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Where it would have looked when it was started. */
static void tell_off(const struct proc *proc)
{
	const pid_t root = proc_has_our_root(proc->pid) ? 0 : proc->pid;
	char *control = proc_environment(proc->pid, "TP_CONTROL");
	char *runtime = proc_environment(proc->pid, "XDG_RUNTIME_DIR");
	char path[PATH_MAX], inside[64] = "";

	if (control && control[0] == '/')
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(control, ","), control);
	else if (runtime && runtime[0] == '/')
		snprintf(path, sizeof(path), "%s/tp", runtime);
	else
		snprintf(path, sizeof(path), "/run/tp/%u", (unsigned int)proc->uid);
	if (root)
		snprintf(inside, sizeof(inside), " (from here: below /proc/%d/root)", (int)root);
	fail_msg("control is off in process %d (%s): when it started, there was no directory %s%s of its user's; make it by \"tp "
	     "setup\"%s, or set TP_CONTROL=1, and start the program again",
	     (int)proc->pid, proc->name, path, inside, root ? " in there" : "");
	free(control);
	free(runtime);
}

/* The place where a process of this id listens, as it was when it began to. */
struct elsewhere {
	pid_t inner_pid; /* which a process of another namespace may have, too, and one before it has had */
	uint64_t start;
	char path[PATH_MAX];
};

static void compare_listener(void *data, const char *name)
{
	struct elsewhere *elsewhere = data;
	const char *last = strrchr(name, '/');
	uint64_t start;
	pid_t pid;

	if (last && last[1] == '.' && name_is_process(last + 2, &pid, &start) && pid == elsewhere->inner_pid &&
	    start >= elsewhere->start)
		snprintf(elsewhere->path, sizeof(elsewhere->path), "%.*s", (int)(last - name), name);
}

/* It listens, but where nobody was found. False: it does not listen. */
static bool tell_elsewhere(const struct proc *proc)
{
	struct elsewhere elsewhere = {.inner_pid = proc->inner_pid, .start = proc->start};
	const int id = (int)proc->pid;

	listeners_each(proc->pid, compare_listener, &elsewhere);
	if (!elsewhere.path[0] || (elsewhere.path[0] == '@' && proc_has_our_namespace(proc->pid, "net")))
		return false;
	clean(elsewhere.path);
	if (elsewhere.path[0] == '@')
		fail_msg("process %d (%s) listens in its own network namespace: run tp there, as by \"nsenter -t %d -n tp ...\"", id,
			 proc->name, id);
	else if (geteuid() != 0)
		fail_msg("process %d (%s) listens in %s, as it began as another user: only that user and root can come in there; "
			 "run tp as root", id, proc->name, elsewhere.path);
	else
		fail_msg("process %d (%s) listens in %s, but its name there has been removed: start the program "
			 "again, after \"tp setup\" if the directory is gone", id,
			 proc->name, elsewhere.path);
	return true;
}

bool tell_why_not(pid_t pid, const struct found *found)
{
	struct proc proc;

	if (!proc_read(&proc, pid))
		return tell_no_process(pid);
	const int id = (int)pid;
	if (proc.state == 'Z')
		return fail_msg("process %d (%s) has ended, and its parent has not asked for its status yet", id, proc.name);
	if (!proc_may_be_reached(proc.uid))
		return fail_msg("process %d (%s) is user %u's, and you are user %u: run tp as that user, or as root", id,
			    proc.name, (unsigned int)proc.uid, (unsigned int)geteuid());
	if (tell_of_listener(&proc, found) || tell_elsewhere(&proc))
		return false;
	if (tracepoints_of(pid) == TRACEPOINTS_NONE)
		return fail_msg(
			"process %d (%s) has no tracepoints: neither is libtp.so among its files, nor has one a section "
			"tp_definitions or tp_markers, which tpgen's headers make",
			id, proc.name);
	if (!may_enter(pid))
		return fail_msg(
			"process %d (%s) is in other namespaces, or may not be looked at (set-uid?), as /proc/%d/root can't be "
			"entered: run tp %s inside, as by \"nsenter -t %d -U -m -p tp ...\"",
			id, proc.name, id, geteuid() ? "as root, or" : "there,", id);
	if (is_set(pid, "TP_CONTROL", "0"))
		return fail_msg(
			"control is off in process %d (%s), as TP_CONTROL=0 is in its environment: start it again without",
			id, proc.name);
	if (is_set(pid, "TP_SANDBOX", "1"))
		return fail_msg("control is off in process %d (%s), as TP_SANDBOX=1 is in its environment: start it again with "
			    "TP_CONTROL=1, too", id, proc.name);
	tell_off(&proc);
	return false;
}

/* ---- By name ---- */

struct named {
	const char *name;
	pid_t pid;
};

/* A process's name is cut off after 15 characters. One that runs is meant rather than one that has ended. */
static void compare_name(void *data, pid_t pid)
{
	struct named *named = data;
	struct proc proc;

	if (proc_read(&proc, pid) && strncmp(proc.name, named->name, 15) == 0 && proc_may_be_reached(proc.uid) &&
	    (proc.state != 'Z' || !named->pid))
		named->pid = pid;
}

bool tell_why_no_program(const char *program)
{
	struct named named = {.name = program};
	struct found found;

	proc_each(compare_name, &named);
	if (!named.pid)
		return fail_msg("no process that can be reached is called '%s'; \"tp ps\" lists those that can", program);
	if (find_process(&found, named.pid, false))
		tell_why_not(named.pid, &found);
	found_free(&found);
	return false;
}
