/* SPDX-License-Identifier: MIT */
/*
 * base/file.c - see file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

bool tp_file_size_allowed(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

int tp_file_write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* ---- Files by the name that the user gave ---- */

/* Without the C library, as not every one has it. */
int tp_file_rename_new(int old_dir, const char *old, int new_dir, const char *new)
{
	return syscall(SYS_renameat2, old_dir, old, new_dir, new, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

void tp_path_trim(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && (path[len - 1] == '/' || (path[len - 1] == '.' && path[len - 2] == '/')))
		path[--len] = '\0';
}

static bool others_may_write(const struct stat *directory)
{
	return directory->st_mode & S_IWOTH || (directory->st_mode & S_ISVTX && directory->st_mode & S_IWGRP);
}

static bool is_foreign(const struct stat *st, const struct stat *directory)
{
	return st->st_uid != geteuid() && others_may_write(directory) && st->st_uid != directory->st_uid;
}

/* Where the next part of the path ends, behind len bytes of it. */
static size_t next_part(const char *path, size_t len)
{
	len += strspn(path + len, "/");
	return len + strcspn(path + len, "/");
}

/*
 * Goes along the path, up to its last part or the first that is foreign: that ends behind *len bytes, and is st. 0, or an
 * errno value: the part can't be looked at.
 */
static int go_along(const char *path, struct stat *st, size_t *len, bool *foreign)
{
	char part[PATH_MAX];
	struct stat directory;

	*st = (struct stat){.st_mode = 0};
	*len = 0;
	*foreign = false;
	if (strlen(path) >= sizeof(part))
		return ENAMETOOLONG;
	strcpy(part, *path == '/' ? "/" : ".");
	for (size_t end = next_part(path, 0); end > *len && path[end - 1] != '/'; end = next_part(path, end)) {
		if (stat(part, &directory) != 0)
			return errno;
		memcpy(part, path, end);
		part[end] = '\0';
		*len = end;
		if (lstat(part, st) != 0)
			return errno;
		*foreign = is_foreign(st, &directory);
		if (*foreign)
			break;
	}
	return 0;
}

bool tp_file_is_foreign(const char *path, size_t *len, uid_t *owner)
{
	struct stat st;
	bool foreign;

	if (go_along(path, &st, len, &foreign) != 0 || !foreign)
		return false;
	*owner = st.st_uid;
	return true;
}

bool tp_file_is_foreign_in(int directory, int fd, uid_t *owner)
{
	struct stat st, above;

	if (fstat(fd, &st) != 0 || fstat(directory, &above) != 0 || !is_foreign(&st, &above))
		return false;
	*owner = st.st_uid;
	return true;
}

/* What must hold of the file still when it is opened: others may have put one there meanwhile. Or a negative errno value. */
static int flags_of(const char *path)
{
	struct stat st;
	bool foreign;
	size_t len;
	const int error = go_along(path, &st, &len, &foreign);

	if (error == ENOENT)
		return path[len] ? -ENOENT : O_CREAT | O_EXCL;
	if (error) /* open() may have another answer: a filter that forbids to look need not forbid that */
		return O_CREAT;
	if (foreign)
		return -EACCES;
	return S_ISLNK(st.st_mode) ? O_CREAT : O_CREAT | O_NOFOLLOW;
}

int tp_file_open(const char *path, int flags, mode_t mode)
{
	int fd, more, tries = 10;

	do {
		more = tp_sandboxed ? O_CREAT : flags_of(path);
		if (more < 0) {
			errno = -more;
			return -1;
		}
		fd = open(path, flags | more | (flags & O_RDWR ? 0 : O_WRONLY) | O_CLOEXEC | O_NOCTTY, mode);
	} while (fd < 0 && errno == EEXIST && more & O_EXCL && --tries);
	return fd;
}

/* If a process has it open still, and has it mapped, it must not be replaced: EEXIST. It is locked meanwhile, so that nobody begins to write to it. */
static int remove_unlocked(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY); /* NFS wants it writable for such a lock */
	const bool is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	const int error = is_locked ? EEXIST : unlink(path) == 0 || errno == ENOENT ? 0 : errno;

	if (fd >= 0)
		close(fd);
	return error;
}

int tp_file_make_way(const char *path)
{
	struct stat st;
	uid_t owner;
	size_t len;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : errno;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	if (tp_file_is_foreign(path, &len, &owner))
		return EACCES;
	return remove_unlocked(path);
}

/* ---- Directories: readdir(3) would need malloc ---- */

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

/* Kernels before 5.9 have no such call. Closing a descriptor does not make the directory leave out another one. */
void tp_file_close_from(unsigned int first)
{
	struct tp_directory list;

	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	const int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tp_directory_open(&list, fd);
	while (tp_directory_next(&list)) {
		const int found = atoi(list.name);
		if (found >= (int)first && found != fd && found != list.fd)
			close(found);
	}
	tp_directory_close(&list);
	close(fd);
}

/* ---- A write that fails raises no signal ---- */

static const int held[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
#define NR_HELD (sizeof(held) / sizeof(held[0]))

void tp_write_signals_hold(struct tp_write_signals *signals)
{
	bool blocked = false;
	sigset_t set;

	if (tp_sandboxed)
		return;
	sigemptyset(&set);
	for (size_t i = 0; i < NR_HELD; i++)
		sigaddset(&set, held[i]);
	sigemptyset(&signals->old); /* a filter may forbid to ask, and then to set it again */
	pthread_sigmask(SIG_BLOCK, &set, &signals->old);
	for (size_t i = 0; i < NR_HELD; i++)
		blocked |= sigismember(&signals->old, held[i]) == 1;
	sigemptyset(&signals->pending); /* what was not blocked is not pending either */
	if (blocked)
		sigpending(&signals->pending);
}

/* Those that were not pending before. False where a filter forbids it. */
static bool take_away(const struct tp_write_signals *signals)
{
	const struct timespec no_time = {.tv_sec = 0};
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < NR_HELD; i++) {
		if (!sigismember(&signals->pending, held[i]))
			sigaddset(&ours, held[i]);
	}
	while (sigtimedwait(&ours, NULL, &no_time) > 0 || errno == EINTR)
		;
	return errno == EAGAIN;
}

void tp_write_signals_release(const struct tp_write_signals *signals, bool failed)
{
	int error = errno;

	if (tp_sandboxed)
		return;
	/* Where they can't be taken away, they stay held back: one of them would end the program. */
	if (!failed || take_away(signals))
		pthread_sigmask(SIG_SETMASK, &signals->old, NULL);
	errno = error;
}

/* ---- A program in a sandbox ---- */

bool tp_sandboxed;

void tp_sandbox_start(void)
{
	const char *value = secure_getenv("TP_SANDBOX");

	tp_sandboxed = value && *value && strcmp(value, "0") != 0;
}

/* ---- Descriptors that the program may close ---- */

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

/* Two who do this at once may leave a mixture. It is of no file, or of one of theirs, and is soon put right. */
static void become(struct tp_guarded_fd *file, const struct stat *st)
{
	__atomic_store_n(&file->device, st->st_dev, __ATOMIC_RELAXED);
	__atomic_store_n(&file->inode, st->st_ino, __ATOMIC_RELAXED);
	__atomic_store_n(&file->type, st->st_mode & S_IFMT, __ATOMIC_RELAXED);
}

enum answer { NO, YES, UNKNOWN };

static enum answer is_of_the_file(const struct tp_guarded_fd *file, int fd)
{
	struct stat st;

	if (stat_of(fd, &st) != 0)
		return is_forbidden(errno) ? UNKNOWN : NO;
	return st.st_dev == __atomic_load_n(&file->device, __ATOMIC_RELAXED) &&
		st.st_ino == __atomic_load_n(&file->inode, __ATOMIC_RELAXED) ? YES : NO;
}

/* ---- Marks ---- */

/*
 * A mark is the signal that the kernel would send for the open file (F_SETSIG) if somebody had asked it to (O_ASYNC),
 * which nobody does. It stays with what open() has made, whatever becomes of the number. Nobody has use for one of these
 * signals there, so the files of others do not have them; and no two files of a runtime have the same one.
 */
static const int marks[] = {SIGXFSZ, SIGXCPU,   SIGSYS,  SIGTRAP, SIGILL,  SIGFPE,  SIGBUS,  SIGSEGV, SIGABRT,
			    SIGPIPE, SIGVTALRM, SIGPROF, SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP, SIGKILL};
#define NR_MARKS (sizeof(marks) / sizeof(marks[0]))

static uint32_t marks_in_use; /* a bit each */

/* UNKNOWN where a filter forbids to ask. */
static enum answer has_mark(int fd, int mark)
{
	const int found = fcntl(fd, F_GETSIG);

	if (found < 0)
		return is_forbidden(errno) ? UNKNOWN : NO;
	return found == mark ? YES : NO;
}

static int take_mark(void)
{
	for (size_t i = 0; i < NR_MARKS; i++) {
		const uint32_t bit = UINT32_C(1) << i;
		if (!(__atomic_fetch_or(&marks_in_use, bit, __ATOMIC_RELAXED) & bit))
			return marks[i];
	}
	return 0;
}

static void give_mark_back(int mark)
{
	for (size_t i = 0; i < NR_MARKS; i++) {
		if (marks[i] == mark)
			__atomic_fetch_and(&marks_in_use, ~(UINT32_C(1) << i), __ATOMIC_RELAXED);
	}
}

void tp_guarded_fd_mark(struct tp_guarded_fd *file)
{
	const int fd = descriptor(file->opened);

	file->mark = tp_sandboxed ? 0 : take_mark();
	if (!file->mark)
		return;
	fcntl(fd, F_SETSIG, file->mark);
	/* The number may have become another file's before it was marked. */
	if (has_mark(fd, file->mark) == YES && is_of_the_file(file, fd) != NO)
		return;
	fcntl(fd, F_SETSIG, 0);
	give_mark_back(file->mark);
	file->mark = 0;
}

/* ---- Descriptors ---- */

/* Where nobody may look, the descriptor counts as the runtime's still: whether it takes a record will show. */
static enum answer is_of(const struct tp_guarded_fd *file, int fd)
{
	if (fd < 0 || tp_sandboxed)
		return fd >= 0 ? YES : NO;
	const enum answer marked = file->mark ? has_mark(fd, file->mark) : UNKNOWN;
	return marked != UNKNOWN ? marked : is_of_the_file(file, fd);
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

int tp_guarded_fd_take(struct tp_guarded_fd *file, int fd)
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
	*file = (struct tp_guarded_fd){.opened = (uint32_t)fd};
	become(file, &st);
	return 0;
}

int tp_guarded_fd_borrow(struct tp_guarded_fd *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	*file = (struct tp_guarded_fd){.opened = (uint32_t)fd, .borrowed = true};
	become(file, &st);
	return 0;
}

int tp_guarded_fd_descriptor(const struct tp_guarded_fd *file)
{
	int fd = descriptor(__atomic_load_n(&file->opened, __ATOMIC_RELAXED));

	return is_of(file, fd) != NO ? fd : -1;
}

/*
 * Several may come here at the same time. The count above the descriptor tells
 * whoever is late that another was faster, even where that one has got the old
 * number again.
 */
int tp_guarded_fd_get(struct tp_guarded_fd *file, int (*open_again)(const void *data), const void *data, bool any, int *error)
{
	uint64_t old = __atomic_load_n(&file->opened, __ATOMIC_RELAXED);
	const enum answer answer = is_of(file, descriptor(old));
	struct stat st;

	if (answer == UNKNOWN)
		__atomic_store_n(&file->type, 0, __ATOMIC_RELAXED);
	if (answer != NO)
		return descriptor(old);
	int fd = tp_above_standard(open_again(data));
	if (fd < 0) {
		*error = errno;
		return -1;
	}
	if (any && fstat(fd, &st) == 0)
		become(file, &st);
	if (file->mark)
		fcntl(fd, F_SETSIG, file->mark);
	/* After the mark, which may have got to another's file. */
	if (!tp_sandboxed && is_of_the_file(file, fd) == NO) {
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

void tp_guarded_fd_close(const struct tp_guarded_fd *file)
{
	int fd = tp_guarded_fd_descriptor(file);

	if (fd >= 0 && !file->borrowed)
		close(fd);
	give_mark_back(file->mark);
}
