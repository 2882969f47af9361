/* SPDX-License-Identifier: MIT */
/*
 * base/directory.c - see directory.h. readdir(3) would need malloc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"

/* As the kernel has it: getdents(2). */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static const struct entry *entry_at(const struct tp_directory *directory, size_t at)
{
	return (const struct entry *)(const void *)(directory->entries + at);
}

void tp_directory_open(struct tp_directory *directory, int dir)
{
	directory->fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory->error = directory->fd < 0 ? errno : 0;
	directory->at = directory->len = 0;
}

static bool fill(struct tp_directory *directory)
{
	long len = directory->error ? 0 : syscall(SYS_getdents64, directory->fd, directory->entries, sizeof(directory->entries));

	if (len < 0)
		directory->error = errno;
	directory->at = 0;
	directory->len = len > 0 ? (size_t)len : 0;
	return len > 0;
}

const char *tp_directory_next(struct tp_directory *directory)
{
	const struct entry *entry;

	do {
		if (directory->at == directory->len && !fill(directory))
			return NULL;
		entry = entry_at(directory, directory->at);
		directory->at += entry->size;
	} while (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0);
	directory->name = entry->name;
	return entry->name;
}

bool tp_directory_is(const struct tp_directory *directory, mode_t type)
{
	struct stat st;

	/* The kernel's entry may not say it. */
	return fstatat(directory->fd, directory->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == type;
}

void tp_directory_close(struct tp_directory *directory)
{
	if (directory->fd >= 0)
		close(directory->fd);
}
