/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/begin.h - the directory that the process makes which records, and those of chapters: begin.c.
 */
#ifndef TP_CTF_BEGIN_H
#define TP_CTF_BEGIN_H

#include <stdbool.h>

struct tp_ctf_dir;
struct tp_ctf_packet;
struct tp_ctf_sink;

/* Sets the sink's path from a name with %p, and its pattern, if %p is in the last part of the name. No path: no memory. */
void tp_ctf_begin_name(struct tp_ctf_sink *sink, const char *name);

/* The same for a name that may be without %p, of a trace that has chapters. False: no memory. */
bool tp_ctf_begin_chapters(struct tp_ctf_sink *sink);

/* Instead of tp_ctf_dir_open(): earlier traces make way first. The former where there is a pattern. */
int tp_ctf_begin_later(struct tp_ctf_sink *sink);
int tp_ctf_begin_now(struct tp_ctf_sink *sink);

/* The same in a directory that was passed: fd is closed where it fails. */
int tp_ctf_begin_in(struct tp_ctf_sink *sink, int fd);

/*
 * The directory's file descriptor, or -1 and an error. Makes the directory, should the
 * process have none yet. The caller is its user. Called in tp_guard_enter().
 */
int tp_ctf_begin(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, int *error);

/*
 * The trace goes on in a new directory, the old one makes way. 0 or an errno value: then it goes on where it is.
 * empty: those that were there, in the old one. Under tp_events_lock.
 */
int tp_ctf_begin_chapter(struct tp_ctf_sink *sink, struct tp_ctf_packet **empty);

/* Removes the chapters that are too many. Without a lock. In tp_guard_enter(). */
void tp_ctf_begin_tidy(struct tp_ctf_sink *sink);

/* In a forked child: it is to have one of its own. */
void tp_ctf_begin_anew(struct tp_ctf_sink *sink);

#endif /* TP_CTF_BEGIN_H */
