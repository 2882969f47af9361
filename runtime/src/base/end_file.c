/* SPDX-License-Identifier: MIT */
/*
 * base/end_file.c - see end_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/end_file.h"
#include "base/file.h"
#include "base/message.h"
#include "base/pid_name.h"

bool tp_end_file_begin(struct tp_end_file *file, const char *path)
{
	*file = (struct tp_end_file){.begun_by = getpid()};
	if (!path)
		return true;
	char *directory = *path == '/' ? NULL : getcwd(NULL, 0);
	if (asprintf(&file->path, "%s%s%s", directory ? directory : "", directory ? "/" : "", path) < 0)
		file->path = NULL;
	file->directory_len = directory ? strlen(directory) : 0;
	free(directory);
	return file->path != NULL;
}

void tp_end_file_free(struct tp_end_file *file)
{
	free(file->path);
}

bool tp_end_file_in_child(const struct tp_end_file *file)
{
	return getpid() != file->begun_by;
}

/* For free(). */
static char *name_of_process(const struct tp_end_file *file)
{
	const char *pattern = file->path + file->directory_len;
	const int pid = (int)getpid();
	char *name = NULL;

	if (tp_end_file_in_child(file) && !strstr(pattern, "%p"))
		return asprintf(&name, "%s-%d", file->path, pid) < 0 ? NULL : name;
	name = malloc(file->directory_len + tp_pid_name_size(pattern));
	if (name)
		tp_pid_name(mempcpy(name, file->path, file->directory_len), pattern, pid);
	return name;
}

int tp_end_file_write(const struct tp_end_file *file, const struct tp_buffer *text)
{
	char *name = name_of_process(file);

	if (!name)
		return ENOMEM;
	const int fd = tp_file_open(name, O_TRUNC | O_NOFOLLOW, 0600);
	int error = fd < 0 ? errno : 0;
	if (error == EACCES)
		tp_complain_of_foreign(name);
	free(name);
	if (error)
		return error;
	error = tp_file_write(fd, text->text, text->len);
	return close(fd) != 0 && !error ? errno : error;
}
