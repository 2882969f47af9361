/* SPDX-License-Identifier: MIT */
#include "elf/libraries.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dynamic.h"
#include "fail_msg.h"

#define LIBRARIES_MAX 1024u /* a damaged file may name any number */

/* Debian's, then those of all others. What ld.so.conf names besides is in the loader's cache, which is not read. */
static const char *default_directories(const struct libraries *libraries)
{
	static char text[256];
	const char *triplet = libraries->triplet;

	snprintf(text, sizeof(text), "/lib/%s:/usr/lib/%s:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib/%s:/usr/local/lib:"
		 "/usr/local/lib64", triplet, triplet, triplet);
	return text;
}

/* ---- $ORIGIN ---- */

/* The directory of a file, to be freed; NULL: it is not there any more, or there is no memory. */
static char *origin_of(const char *path)
{
	char *real = realpath(path, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (slash)
		slash[slash == real] = '\0';
	return real;
}

/* How long the name of the origin is at text; 0: it is none. */
static size_t is_origin(const char *text)
{
	static const char *const names[] = {"$ORIGIN", "${ORIGIN}"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(text, names[i], strlen(names[i])) == 0)
			return strlen(names[i]);
	}
	return 0;
}

/* The text with its origin, to be freed; NULL: there is no memory. */
static char *replace_origin(const char *text, const char *origin)
{
	size_t size = strlen(text) + 1;
	size_t len = 0;

	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		size += is_origin(at) ? strlen(origin) : 0;
	char *replaced = malloc(size);
	while (replaced && *text) {
		const size_t name = is_origin(text);
		if (name)
			len += (size_t)(stpcpy(replaced + len, origin) - (replaced + len));
		else
			replaced[len++] = *text;
		text += name ? name : 1;
	}
	if (replaced)
		replaced[len] = '\0';
	return replaced;
}

/* ---- The list ---- */

static bool add(struct libraries *libraries, const char *name, size_t user)
{
	for (size_t i = 0; i < libraries->nr; i++) {
		if (strcmp(libraries->all[i].name, name) == 0)
			return true;
	}
	if (libraries->nr == LIBRARIES_MAX)
		return true;
	struct library *all = reallocarray(libraries->all, libraries->nr + 1, sizeof(*all));
	if (!all)
		return fail_no_memory();
	libraries->all = all;
	all[libraries->nr] = (struct library){.name = strdup(name), .user = user};
	return all[libraries->nr].name ? (libraries->nr++, true) : fail_no_memory();
}

bool libraries_begin(struct libraries *libraries, const char *path)
{
	*libraries = (struct libraries){.all = NULL};
	if (!add(libraries, path, 0))
		return false;
	libraries->all[0].path = strdup(path);
	return libraries->all[0].path || fail_no_memory();
}

/* musl's, under its own name and Alpine's: it is the loader, which stands in no directory of libraries, and has no tracepoints. */
static bool is_musl(const char *name)
{
	return strcmp(name, "libc.so") == 0 || strncmp(name, "libc.musl-", strlen("libc.musl-")) == 0;
}

struct adding {
	struct libraries *libraries;
	size_t user;
	struct image *image;
	uint64_t texts;
	bool good;
};

static bool add_entry(void *data, const Elf64_Dyn *entry)
{
	struct adding *adding = data;

	if (entry->d_tag == DT_NEEDED) {
		size_t size;
		char *name = image_read_texts(adding->image, adding->texts + entry->d_un.d_val, 1, &size);
		adding->good = !name || !*name || is_musl(name) || add(adding->libraries, name, adding->user);
		free(name);
	}
	return adding->good;
}

/* The directories of a tag, to be freed; NULL: it says none. */
static char *directories_of(struct image *image, uint64_t texts, int64_t tag, const char *origin)
{
	const uint64_t at = dynamic_value(image, tag);
	size_t size;
	char *text = at ? image_read_texts(image, texts + at, 1, &size) : NULL;
	char *replaced = text ? replace_origin(text, origin) : NULL;

	free(text);
	return replaced;
}

bool libraries_add(struct libraries *libraries, size_t i, struct image *image)
{
	struct library *library = &libraries->all[i];
	const uint64_t texts = dynamic_value(image, DT_STRTAB);
	struct adding adding = {libraries, i, image, texts, true};
	char *origin = origin_of(library->path);

	libraries->triplet = image_triplet(image);
	if (origin) {
		library->runpath = directories_of(image, texts, DT_RUNPATH, origin);
		library->rpath = library->runpath ? NULL : directories_of(image, texts, DT_RPATH, origin);
	}
	free(origin);
	dynamic_each(image, add_entry, &adding);
	return adding.good;
}

void libraries_free(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->nr; i++) {
		free(libraries->all[i].name);
		free(libraries->all[i].path);
		free(libraries->all[i].rpath);
		free(libraries->all[i].runpath);
	}
	free(libraries->all);
	*libraries = (struct libraries){.all = NULL};
}

/* ---- Finding ---- */

/* Whether the file is a library for this program: the loader goes on to the next directory, too, if it is not. */
static bool try(const struct libraries *libraries, struct library *library, struct image *image, char *path)
{
	if (path && !image_open(image, path) && strcmp(image_triplet(image), libraries->triplet) == 0) {
		library->path = path;
		return true;
	}
	if (path)
		image_close(image);
	free(path);
	return false;
}

/* Any of end ends a directory; an empty one is the current directory. */
static bool try_directories(const struct libraries *libraries, struct library *library, struct image *image,
			    const char *directories, const char *end)
{
	while (directories) {
		const size_t len = strcspn(directories, end);
		char *path;
		if (asprintf(&path, "%.*s%s%s", (int)(len < PATH_MAX ? len : PATH_MAX), directories, len ? "/" : "./",
			     library->name) < 0)
			return false;
		if (try(libraries, library, image, path))
			return true;
		directories = directories[len] ? directories + len + 1 : NULL;
	}
	return false;
}

/* The RPATHs of the user, of that one's user and so on. */
static bool try_rpaths(const struct libraries *libraries, struct library *library, struct image *image)
{
	size_t user = library->user;

	if (libraries->all[user].runpath)
		return false;
	while (!try_directories(libraries, library, image, libraries->all[user].rpath, ":")) {
		if (!user)
			return false;
		user = libraries->all[user].user;
	}
	return true;
}

const char *libraries_open(struct libraries *libraries, size_t i, struct image *image)
{
	struct library *library = &libraries->all[i];
	const char *variable = getenv("LD_LIBRARY_PATH");
	bool found;

	if (i == 0)
		return image_open(image, library->path);
	*image = (struct image){.bytes = {.fd = -1}};
	if (strchr(library->name, '/'))
		found = try(libraries, library, image, strdup(library->name));
	else
		found = try_rpaths(libraries, library, image) ||
			try_directories(libraries, library, image, variable && *variable ? variable : NULL, ":;") ||
			try_directories(libraries, library, image, libraries->all[library->user].runpath, ":") ||
			try_directories(libraries, library, image, default_directories(libraries), ":");
	return found ? NULL : "was not found";
}
