/* SPDX-License-Identifier: MIT */
/*
 * base/guarded_fd.h - a descriptor of ours in a program that may close it.
 * Daemons close every descriptor that they don't know, and the number may be
 * another file's by now: nothing must be written to that one. Where a filter refuses to say which file a
 * descriptor is of, and in a sandbox, it is taken for the one that it was.
 */
#ifndef TP_GUARDED_FD_H
#define TP_GUARDED_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif /* TP_GUARDED_FD_H */
