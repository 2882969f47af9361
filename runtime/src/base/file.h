/* SPDX-License-Identifier: MIT */
/*
 * base/file.h - files, directories and descriptors in a program whose limits and signals are its own, and which may close
 * what it does not know. Errors are errno values.
 */
#ifndef TP_FILE_H
#define TP_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* False where posix_fallocate or write would be answered with SIGXFSZ. */
bool tp_file_size_allowed(uint64_t size);

/* Writes all of it. 0 or an error. */
int tp_file_write(int fd, const void *data, size_t len);

/*
 * Opens a file for an output, by the name that the user gave, for writing or with O_RDWR; it is made with this mode if there is none. As open(), but
 * EACCES also where tp_file_is_foreign(). Without it, another user could put a link or a FIFO there, and so have the program
 * write to a file of its own, or wait for ever. In a sandbox, where it would take more system calls, it does not look.
 */
int tp_file_open(const char *path, int flags, mode_t mode);

/*
 * An older file of the name makes way for a new one: whoever reads it keeps it. 0, or an errno value: EINVAL, it is no regular
 * file; EACCES, it is foreign, as below; EEXIST, a process writes to it still, which has a lock on it by flock(2).
 */
int tp_file_make_way(const char *path);

/*
 * Whether a part of the path, its first len bytes, is a file, a link, a directory ... of another user, in a directory that
 * others may write to, such as /tmp. That directory's owner may do there what he wants. As fs.protected_symlinks and
 * fs.protected_regular are by 1 and 2, whatever they are; and what is further along the path is that other user's to choose.
 */
bool tp_file_is_foreign(const char *path, size_t *len, uid_t *owner);

/* The same of what fd has open, which has its name in that directory. */
bool tp_file_is_foreign_in(int directory, int fd, uid_t *owner);

/*
 * Renames a file, unless there is one of the new name already: EEXIST. Paths are relative to the directories. EINVAL, ENOSYS:
 * the file system can't do that, or the kernel.
 */
int tp_file_rename_new(int old_dir, const char *old, int new_dir, const char *new);

/* Closes this descriptor, and all that have higher numbers. */
void tp_file_close_from(unsigned int first);

/* "DIR/" and "DIR/." become "DIR": they would follow DIR where it is a link, O_NOFOLLOW or not. */
void tp_path_trim(char *path);

/* ---- What is in a directory, as by readdir(3), but safe in signal handlers ---- */

struct tp_directory {
	int fd;    /* of its own */
	int error; /* an errno value; then there is no next one */
	const char *name; /* the last that was returned */
	size_t at, len;
	char entries[2048] __attribute__((aligned(8)));
};

/* dir is a descriptor of the directory, and stays so. An error is in the structure. */
void tp_directory_open(struct tp_directory *directory, int dir);

/* Without "." and "..". NULL: that was all, or there is an error. The name is there until the next call. */
const char *tp_directory_next(struct tp_directory *directory);

/* Whether the entry, the last that was returned, is S_IFREG, S_IFDIR, ... itself: no link is followed. */
bool tp_directory_is(const struct tp_directory *directory, mode_t type);

void tp_directory_close(struct tp_directory *directory);

/*
 * A write that fails must not end the program: the signals that it raises are held back, and taken away again.
 */

struct tp_write_signals {
	sigset_t old;
	sigset_t pending;
};

/* Holds back SIGPIPE, and SIGXFSZ of a file that is as long as the limit allows. In a sandbox neither does anything. */
void tp_write_signals_hold(struct tp_write_signals *signals);

/* Lets them through again. Where the write has failed, those that it raised are gone, or stay held back. Keeps errno. */
void tp_write_signals_release(const struct tp_write_signals *signals, bool failed);

/*
 * A program that will forbid itself system calls, by a seccomp filter that ends it for
 * others. docs/internals/system-calls.md has those that the runtime makes.
 */

/*
 * TP_SANDBOX=1: what the runtime does for safety's and for comfort's sake is left out, where that takes system
 * calls after a sink's opening. The program closes no descriptors of the runtime's, and its files stay where they are.
 */
extern bool tp_sandboxed;

void tp_sandbox_start(void); /* once a process */

/*
 * A descriptor of ours in a program that may close it. Daemons close every descriptor that they don't know, and
 * the number may be another file's by now: nothing must be written to that one. Where a filter refuses to say
 * which file a descriptor is of, and in a sandbox, it is taken for the one that it was.
 */

/* A descriptor, and which file it is of. */
struct tp_guarded_fd {
	uint64_t opened; /* the descriptor in the lower half; above it, how often the file was opened again */
	dev_t device;
	ino_t inode;
	mode_t type;   /* S_IFMT of the file; 0 where a filter has hidden what the descriptor is of by now */
	int mark;      /* see tp_guarded_fd_mark(); 0: none */
	bool borrowed; /* it is the program's, to close */
};

/* One that is not open. */
#define TP_GUARDED_FD_NONE {.opened = UINT32_MAX}

/* Errors are errno values. */

/* fd, which becomes the runtime's, is of the file from now on. An error, and fd is closed then. fd below 0: errno. */
int tp_guarded_fd_take(struct tp_guarded_fd *file, int fd);

/*
 * fd is the program's own, such as its standard error. It is used as long as it
 * is of the file that it is of now, and never closed. 0, or an error: it is not open.
 */
int tp_guarded_fd_borrow(struct tp_guarded_fd *file, int fd);

/*
 * To be called after tp_guarded_fd_take() where the descriptor is asked for with each record: from now on, a system call
 * that takes half as long as fstat() tells that it is still the one that the runtime has opened. If the kernel has no such
 * mark, or there is none left, fstat() tells.
 */
void tp_guarded_fd_mark(struct tp_guarded_fd *file);

/* The descriptor, while it is of the file still; or -1. */
int tp_guarded_fd_descriptor(const struct tp_guarded_fd *file);

/*
 * The descriptor. Where it is not of the file any more: the one that
 * open_again(data) returns, if that is of the same file, or where another one
 * will do (any). -1 with *error set where there is none; ENOENT: it is another
 * file. Threads and signal handlers may call this at the same time.
 */
int tp_guarded_fd_get(struct tp_guarded_fd *file, int (*open_again)(const void *data), const void *data, bool any, int *error);

/* Closes it, if it is of the file still. */
void tp_guarded_fd_close(const struct tp_guarded_fd *file);

/*
 * fd, or another for it that is none of the standard numbers, should they be
 * free: the program would write its messages there. Negative, with errno set,
 * where fd is negative or there is no other.
 */
int tp_above_standard(int fd);

#endif /* TP_FILE_H */
