/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/options.h - how the user wants a trace: options.c.
 */
#ifndef TP_CTF_OPTIONS_H
#define TP_CTF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* More context of each event. */
enum {
	TP_CTF_CPU = 1 << 0,
	TP_CTF_PID = 1 << 1,
	TP_CTF_NAME = 1 << 2, /* of the thread, as it was when its packet was begun */
};

#define TP_CTF_NAME_SIZE 16 /* as the system has it */

/* Whose the trace's files are to be, where root makes them. */
struct tp_ctf_owner {
	bool set;
	uid_t user;
	gid_t group;
};

/* How records come into a packet's file. */
enum tp_ctf_write {
	TP_CTF_WRITE_BY_FILE_SYSTEM,
	TP_CTF_WRITE_MAP,  /* they are stored in it */
	TP_CTF_WRITE_CALL, /* they are copied into it, by a system call each */
};

/* Who makes a stream's packets. */
enum tp_ctf_prepare {
	TP_CTF_PREPARE_BY_PROCESS, /* not said: the helper, but in a sandbox */
	TP_CTF_PREPARE_SELF,       /* the threads that record */
	TP_CTF_PREPARE_THREAD,     /* the helper */
};

struct tp_ctf_options {
	bool flight;          /* packets stay mapped, for records to come */
	enum tp_ctf_prepare prepare;
	bool overwrite;       /* at the limits: the oldest packet goes, not the new record */
	unsigned int context; /* TP_CTF_CPU ... */
	size_t packet;        /* bytes, a multiple of the page size */
	uint64_t packets;     /* of a stream */
	uint64_t size;        /* bytes of all packets of the process */
	uint64_t keep;        /* of earlier traces, so many; UINT64_MAX: all */
	bool rotate;          /* the trace has chapters: a new one is begun ... */
	uint64_t rotate_size; /* ... after so many bytes ... */
	uint64_t rotate_time; /* ... or nanoseconds; UINT64_MAX: any number */
	struct tp_ctf_owner owner;
	enum tp_ctf_write write;
};

/* False, after saying what is wrong with which, where these are no options (NULL is none) of the trace in path. */
bool tp_ctf_options_parse(struct tp_ctf_options *options, const char *text, const char *path);

#endif /* TP_CTF_OPTIONS_H */
