/* SPDX-License-Identifier: MIT */
/*
 * tracepoints.c - looks at the files that a process has mapped: libtp.so is one of
 * them, or one has a section of events or tracepoints. A process may do anything to its files: what is
 * read is bounded, and no offset is believed.
 */
#include "client/tracepoints.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/proc.h"

#define MAX_MAPS ((size_t)16 << 20)
#define MAX_SECTIONS 4096u
#define MAX_NAMES ((size_t)1 << 20)

static bool is_ours(const char *name)
{
	return strncmp(name, "tp_definitions_", 15) == 0 || strncmp(name, "tp_marker", 9) == 0;
}

static bool read_exactly(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool any_section(int fd, const Elf64_Ehdr *head)
{
	const size_t nr = head->e_shnum;
	Elf64_Shdr *sections = calloc(nr ? nr : 1, sizeof(*sections));
	char *names = NULL;
	size_t len = 0;
	bool any = false;

	if (sections && nr && nr <= MAX_SECTIONS && head->e_shstrndx < nr &&
	    read_exactly(fd, sections, nr * sizeof(*sections), head->e_shoff)) {
		const Elf64_Shdr *texts = &sections[head->e_shstrndx];
		len = texts->sh_size < MAX_NAMES ? (size_t)texts->sh_size : MAX_NAMES;
		names = calloc(len + 1, 1);
		if (names && !read_exactly(fd, names, len, texts->sh_offset))
			len = 0;
	}
	for (size_t i = 0; i < nr && names; i++)
		any = any || (sections[i].sh_name < len && is_ours(names + sections[i].sh_name));
	free(names);
	free(sections);
	return any;
}

static bool file_has_any(const char *path)
{
	Elf64_Ehdr head;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool any = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		   read_exactly(fd, &head, sizeof(head), 0) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
		   head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_shentsize == sizeof(Elf64_Shdr) && any_section(fd, &head);

	if (fd >= 0)
		close(fd);
	return any;
}

/* One line of maps: "FROM-TO r-xp OFFSET DEVICE INODE   PATH". *last is the path of the line before. */
static bool line_has_any(pid_t pid, const char *line, const char **last)
{
	const char *path = strchr(line, '/');
	char file[4200];

	if (!path || (*last && strcmp(path, *last) == 0))
		return false;
	*last = path;
	const char *base = strrchr(path, '/') + 1;
	if (strncmp(base, "libtp.so", 8) == 0)
		return true;
	/* As the process sees it; and it stays there where the file was replaced. */
	snprintf(file, sizeof(file), "/proc/%d/map_files/%.*s", (int)pid, (int)strcspn(line, " "), line);
	if (access(file, R_OK) != 0)
		snprintf(file, sizeof(file), "/proc/%d/root%s", (int)pid, path);
	return file_has_any(file);
}

enum tracepoints tracepoints_of(pid_t pid)
{
	size_t len;
	char *maps = proc_text(pid, "maps", MAX_MAPS, &len);
	const char *last = NULL;
	char *rest = NULL;
	bool any = false;

	if (!maps)
		return TRACEPOINTS_UNKNOWN;
	for (char *line = strtok_r(maps, "\n", &rest); line && !any; line = strtok_r(NULL, "\n", &rest))
		any = line_has_any(pid, line, &last);
	free(maps);
	return any ? TRACEPOINTS_YES : TRACEPOINTS_NONE;
}
