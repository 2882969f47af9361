/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/hold.c - which traces are still written: their processes hold a lock on the file .lock in the directory,
 * which ends with the last of them, however it ends. Process ids would not do: they come
 * again, and mean others in another container.
 *
 * A mapping keeps the lock: daemons close descriptors that they don't know. Forked children have it, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/dir/hold.h"
#include "sinks/ctf/sink.h"

#define NAME ".lock"

#define FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int tp_ctf_hold(struct tp_ctf_sink *sink, int dir, void **hold)
{
	struct tp_ctf_file file;
	void *mapping = MAP_FAILED;
	bool is_taken = false;

	bool is_open = tp_ctf_file_open(sink, &file, dir, NAME, FLAGS | O_CREAT) == 0;
	if (is_open) {
		bool locked = is_file(file.fd) && flock(file.fd, LOCK_SH | LOCK_NB) == 0;
		is_taken = !locked && is_file(file.fd) && errno == EWOULDBLOCK;
		if (locked)
			mapping = mmap(NULL, 1, PROT_NONE, MAP_SHARED, file.fd, 0);
		tp_ctf_file_close(sink, &file);
	}
	*hold = mapping != MAP_FAILED ? mapping : NULL;
	if (is_open && !*hold && !is_taken)
		unlinkat(dir, NAME, 0); /* without a lock it would say that nobody writes */
	return is_taken ? EEXIST : 0;
}

void tp_ctf_hold_end(void *hold)
{
	if (hold)
		munmap(hold, 1);
}

int tp_ctf_hold_try(int dir)
{
	int fd = openat(dir, NAME, FLAGS);

	if (fd < 0 || (is_file(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0))
		return fd;
	close(fd);
	return -1;
}

void tp_ctf_hold_give_back(int fd)
{
	flock(fd, LOCK_UN); /* a child that another thread forked meanwhile has the descriptor, too */
	close(fd);
}
