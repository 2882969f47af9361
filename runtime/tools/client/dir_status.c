/* SPDX-License-Identifier: MIT */
#include "client/dir_status.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/find.h"
#include "client/socket_dirs.h"
#include "fail_msg.h"

static const char *user_name(char *buf, size_t size, uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(buf, size, "%s", user->pw_name);
	else
		snprintf(buf, size, "user %u", (unsigned int)uid);
	return buf;
}

/* ---- One of them ---- */

static bool listens_at(const struct connection *connection, const char *path)
{
	return connection->place.root == 0 && strcmp(connection->place.path, path) == 0;
}

static void put_listeners(const struct found *found, const char *path)
{
	for (size_t i = 0; i < found->nr; i++) {
		const struct connection *one = &found->all[i];
		if (!listens_at(one, path))
			continue;
		if (one->state == CONNECTION_OPEN)
			printf("%9d %s\n", (int)one->pid, one->greeting.program);
		else
			printf("%9s does not answer: %s\n", "-", one->name);
	}
}

/* One that is not there is not shown. */
static void put_directory(const struct found *found, const char *path)
{
	struct stat status;
	char user[64];
	size_t nr = 0;

	if (lstat(path, &status) != 0)
		return;
	for (size_t i = 0; i < found->nr; i++)
		nr += listens_at(&found->all[i], path);
	printf("%s: of %s, mode %04o; %zu process%s\n", path, user_name(user, sizeof(user), status.st_uid),
	       status.st_mode & 07777, nr, nr == 1 ? " listens there" : "es listen there");
	put_listeners(found, path);
}

/* Of the directory in which programs are to listen. */
static bool check(const char *path, uid_t uid, const char *remedy)
{
	struct stat status;
	char owner[64], user[64];

	user_name(user, sizeof(user), uid);
	if (lstat(path, &status) != 0 && errno == ENOENT)
		return fail_msg("'%s' is not there: programs that %s starts now do not listen; make it by \"%s\"", path, user, remedy);
	if (lstat(path, &status) != 0)
		return fail_msg("'%s' can't be looked at: %s", path, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return fail_msg("'%s' is no directory: programs do not listen there; remove it, and make it by \"%s\"", path, remedy);
	if (status.st_uid != uid)
		return fail_msg("'%s' is %s's, and must be %s's: programs do not listen there; remove it, and make it by \"%s\"", path,
			    user_name(owner, sizeof(owner), status.st_uid), user, remedy);
	return !(status.st_mode & 077) ||
	       fail_msg("'%s' has mode %03o, and must have 700: programs do not listen there; \"%s\" sets it", path,
		    status.st_mode & 0777, remedy);
}

/* ---- All of them ---- */

static bool is_among(const struct places *places, const char *path)
{
	for (size_t i = 0; i < places->nr; i++) {
		if (places->all[i].root == 0 && strcmp(places->all[i].path, path) == 0)
			return true;
	}
	return false;
}

/* Programs may listen elsewhere, by their own TP_CONTROL, or in a container. */
static void put_elsewhere(const struct found *found, const struct places *places, const char *path)
{
	bool begun = false;

	for (size_t i = 0; i < found->nr; i++) {
		const struct connection *one = &found->all[i];
		if (one->state != CONNECTION_OPEN || listens_at(one, path) ||
		    (one->place.root == 0 && is_among(places, one->place.path)))
			continue;
		if (!begun)
			printf("elsewhere:\n");
		begun = true;
		printf("%9d %s, in %s\n", (int)one->pid, one->greeting.program, one->place.path);
	}
}

bool dir_status_print(const char *path, uid_t uid, const char *remedy)
{
	struct places places = {.all = NULL};
	struct found found = {.all = NULL};
	const bool good = places_add_ours(&places) && find_all(&found, NULL);

	if (good) {
		put_directory(&found, path);
		for (size_t i = 0; i < places.nr; i++) {
			if (strcmp(places.all[i].path, path) != 0)
				put_directory(&found, places.all[i].path);
		}
		put_elsewhere(&found, &places, path);
		fflush(stdout); /* before what is told */
	}
	found_free(&found);
	places_free(&places);
	return good && check(path, uid, remedy);
}
