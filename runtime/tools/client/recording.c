/* SPDX-License-Identifier: MIT */
#include "client/recording.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/clean.h"
#include "client/directory.h"
#include "client/proc.h"
#include "client/signals.h"
#include "read/count.h"
#include "fail_msg.h"

/* The directory around traces that have names of their own: made, or found empty, for the first of them. */
static struct {
	char *path;
	bool made;
	bool is_shared; /* also by what is no process's */
} around;

static bool make_around(const char *path)
{
	char *absolute = absolute_path(path);

	if (absolute && around.path && strcmp(absolute, around.path) == 0) {
		free(absolute);
		return true;
	}
	free(around.path);
	around.path = absolute;
	int fd = absolute ? directory_for_trace(absolute, (uid_t)-1, (gid_t)-1, &around.made) : -1;
	if (fd >= 0) {
		close(fd);
		return true;
	}
	free(around.path);
	around.path = NULL;
	return false;
}

/* Unless there is something in it. */
static void remove_around(void)
{
	if (around.path && around.made && rmdir(around.path) == 0) {
		free(around.path);
		around.path = NULL;
	}
}

const char *recordings_share(const char *path)
{
	around.is_shared = make_around(path);
	return around.is_shared ? around.path : NULL;
}

void recordings_end(void)
{
	remove_around();
}

/* PROGRAM-PID: a name may have anything in it but for a slash. */
static bool name_within(struct recording *recording)
{
	const struct connection *connection = &recording->session.connection;
	char program[sizeof(connection->greeting.program)];

	snprintf(program, sizeof(program), "%s", connection->greeting.program);
	for (char *at = program; *at; at++) {
		if (*at == '/' || (at == program && *at == '.'))
			*at = '_';
	}
	const pid_t pid = connection->pid ? connection->pid : connection->greeting.pid;
	if (asprintf(&recording->path, "%s/%s-%d", around.path, program, (int)pid) < 0)
		recording->path = NULL;
	return recording->path || fail_no_memory();
}

/* The user that the process has now is the one who writes. */
static void owner_of(const struct connection *connection, uid_t *uid, gid_t *gid)
{
	struct proc proc;
	const bool known = connection->pid && proc_read(&proc, connection->pid);

	*uid = known ? proc.uid : connection->uid;
	*gid = known ? proc.gid : (gid_t)-1;
}

bool recording_directory(struct recording *recording, const char *path)
{
	uid_t uid;
	gid_t gid;

	recording->dir = -1;
	recording->made = false;
	recording->path = NULL;
	const bool within = recording->alone || around.is_shared || recording->session.connection.is_one_of_several;
	if (within ? !make_around(path) || !name_within(recording) : !(recording->path = absolute_path(path)))
		return false;
	owner_of(&recording->session.connection, &uid, &gid);
	recording->dir = directory_for_trace(recording->path, uid, gid, &recording->made);
	if (recording->dir >= 0)
		return true;
	free(recording->path);
	recording->path = NULL;
	remove_around();
	return false;
}

/* Nobody but root comes through to what is in it. */
static bool is_private(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == 0 && (st.st_mode & 0077) == 0;
}

/* Where root records a process of root's. */
static bool writer_may_change(const struct recording *recording)
{
	uid_t uid;
	gid_t gid;

	owner_of(&recording->session.connection, &uid, &gid);
	return geteuid() == 0 && uid == 0;
}

static bool make_directory(struct recording *recording, const char *path)
{
	const bool changes = writer_may_change(recording);

	recording->alone = changes && !around.is_shared && !recording->session.connection.is_one_of_several;
	if (!recording_directory(recording, path))
		return false;
	/* One that others can come to is not opened to everybody. */
	if (changes && is_private(around.path))
		fchmod(recording->dir, 01777);
	return true;
}

bool recording_open(struct recording *recording, const char *path, const char *options)
{
	char label[PATH_MAX], name[PATH_MAX + 512];

	if (!make_directory(recording, path))
		return false;
	snprintf(name, sizeof(name), "%s%s%s", output_label(label, sizeof(label), recording_name(recording)), *options ? "," : "", options);
	if (session_open(&recording->session, recording->dir, "ctf", name))
		return true;
	recording_undo(recording);
	return false;
}

void recorded_remove(const char *path)
{
	static const char *const inner[] = {"format", "log"};
	char below[PATH_MAX];

	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		if (snprintf(below, sizeof(below), "%s/%s", path, inner[i]) < (int)sizeof(below))
			directory_remove(below);
	}
	directory_remove(path);
}

void recording_remove(struct recording *recording)
{
	if (recording->made && recording->path)
		recorded_remove(recording->path);
	remove_around();
}

/* If it stayed, the same command without the mistake would find a directory that is not empty. */
bool recording_enable(struct recording *recording, const char *rules)
{
	struct session *session = &recording->session;
	struct answer answer;

	if (session_enable(session, rules))
		return true;
	request(&session->connection, &answer, -1, NULL, NULL, "close %s", session->id);
	if (answer.kind == ANSWER_OK)
		recording_remove(recording);
	else
		remove_around();
	return false;
}

void recording_undo(struct recording *recording)
{
	if (recording->made && recording->path)
		rmdir(recording->path);
	remove_around();
}

void recording_close(struct recording *recording)
{
	session_close(&recording->session);
	trace_growth_free(&recording->growth);
	if (recording->dir >= 0)
		close(recording->dir);
	free(recording->path);
	recording->path = NULL;
	recording->dir = -1;
}

void recording_count(struct recording *recording)
{
	struct trace_count count;

	if (trace_growth_count(&recording->growth, recording->path, &count))
		recording->count = count;
}

static bool may_continue(void)
{
	return signals_patience(1) > 0;
}

const char *recording_name(const struct recording *recording)
{
	return recording->alone ? around.path : recording->path;
}

unsigned long long tell_recorded(const char *path, const char *name, const char *title, const unsigned long *lost)
{
	struct trace_count count;
	char process[COMM_SIZE + 4], unexplained[32];

	if (!trace_count(&count, path, may_continue)) {
		fail_msg("'%s' has the trace of %s; it was not read to its end", name, title ? title : "a process");
		return count.events + 1;
	}
	snprintf(process, sizeof(process), "'%s'", clean(count.process));
	snprintf(unexplained, sizeof(unexplained), "%llu", (unsigned long long)count.lost);
	fail_msg("'%s': %llu event%s, %llu bytes, of %s; lost: %s", name, (unsigned long long)count.events,
	     count.events == 1 ? "" : "s", (unsigned long long)count.bytes, title ? title : process,
	     lost ? lost_text(lost) : unexplained);
	return count.events;
}
