/* SPDX-License-Identifier: MIT */
/*
 * base/mapped_file.c - see mapped_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mapped_file.h"
#include "base/thread.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* The program has lowered the limit on file sizes just now. Signals are blocked. */
static void drop_size_signal(void)
{
	const struct timespec no_time = {.tv_sec = 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigtimedwait(&set, NULL, &no_time);
}

int tp_mapped_allocate(int fd, off_t from, size_t size)
{
	const bool allowed = tp_file_size_allowed((uint64_t)from + size);
	const int error = allowed ? posix_fallocate(fd, from, (off_t)size) : EFBIG;

	if (allowed && error == EFBIG)
		drop_size_signal();
	return error;
}

void tp_mapped_populate(void *memory, size_t size)
{
	madvise(memory, size, MADV_POPULATE_WRITE);
}

static bool can_copy(void)
{
	char from = 1, to = 0;
	const struct iovec source = {&from, 1}, target = {&to, 1};

	return process_vm_writev(tp_thread_id(), &source, 1, &target, 1, 0) == 1;
}

/* A file without a name or, on an overlay before Linux 6.1, with one for a moment. -1: there is none. */
static int nameless_file(int dir)
{
	static const char name[] = ".tp-nameless";
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		unlinkat(dir, name, 0); /* of a process that was killed in that moment */
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0)
			unlinkat(dir, name, 0);
	}
	return fd;
}

/*
 * An overlay's files are those of a file system below it, which has no name for those who are inside of a container. So it
 * is known by what it does. One whose files can't share blocks overwrites them in place, as ext4 and tmpfs do. (A file is
 * never cloned into itself: what could do it says EINVAL.) XFS can share blocks, but does so only where it is asked to, and
 * it is the only one that tells how many extents a file has. (Its request does not fit into the int that musl's ioctl() takes.)
 */
static bool overlay_keeps_promise(int at)
{
	struct fsxattr attributes = {.fsx_nextents = 0};
	struct stat st;
	const bool is_dir = fstat(at, &st) == 0 && S_ISDIR(st.st_mode);
	const int fd = is_dir ? nameless_file(at) : at;

	if (fd < 0)
		return false;
	const bool keeps = tp_file_size_allowed(4096) && posix_fallocate(fd, 0, 4096) == 0 &&
		     ((ioctl(fd, FICLONE, fd) != 0 && errno == EOPNOTSUPP) ||
		      (syscall(SYS_ioctl, fd, FS_IOC_FSGETXATTR, &attributes) == 0 && attributes.fsx_nextents > 0));
	if (is_dir)
		close(fd);
	return keeps;
}

static bool keeps_promise(int at)
{
	struct statfs fs;

	if (fstatfs(at, &fs) != 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case 0xef53:     /* ext4 */
	case 0x58465342: /* XFS */
	case 0x01021994: /* tmpfs */
		return true;
	case 0x794c7630: /* overlayfs */
		return overlay_keeps_promise(at);
	default:
		return false;
	}
}

bool tp_mapped_must_be_copied(int at)
{
	return !keeps_promise(at) && can_copy();
}

int tp_mapped_copy(const struct iovec *from, const struct iovec *to, unsigned int nr)
{
	size_t all = 0;

	for (unsigned int i = 0; i < nr; i++)
		all += from[i].iov_len;
	const ssize_t n = process_vm_writev(tp_thread_id(), from, nr, to, nr, 0);
	if (n == (ssize_t)all)
		return 0;
	return n < 0 ? errno : EFAULT;
}
