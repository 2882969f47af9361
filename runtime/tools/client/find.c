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
#include "fail_msg.h"

struct finding {
	struct found *found;
	pid_t inner_pid; /* 0: of all processes */
	bool (*is_new)(void *data, const struct place *place, const char *name); /* NULL: all are */
	void *data;
	struct awaited awaited;
	bool good;
};

static void connect_to_name(void *data, const struct place *place, const char *name)
{
	struct finding *finding = data;
	struct found *found = finding->found;
	pid_t pid;

	if (!finding->good || !name_is_process(name, &pid, NULL) || (finding->inner_pid && pid != finding->inner_pid))
		return;
	if (finding->is_new && !finding->is_new(finding->data, place, name))
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

static bool find(const struct places *places, struct finding finding)
{
	struct found *found = finding.found;
	size_t kept = 0;

	finding.good = true;
	allow_descriptors();
	places_each_name(places, connect_to_name, &finding);
	connections_finish(found->all, found->nr, finding.awaited);
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

static bool find_everywhere(struct finding finding)
{
	struct places places = {.all = NULL};

	*finding.found = (struct found){.all = NULL};
	bool good = places_add_ours(&places) && places_add_of_all(&places) && find(&places, finding);
	places_free(&places);
	return good;
}

bool find_new(struct found *found, bool (*is_new)(void *data, const struct place *place, const char *name), void *data)
{
	return find_everywhere((struct finding){.found = found, .is_new = is_new, .data = data});
}

bool find_all(struct found *found, const char *program)
{
	return find_everywhere((struct finding){.found = found, .awaited.program = program});
}

bool find_process(struct found *found, pid_t pid, bool is_awaited)
{
	struct places places = {.all = NULL};
	struct proc proc;
	bool good = true;

	*found = (struct found){.all = NULL};
	if (proc_read(&proc, pid))
		good = places_add_ours(&places) && places_add_of(&places, pid) &&
		       find(&places, (struct finding){.found = found, .inner_pid = proc.inner_pid, .awaited.pid = is_awaited ? pid : 0});
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
