/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - a program that records what can be proved afterwards. recorder.c
 * has its commands, threads.c what its threads do, processes.c what happens to
 * processes, and check.c is a program that looks at what a reader says.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Characters of an event's text, at most. */
#define TEXT_MAX 4096

/* What check finds in an event of who with this number, and a text of so many characters. */
static inline unsigned long check_of(unsigned long who, unsigned long number, unsigned long length)
{
	return (number + 1) * 0x9e3779b97f4a7c15u ^ who << 40 ^ length << 20;
}

static inline char letter_of(unsigned long number)
{
	return (char)('a' + number % 26);
}

/* ---- What outlives the process: a file that is mapped; recording.py reads it ---- */

/* A numbered sequence of events: of a thread, or of one of its signal handlers. */
struct who {
	uint64_t hits; /* trace_record_hit() has returned so often */
	int32_t tid;
	int32_t pid;
	uint64_t unused[6]; /* a cache line */
};

#define NR_WHOS 20000

struct shared {
	uint32_t nr_whos;
	uint32_t unused[15];
	struct who whos[NR_WHOS];
};

extern struct shared *shared;
extern const char *shared_path;

/* So many in a row, for the calling thread; the first of them. */
unsigned int take_whos(unsigned int nr);

/* Records the next event of who. */
void hit(unsigned int who);
bool is_recorded(void);

extern struct options {
	unsigned long text;    /* characters of a text, at most */
	unsigned long pace;    /* a thread rests after so many events */
	unsigned long limit;   /* and ends after so many */
	unsigned long forks;   /* and forks a child after so many, that records some */
	unsigned long signals; /* the recording threads are hit by that many a second, each */
} options;

/* ---- threads.c: commands ---- */

void start_threads(const char *nr);
void stop_threads(const char *unused);
void run_short_threads(const char *nr);
void wait_for_hits(const char *nr);
void hold_threads(const char *unused); /* between two events */
void let_threads_record(const char *nr);
void release_threads(const char *unused);
void forget_threads(void);

/* ---- processes.c: commands ---- */

extern char **rest; /* the commands that follow */
void fork_children(const char *nr);
void reap_children(const char *unused);
void vfork_often(const char *nr);
void become_daemon(const char *unused);
void exec_again(const char *unused);
void catch_crashes(const char *how);
void stick_in_a_probe(const char *unused);
void crash(const char *how);
bool child_records(unsigned long events);

/* ---- recorder.c ---- */

void die(const char *what) __attribute__((noreturn));
unsigned long number(const char *text);

#endif /* RECORDER_H */
