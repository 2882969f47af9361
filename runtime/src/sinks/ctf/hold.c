/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/hold.c - which traces are still written: their processes hold a lock on the file .lock in the directory,
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

#include "sinks/ctf/ctf.h"

#define NAME ".lock"

static int open_lock(int dir, int flags)
{
	struct stat st;

	int fd = openat(dir, NAME, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

int tp_ctf_hold(const struct tp_ctf_owner *owner, int dir, void **hold)
{
	void *mapping = MAP_FAILED;
	bool is_taken = false;

	int fd = open_lock(dir, O_CREAT);
	if (fd >= 0) {
		tp_ctf_give(owner, fd);
		if (flock(fd, LOCK_SH | LOCK_NB) == 0)
			mapping = mmap(NULL, 1, PROT_NONE, MAP_SHARED, fd, 0);
		else
			is_taken = errno == EWOULDBLOCK;
		close(fd);
	}
	*hold = mapping != MAP_FAILED ? mapping : NULL;
	if (fd >= 0 && !*hold && !is_taken)
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
	int fd = open_lock(dir, 0);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

void tp_ctf_hold_give_back(int fd)
{
	flock(fd, LOCK_UN); /* a child that another thread forked meanwhile has the descriptor, too */
	close(fd);
}
