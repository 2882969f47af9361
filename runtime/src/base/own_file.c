/* SPDX-License-Identifier: MIT */
/*
 * base/own_file.c - see own_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_file.h"
#include "base/sandbox.h"

static int descriptor(uint64_t opened)
{
	return (int)(uint32_t)opened;
}

/*
 * Filters of system calls name fstat where they allow it, or refuse it mildly. glibc 2.33 to 2.38 make another call,
 * newfstatat, for which they end the program. The kernel's structure is the C library's on these two.
 */
static int stat_of(int fd, struct stat *st)
{
#if defined(SYS_fstat) && (defined(__x86_64__) && defined(__LP64__) || defined(__aarch64__))
	return (int)syscall(SYS_fstat, fd, st);
#else
	return fstat(fd, st);
#endif
}

/* What fstat() never says by itself: a filter does. */
static bool is_forbidden(int error)
{
	return error == EPERM || error == ENOSYS || error == EACCES;
}

/* Where nobody may look, the descriptor counts as the runtime's still: whether it takes a record will show. */
static bool is_of(const struct tp_own_file *file, int fd)
{
	struct stat st;

	if (fd < 0 || tp_sandboxed)
		return fd >= 0;
	if (stat_of(fd, &st) != 0)
		return is_forbidden(errno);
	return st.st_dev == __atomic_load_n(&file->device, __ATOMIC_RELAXED) &&
	       st.st_ino == __atomic_load_n(&file->inode, __ATOMIC_RELAXED);
}

int tp_above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;
	close(fd);
	errno = error;
	return above;
}

int tp_own_file_take(struct tp_own_file *file, int fd)
{
	struct stat st;

	fd = tp_above_standard(fd);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st) != 0) {
		int error = errno;
		close(fd);
		return error;
	}
	*file = (struct tp_own_file){.opened = (uint32_t)fd, .device = st.st_dev, .inode = st.st_ino};
	return 0;
}

int tp_own_file_borrow(struct tp_own_file *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	*file = (struct tp_own_file){
		.opened = (uint32_t)fd, .device = st.st_dev, .inode = st.st_ino, .borrowed = true,
	};
	return 0;
}

int tp_own_file_descriptor(const struct tp_own_file *file)
{
	int fd = descriptor(__atomic_load_n(&file->opened, __ATOMIC_RELAXED));

	return is_of(file, fd) ? fd : -1;
}

/* Two who do this at once may leave a mixture. It is of no file, or of one of theirs, and is soon put right. */
static void become(struct tp_own_file *file, const struct stat *st)
{
	__atomic_store_n(&file->device, st->st_dev, __ATOMIC_RELAXED);
	__atomic_store_n(&file->inode, st->st_ino, __ATOMIC_RELAXED);
}

/*
 * Several may come here at the same time. The count above the descriptor tells
 * whoever is late that another was faster, even where that one has got the old
 * number again.
 */
int tp_own_file_get(struct tp_own_file *file, int (*open_again)(const void *data), const void *data, bool any, int *error)
{
	uint64_t old = __atomic_load_n(&file->opened, __ATOMIC_RELAXED);
	struct stat st;

	if (is_of(file, descriptor(old)))
		return descriptor(old);
	int fd = tp_above_standard(open_again(data));
	if (fd < 0) {
		*error = errno;
		return -1;
	}
	if (any && fstat(fd, &st) == 0)
		become(file, &st);
	if (!is_of(file, fd)) {
		close(fd);
		*error = ENOENT;
		return -1;
	}
	uint64_t opened = ((old >> 32) + 1) << 32 | (uint32_t)fd;
	if (__atomic_compare_exchange_n(&file->opened, &old, opened, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return fd;
	close(fd);
	return descriptor(old);
}

void tp_own_file_close(const struct tp_own_file *file)
{
	int fd = tp_own_file_descriptor(file);

	if (fd >= 0 && !file->borrowed)
		close(fd);
}
