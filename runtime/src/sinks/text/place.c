/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/place.c - see place.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sinks/text/place.h"

void tp_text_place_remember(struct tp_text_place *place, const char *name)
{
	struct stat st;
	char *path = realpath(name, NULL);
	char *directory = path ? strdup(path) : NULL;

	if (directory) {
		char *slash = strrchr(directory, '/');
		slash[slash == directory] = 0; /* of "/name" the slash stays */
	}
	if (!directory || stat(directory, &st) != 0) {
		free(path);
		free(directory);
		return;
	}
	*place = (struct tp_text_place){.path = path, .directory = directory, .device = st.st_dev, .inode = st.st_ino};
}

void tp_text_place_forget(struct tp_text_place *place)
{
	free(place->path);
	free(place->directory);
	*place = (struct tp_text_place){.path = NULL};
}

bool tp_text_place_is_there(const struct tp_text_place *place)
{
	struct stat st;

	return place->path && stat(place->directory, &st) == 0 && st.st_dev == place->device && st.st_ino == place->inode;
}
