/* SPDX-License-Identifier: MIT */
#include "client/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/clean.h"

#define MAX_STATUS ((size_t)64 << 10)
#define MAX_ENVIRONMENT ((size_t)4 << 20)

static char *read_all(int fd, size_t max, size_t *len)
{
	size_t size = 4096;
	char *text = malloc(size + 1);

	*len = 0;
	while (text) {
		ssize_t n = read(fd, text + *len, size - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (*len += (size_t)n) >= max) {
			text[*len] = '\0';
			return text;
		}
		if (*len < size)
			continue;
		size *= 2;
		char *more = realloc(text, size + 1);
		if (!more)
			free(text);
		text = more;
	}
	errno = ENOMEM;
	return NULL;
}

char *proc_text(pid_t pid, const char *name, size_t max, size_t *len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = read_all(fd, max, len);
	close(fd);
	return text;
}

/* What stands behind "\nNAME:" in a file of lines. */
static const char *line_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : "";
}

static bool read_status(struct proc *proc)
{
	size_t len;
	char *text = proc_text(proc->pid, "status", MAX_STATUS, &len);
	unsigned int uid = 0, gid = 0;

	if (!text)
		return false;
	sscanf(line_of(text, "\nUid:"), "%*u %u", &uid);
	sscanf(line_of(text, "\nGid:"), "%*u %u", &gid);
	proc->uid = uid;
	proc->gid = gid;
	/* From the outermost namespace to the innermost. */
	const char *ids = line_of(text, "\nNSpid:");
	proc->inner_pid = proc->pid;
	while (*ids == '\t') {
		char *end;
		proc->inner_pid = (pid_t)strtol(ids + 1, &end, 10);
		ids = end;
	}
	free(text);
	return true;
}

static bool read_stat(struct proc *proc)
{
	size_t len;
	char *text = proc_text(proc->pid, "stat", MAX_STATUS, &len);
	/* The name, in brackets, may have brackets in it. */
	const char *name = text ? strchr(text, '(') : NULL;
	char *end = name ? strrchr(text, ')') : NULL;
	unsigned long long start = 0;

	if (end && end > name) {
		*end = '\0';
		snprintf(proc->name, sizeof(proc->name), "%s", name + 1);
		clean(proc->name);
		/* The third field is the state, the fourth the parent, the 22nd the start. */
		sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &proc->state, &proc->parent, &start);
		proc->start = start * (1000000000u / (unsigned long long)sysconf(_SC_CLK_TCK));
	}
	free(text);
	return end != NULL;
}

bool proc_read(struct proc *proc, pid_t pid)
{
	*proc = (struct proc){.pid = pid, .state = '?'};
	return pid > 0 && read_status(proc) && read_stat(proc);
}

bool proc_is_stopped(pid_t pid)
{
	struct proc proc;

	return proc_read(&proc, pid) && (proc.state == 'T' || proc.state == 't');
}

bool proc_is_called(pid_t pid, const char *name)
{
	char link[64], file[PATH_MAX];
	struct proc proc;

	if (proc_read(&proc, pid) && strcmp(proc.name, name) == 0)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	const ssize_t len = readlink(link, file, sizeof(file) - 1);
	file[len > 0 ? len : 0] = '\0';
	const char *last = strrchr(file, '/');
	return last && strcmp(last + 1, name) == 0;
}

bool proc_is_gone(pid_t pid)
{
	struct proc proc;

	return !proc_read(&proc, pid) || proc.state == 'Z' || proc.state == 'X';
}

char *proc_environment(pid_t pid, const char *name)
{
	const size_t name_len = strlen(name);
	size_t len;
	char *text = proc_text(pid, "environ", MAX_ENVIRONMENT, &len);
	char *value = NULL;

	for (const char *at = text; at && at < text + len && !value; at += strlen(at) + 1) {
		if (strncmp(at, name, name_len) == 0 && at[name_len] == '=')
			value = strdup(at + name_len + 1);
	}
	free(text);
	return value;
}

bool proc_may_be_reached(uid_t uid)
{
	return geteuid() == 0 || uid == geteuid();
}

bool proc_has_our_namespace(pid_t pid, const char *kind)
{
	struct stat theirs, ours;
	char path[64], own[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	snprintf(own, sizeof(own), "/proc/self/ns/%s", kind);
	return stat(path, &theirs) != 0 || stat(own, &ours) != 0 || theirs.st_ino == ours.st_ino;
}

bool proc_has_our_root(pid_t pid)
{
	struct stat theirs, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (stat(path, &theirs) != 0)
		return true; /* nothing can be done by way of it anyway */
	/* A mount namespace of its own can have other directories below the same root. */
	if (stat("/proc/self/root", &ours) != 0 || theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino)
		return false;
	return proc_has_our_namespace(pid, "mnt");
}

void proc_each(void (*fn)(void *data, pid_t pid), void *data)
{
	DIR *list = opendir("/proc");
	const struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]))
			fn(data, (pid_t)strtol(entry->d_name, NULL, 10));
	}
	if (list)
		closedir(list);
}
