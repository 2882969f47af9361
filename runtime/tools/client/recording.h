/* SPDX-License-Identifier: MIT */
/* recording.h - a trace that a process writes into a directory of the operator's. */
#ifndef RECORDING_H
#define RECORDING_H

#include "client/session.h"
#include "read/growth.h"

/* Zeros are none. */
struct recording {
	struct session session;
	char *path;   /* absolute */
	bool alone;   /* in the directory that was asked for, which is called as the trace, then */
	int dir;      /* a descriptor of it; -1: none */
	bool made;    /* it was not there before */
	bool over;
	struct trace_growth growth;
	struct trace_count count; /* of the last recording_count() */
};

/*
 * Makes the directory, and hands it to the process whose session is open: "open ctf PATH,OPTIONS". One of several gets a
 * name of its own below path, which is made, or was empty, at the first. So it does where root records a process of root's, which may
 * become another user, or fork children that do: then whoever has the descriptor may write to it, but nobody else can enter path.
 * False, and a message; nothing is left behind.
 */
bool recording_open(struct recording *recording, const char *path, const char *options);

/* As session_enable(). If that fails, a directory that was made goes again. */
bool recording_enable(struct recording *recording, const char *rules);

/* Only makes the directory, which is the user's under whom the process runs. */
bool recording_directory(struct recording *recording, const char *path);

/* Takes the trace away, in which nothing was recorded, if its directory was made for it. */
void recording_remove(struct recording *recording);

/* Removes the directory again if it was made and is empty. */
void recording_undo(struct recording *recording);

void recording_close(struct recording *recording);

/* How much has been recorded so far, as far as it can be read now. */
void recording_count(struct recording *recording);

/* What the trace is called, absolute: the directory that was asked for, or its own one. */
const char *recording_name(const struct recording *recording);

/*
 * From now on each trace has a name of its own below path, which is made, or was empty. Returns its absolute path; NULL, and a message.
 */
const char *recordings_share(const char *path);

/* Takes that directory away, if it was made and there is nothing in it. */
void recordings_end(void);

/* Takes a trace away, with the directories in it. */
void recorded_remove(const char *path);

/*
 * Says what is in the trace, and what was lost: by cause, NULL: as far as the trace says. name: as its directory is
 * called. title: of the process, NULL: as the trace says. Returns the number of events, which is not 0 where it is not known.
 */
unsigned long long tell_recorded(const char *path, const char *name, const char *title, const unsigned long *lost);

#endif /* RECORDING_H */
