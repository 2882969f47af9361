/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/dir.h - the directory of a trace, and the files that are opened in it: dir.c, spare.c.
 */
#ifndef TP_CTF_DIR_H
#define TP_CTF_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"

struct tp_ctf_owner;
struct tp_ctf_sink;

/*
 * The directory of a trace, or of one of its chapters, each of which is a trace of its own. Under tp_ctf_lock, but for the
 * first three, which stay while there is a user.
 */
struct tp_ctf_dir {
	struct tp_guarded_fd fd;
	void *hold;              /* see hold.h */
	uint64_t key;            /* of the slots whose streams are in it; the younger, the larger, among all sinks */
	struct tp_ctf_dir *next; /* of those that the sink has, from the newest on; or of those that are unused */
	unsigned int users;      /* the trace, if it is in it now, and whoever makes a file in it at this moment */
	uint64_t begun;          /* by CLOCK_MONOTONIC */
	uint64_t written;        /* bytes in those of its packets that are full; changes without the lock */
};

/* ---- dir.c: errors are errno values ---- */

/* The real path of the directory that the path's last part is in, to be freed. NULL with errno set; EACCES may have been told. */
char *tp_ctf_dir_parent(const char *path);

/* Opens it: by that path, and by the path of what is in it. -1 with errno set, as above. */
int tp_ctf_dir_open_at(const void *parent);
int tp_ctf_dir_open_parent(const char *path);

/*
 * Makes the directory where it is not there, and opens it. Its path is in the sink. EEXIST: there is a trace in it; ENOTEMPTY:
 * there are other files; EACCES: it may be another user's, which was told then.
 */
int tp_ctf_dir_open(struct tp_ctf_sink *sink);
void tp_ctf_dir_close(struct tp_ctf_sink *sink);

/* Takes a directory that somebody has passed, and that is never opened by a path; fd is closed where it fails. Not even hidden files may be in it. */
int tp_ctf_dir_take(struct tp_ctf_sink *sink, int fd);

/*
 * Its file descriptor, or -1 and an error. And that of the trace's current one: tp_events_lock is held, there are no chapters, or
 * tp_ctf_log_end() waits for the caller.
 */
int tp_ctf_dir_fd(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir, int *error);
int tp_ctf_dir(struct tp_ctf_sink *sink, int *error);

/* The current one, in which files are to be made: it stays until tp_ctf_dir_leave(). Both under tp_ctf_lock. */
struct tp_ctf_dir *tp_ctf_dir_enter(struct tp_ctf_sink *sink);
void tp_ctf_dir_leave(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir);

/* One that is not open. NULL: no memory. Called in tp_guard_enter(). */
struct tp_ctf_dir *tp_ctf_dir_new(struct tp_ctf_sink *sink);
void tp_ctf_dir_give_back(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir);

/* It becomes the current one; the caller is the user of the one before, then. Under tp_ctf_lock. */
void tp_ctf_dir_become(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir);

/* In a forked child: only the current one is left. */
void tp_ctf_dirs_forget(struct tp_ctf_sink *sink);

/* Gives it a key that is younger than all others, and returns that. Under tp_ctf_lock. */
uint64_t tp_ctf_dir_new_key(struct tp_ctf_dir *dir);

/* Whether the descriptor is of what has this name in dir. Safe in signal handlers, as the next. */
bool tp_ctf_is_at(int fd, int dir, const char *name);

/* 0, EEXIST, ENOTEMPTY or EACCES, as above. */
int tp_ctf_dir_check(const struct tp_ctf_sink *sink, int parent, int dir);

/*
 * A directory in dir, made if need be, and never through a link: the owner may have put one there. -1 and an error.
 * spare: where no descriptor is left, a spare one is taken, for which this may wait; tp_ctf_file_close() gives it back.
 */
int tp_ctf_subdirectory(struct tp_ctf_sink *sink, int dir, const char *name, bool spare, int *error);

/* What a message has to say of the error beside tp_strerror(): for one, "". */
const char *tp_ctf_remedy(int error);

/* Renames but never over what is there, as far as the file system can do that. 0 or an error. */
int tp_ctf_rename_new(int dir, const char *from, const char *to);

/* ---- spare.c: errors are errno values; called in tp_guard_enter(), but for tp_ctf_spare_close() and tp_ctf_files_forget() ---- */

/* Takes those that are missing, if there are any to be had. The sink's directory, or its parent, is open. */
void tp_ctf_spare_take(struct tp_ctf_sink *sink);
void tp_ctf_spare_close(const struct tp_ctf_sink *sink);

struct tp_ctf_file {
	int fd;
	enum tp_ctf_file_place {
		TP_CTF_FILE_KEPT,      /* the caller's; nobody waits for it */
		TP_CTF_FILE_BESIDE,    /* there was a descriptor for it; threads that find none wait for that */
		TP_CTF_FILE_FOR_SPARE, /* its descriptor was in reserve, and the lock of the spares is held */
	} place;
};

/*
 * As openat(2) with mode 0600, but also where no descriptor is left. With O_CREAT, the file is the owner's then, even if the
 * process changes its user at this moment. After 0, one of the other two follows soon, in the same thread: other threads may be
 * waiting for its descriptor.
 */
int tp_ctf_file_open(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags);

/* The same for a new one. */
int tp_ctf_file_create(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags);

/* Gives a file that was made to the owner. Not root's: it does nothing. */
void tp_ctf_give(const struct tp_ctf_owner *owner, int fd);

int tp_ctf_file_close(struct tp_ctf_sink *sink, struct tp_ctf_file *file);
void tp_ctf_file_keep(struct tp_ctf_file *file); /* its descriptor is the caller's from here on */

/* In a forked child: the threads that had files open are not there. */
void tp_ctf_files_forget(void);

#endif /* TP_CTF_DIR_H */
