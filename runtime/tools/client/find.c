/* SPDX-License-Identifier: MIT */
#include "client/find.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/names.h"
#include "client/proc.h"
#include "client/unreachable.h"
#include "fail_msg.h"

struct finding {
	struct found *found;
	pid_t inner_pid; /* 0: of all processes */
	bool good;
};

static void connect_to_name(void *data, const struct place *place, const char *name)
{
	struct finding *finding = data;
	struct found *found = finding->found;
	pid_t pid;

	if (!finding->good || !name_is_process(name, &pid, NULL) || (finding->inner_pid && pid != finding->inner_pid))
		return;
	/* Twice as many whenever their number is a power of two. */
	if ((found->nr & (found->nr - 1)) == 0) {
		struct connection *all = reallocarray(found->all, found->nr ? 2 * found->nr : 1, sizeof(*all));
		finding->good = all || fail_no_memory();
		if (!all)
			return;
		found->all = all;
	}
	connection_begin(&found->all[found->nr++], place, name);
}

/* Those processes may be many, and each is a descriptor. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Where this user may, and where nothing else has taken the name. */
static void remove_dead_name(const struct connection *connection)
{
	struct stat status;
	int fd = place_is_directory(&connection->place) ? place_open(&connection->place, NULL, O_RDONLY | O_DIRECTORY) : -1;

	if (fd < 0)
		return;
	if (fstatat(fd, connection->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode))
		unlinkat(fd, connection->name, 0);
	close(fd);
}

static int compare(const void *a, const void *b)
{
	const struct connection *one = a;
	const struct connection *other = b;
	const pid_t x = one->pid ? one->pid : INT_MAX, y = other->pid ? other->pid : INT_MAX;

	return x < y ? -1 : x > y;
}

static bool find(struct found *found, const struct places *places, pid_t inner_pid)
{
	struct finding finding = {.found = found, .inner_pid = inner_pid, .good = true};
	size_t kept = 0;

	allow_descriptors();
	places_each_name(places, connect_to_name, &finding);
	connections_finish(found->all, found->nr);
	for (size_t i = 0; i < found->nr; i++) {
		struct connection *connection = &found->all[i];
		if (connection->state == CONNECTION_DEAD) {
			remove_dead_name(connection);
			connection_close(connection);
		} else {
			found->all[kept++] = *connection;
		}
	}
	found->nr = kept;
	if (kept)
		qsort(found->all, kept, sizeof(*found->all), compare);
	return finding.good;
}

bool find_all(struct found *found)
{
	struct places places = {.all = NULL};

	*found = (struct found){.all = NULL};
	bool good = places_add_ours(&places) && places_add_of_all(&places) && find(found, &places, 0);
	places_free(&places);
	return good;
}

bool find_process(struct found *found, pid_t pid)
{
	struct places places = {.all = NULL};
	struct proc proc;
	bool good = true;

	*found = (struct found){.all = NULL};
	if (proc_read(&proc, pid))
		good = places_add_ours(&places) && places_add_of(&places, pid) && find(found, &places, proc.inner_pid);
	places_free(&places);
	return good;
}

void found_free(struct found *found)
{
	for (size_t i = 0; i < found->nr; i++)
		connection_close(&found->all[i]);
	free(found->all);
	*found = (struct found){.all = NULL};
}

struct connection *found_open(const struct found *found, pid_t pid)
{
	for (size_t i = 0; i < found->nr; i++) {
		if (found->all[i].state == CONNECTION_OPEN && found->all[i].pid == pid)
			return &found->all[i];
	}
	return NULL;
}

/* ---- The one that is meant ---- */

/* Moves it out of those that were found, which may be freed then. */
static void take(struct connection *connection, struct connection *from)
{
	*connection = *from;
	from->fd = -1;
	from->message = NULL;
}

static bool reach_pid(struct connection *connection, pid_t pid)
{
	struct found found;
	bool good = find_process(&found, pid);
	struct connection *open = good ? found_open(&found, pid) : NULL;

	if (open)
		take(connection, open);
	else if (good)
		good = tell_why_not(pid, &found);
	found_free(&found);
	return good;
}

/* By what the process says, or by what the kernel says of it. */
static bool is_called(const struct connection *connection, const char *program, bool by_kernel)
{
	if (connection->state != CONNECTION_OPEN)
		return false;
	return by_kernel ? proc_is_called(connection->pid, program) : strcmp(connection->greeting.program, program) == 0;
}

static bool tell_candidates(const struct found *found, const char *program, bool by_kernel)
{
	char list[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < found->nr && len < sizeof(list) - 32; i++) {
		const struct connection *one = &found->all[i];
		if (is_called(one, program, by_kernel))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%d", len ? ", " : "", (int)one->pid);
	}
	return fail_msg("'%s' is the program of several processes: say -p with one of the ids %s", program, list);
}

/* The last of those, and how many there are. */
static struct connection *find_called(const struct found *found, const char *program, bool by_kernel, size_t *nr)
{
	struct connection *called = NULL;

	*nr = 0;
	for (size_t i = 0; i < found->nr; i++) {
		if (!is_called(&found->all[i], program, by_kernel))
			continue;
		called = &found->all[i];
		++*nr;
	}
	return called;
}

static bool reach_program(struct connection *connection, const char *program)
{
	struct found found;
	size_t nr;
	bool good = find_all(&found);

	bool by_kernel = false;
	struct connection *open = good ? find_called(&found, program, by_kernel, &nr) : NULL;
	if (good && !open) {
		by_kernel = true;
		open = find_called(&found, program, by_kernel, &nr);
	}
	if (good && nr == 1)
		take(connection, open);
	else if (good)
		good = open ? tell_candidates(&found, program, by_kernel) : tell_why_no_program(program);
	found_free(&found);
	return good;
}

bool client_connect(struct connection *connection, const char *wanted)
{
	*connection = (struct connection){.fd = -1};
	if (wanted[0] && wanted[strspn(wanted, "0123456789")] == '\0')
		return reach_pid(connection, strlen(wanted) < 10 ? (pid_t)strtol(wanted, NULL, 10) : INT_MAX);
	return reach_program(connection, wanted);
}
