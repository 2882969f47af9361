/* SPDX-License-Identifier: MIT */
#include "read/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail_msg.h"

/* ---- A folder ---- */

bool folder_open(struct folder *folder, const char *path)
{
	*folder = (struct folder){.path = strdup(path), .fd = -1};
	if (!folder->path)
		return fail_no_memory();
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder->fd >= 0 || fail_msg("'%s' can't be opened: %s", path, strerror(errno));
}

bool folder_open_packed(struct folder *folder, struct pack *pack, const char *inside, const char *path)
{
	*folder = (struct folder){.path = strdup(path), .fd = -1, .pack = pack_share(pack)};
	if (asprintf(&folder->inside, "%s%s", inside, *inside ? "/" : "") < 0)
		folder->inside = NULL;
	return (folder->path && folder->inside) || fail_no_memory();
}

void folder_close(struct folder *folder)
{
	if (folder->path && folder->fd >= 0)
		close(folder->fd);
	pack_close(folder->pack);
	free(folder->path);
	free(folder->inside);
	*folder = (struct folder){.path = NULL};
}

static bool is_inside(const struct folder *folder, size_t i)
{
	return i < folder->pack->nr && strncmp(folder->pack->files[i].name, folder->inside, strlen(folder->inside)) == 0;
}

static bool open_packed_below(struct folder *below, const struct folder *folder, const char *name, bool *absent)
{
	if (asprintf(&below->inside, "%s%s/", folder->inside, name) < 0) {
		below->inside = NULL;
		return fail_no_memory();
	}
	below->pack = pack_share(folder->pack);
	*absent = !is_inside(below, pack_find(below->pack, below->inside));
	return true;
}

bool folder_open_below(struct folder *below, const struct folder *folder, const char *name, bool *absent)
{
	*below = (struct folder){.fd = -1};
	*absent = false;
	if (asprintf(&below->path, "%s/%s", folder->path, name) < 0) {
		below->path = NULL;
		return fail_no_memory();
	}
	if (folder->pack)
		return open_packed_below(below, folder, name, absent);
	below->fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	*absent = below->fd < 0 && errno == ENOENT;
	return below->fd >= 0 || *absent || fail_msg("'%s' can't be opened: %s", below->path, strerror(errno));
}

/* ---- Its names ---- */

static bool each_packed(const struct folder *folder, bool (*fn)(void *data, const char *name), void *data)
{
	for (size_t i = pack_find(folder->pack, folder->inside); is_inside(folder, i); i++) {
		const char *name = folder->pack->files[i].name + strlen(folder->inside);
		if (name[0] != '.' && !strchr(name, '/') && !fn(data, name))
			return false;
	}
	return true;
}

bool folder_each(const struct folder *folder, bool (*fn)(void *data, const char *name), void *data)
{
	if (folder->pack)
		return each_packed(folder, fn, data);
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry = NULL;
	bool good = true;

	if (!list) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return fail_msg("'%s' can't be listed: %s", folder->path, strerror(error));
	}
	while (good && (errno = 0, entry = readdir(list)) != NULL) {
		if (entry->d_name[0] != '.')
			good = fn(data, entry->d_name);
	}
	if (good && errno)
		good = fail_msg("'%s' can't be listed: %s", folder->path, strerror(errno));
	closedir(list);
	return good;
}

/* ---- Its files ---- */

static bool is_absent(const struct folder *folder, const char *name, const char *absent)
{
	return fail_msg("'%s/%s' is not there: %s", folder->path, name, absent);
}

static bool open_packed(const struct folder *folder, const char *name, const char *absent, struct folder_file *file)
{
	char *full;

	if (asprintf(&full, "%s%s", folder->inside, name) < 0)
		return fail_no_memory();
	const struct pack *pack = folder->pack;
	const size_t i = pack_find(pack, full);
	const bool found = i < pack->nr && strcmp(pack->files[i].name, full) == 0;
	free(full);
	if (!found)
		return is_absent(folder, name, absent);
	*file = (struct folder_file){
		.fd = pack->fd, .begin = pack->files[i].begin, .size = pack->files[i].size, .is_packed = true,
	};
	return true;
}

/* Without waiting for a pipe's writer. */
bool folder_open_file(const struct folder *folder, const char *name, const char *absent, struct folder_file *file)
{
	struct stat status;

	if (folder->pack)
		return open_packed(folder, name, absent, file);
	int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return is_absent(folder, name, absent);
	if (fd < 0)
		return fail_msg("'%s/%s' can't be opened: %s", folder->path, name,
			    errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		*file = (struct folder_file){.fd = fd, .size = (uint64_t)status.st_size};
		return true;
	}
	close(fd);
	return fail_msg("'%s/%s' is no plain file", folder->path, name);
}

void folder_close_file(const struct folder_file *file)
{
	if (!file->is_packed)
		close(file->fd);
}

ssize_t folder_read(const struct folder_file *file, void *to, size_t size, uint64_t offset)
{
	ssize_t n;

	if (file->is_packed && offset >= file->size)
		return 0;
	if (file->is_packed && size > file->size - offset)
		size = (size_t)(file->size - offset);
	do
		n = pread(file->fd, to, size, (off_t)(file->begin + offset));
	while (n < 0 && errno == EINTR);
	return n;
}

/* Reads as much as there is, up to size; -1 and an errno. */
static ssize_t read_whole(const struct folder_file *file, char *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = folder_read(file, to + len, size - len, len);
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

char *folder_read_text(const struct folder *folder, const char *name, size_t max, size_t *len)
{
	struct folder_file file;
	char *text = NULL;

	if (!folder_open_file(folder, name, "give the directory of a trace, which has such a file", &file))
		return NULL;
	if (file.size > max) {
		fail_msg("'%s/%s' is %llu bytes long: more than %zu can't be meant", folder->path, name,
		     (unsigned long long)file.size, max);
	} else if (!(text = malloc((size_t)file.size + 1))) {
		fail_no_memory();
	} else {
		ssize_t n = read_whole(&file, text, (size_t)file.size);
		if (n < 0) {
			fail_msg("'%s/%s' can't be read: %s", folder->path, name, strerror(errno));
			free(text);
			text = NULL;
		} else {
			text[n] = '\0';
			*len = (size_t)n;
		}
	}
	folder_close_file(&file);
	return text;
}
