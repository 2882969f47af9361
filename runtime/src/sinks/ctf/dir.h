/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir.h - the directory of a trace, and the files that are opened in it: dir.c, spare.c.
 */
#ifndef TP_CTF_DIR_H
#define TP_CTF_DIR_H

#include <stdbool.h>

struct tp_ctf_owner;
struct tp_ctf_sink;

/* ---- dir.c: errors are errno values ---- */

/*
 * Makes the directory where it is not there, and opens it. Its path is in the
 * sink. EEXIST: there is a trace in it; ENOTEMPTY: there are other files.
 */
int tp_ctf_dir_open(struct tp_ctf_sink *sink);
void tp_ctf_dir_close(struct tp_ctf_sink *sink);

/* Takes a directory that somebody has passed, and that is never opened by a path; fd is closed where it fails. Not even hidden files may be in it. */
int tp_ctf_dir_take(struct tp_ctf_sink *sink, int fd);

/* The directory's file descriptor, or -1 and an error. */
int tp_ctf_dir(struct tp_ctf_sink *sink, int *error);

/* Takes the slashes at the end of a path away: behind one, a link would be followed. */
void tp_ctf_dir_trim(char *path);

/* Whether the descriptor is of what has this name in dir. Safe in signal handlers, as the next. */
bool tp_ctf_is_at(int fd, int dir, const char *name);

/* 0, EEXIST or ENOTEMPTY, as above. */
int tp_ctf_dir_check(int dir);

/* Gives a file that was made to the owner. Not root's: it does nothing. */
void tp_ctf_give(const struct tp_ctf_owner *owner, int fd);

/*
 * A directory in dir, made if need be, and never through a link: the owner may have put one there. -1 and an error.
 * spare: where no descriptor is left, a spare one is taken, for which this may wait; tp_ctf_file_close() gives it back.
 */
int tp_ctf_subdirectory(struct tp_ctf_sink *sink, int dir, const char *name, bool spare, int *error);

/* What a message has to say of the error beside tp_strerror(): for one, "". */
const char *tp_ctf_remedy(int error);

/* Renames but never over what is there, as far as the file system can do that. 0 or an error. */
int tp_ctf_rename_new(int dir, const char *from, const char *to);

/* ---- spare.c: errors are errno values; called in tp_guard_enter(), but for the first and tp_ctf_spare_close() ---- */

/* Once a process. */
void tp_ctf_spare_start(void);

/* Takes those that are missing, if there are any to be had. The sink's directory, or its parent, is open. */
void tp_ctf_spare_take(struct tp_ctf_sink *sink);
void tp_ctf_spare_close(const struct tp_ctf_sink *sink);

struct tp_ctf_file {
	int fd;
	bool for_spare; /* the descriptor was in reserve */
};

/*
 * As openat(2) with mode 0600, but also where no descriptor is left. After 0, one of the
 * other two follows soon, in the same thread: other threads may be waiting for the spare.
 */
int tp_ctf_file_open(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags);
int tp_ctf_file_close(struct tp_ctf_sink *sink, struct tp_ctf_file *file);
void tp_ctf_file_keep(struct tp_ctf_file *file); /* its descriptor is the caller's from here on */

#endif /* TP_CTF_DIR_H */
