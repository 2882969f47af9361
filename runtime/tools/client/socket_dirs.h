/* SPDX-License-Identifier: MIT */
/*
 * socket_dirs.h - the directories in which processes listen. docs/internals/control.md says which these are. A
 * process with another root, or in another mount namespace, has them below /proc/PID/root.
 */
#ifndef PLACES_H
#define PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct place {
	pid_t root; /* whose root path begins at; 0: ours */
	char path[PATH_MAX];
};

/* Zeros are none. */
struct places {
	struct place *all;
	size_t nr;
};

/* Adds the directories of this program's user and, for root, those of all users. False, and a message. */
bool places_add_ours(struct places *places);

/* Adds those that the process may listen in. */
bool places_add_of(struct places *places, pid_t pid);

/* Adds those of all processes, as far as they can be known. */
bool places_add_of_all(struct places *places);

void places_free(struct places *places);

/* Of those that are in no directory, whose names the network namespace has. */
static inline bool place_is_directory(const struct place *place)
{
	return place->path[0] == '/';
}

/*
 * A descriptor of the directory, or of the name in it; -1 with errno set. Symbolic links are
 * followed as the place's owner would, but not in the place of the last part.
 */
int place_open(const struct place *place, const char *name, int flags);

/*
 * Calls fn for each name of a socket in the directories, and once only where two of them are the same
 * directory; and for those in no directory. Removes what is left of sockets that never got their name.
 */
void places_each_name(const struct places *places, void (*fn)(void *data, const struct place *place, const char *name),
		      void *data);

/*
 * The directory of this user in which programs that are started now listen, of size PATH_MAX; system: not that of the
 * session.
 */
void place_of_user(char *path, uid_t uid, bool system);

#endif /* PLACES_H */
