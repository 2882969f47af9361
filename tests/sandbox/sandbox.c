/* SPDX-License-Identifier: MIT */
/*
 * A program in a sandbox of system calls:
 *
 *	sandbox MOMENT watch                what is called at this moment, in this order
 *	sandbox MOMENT kill CALL...         nothing but these calls is allowed; others end the process by SIGSYS
 *	sandbox MOMENT EPERM|ENOSYS CALL... these calls fail so; others are allowed
 *
 * The filter is that of one thread, the subject, which has recorded before, or not, as the moment wants it. It is in
 * force from just before the moment to just behind it, where the subject stays: so nothing that the program does for
 * itself is in it, but for what the moment is about (fork, dlopen, exit). Prints how often the tracepoints were hit,
 * and how many records of them the sink has lost. The last moments are those of a whole process: "life", with one
 * filter for all threads; "alone", with one thread; "workers", with threads that have a filter of their own, whose
 * calls stand behind "--". SANDBOX_LIMITS forbids further files, bytes in files and processes.
 *
 * CALL is a name; NAME:ARGUMENT=VALUE, a call with this value only; NAME:ARGUMENT&MASK, one with no other bits; or
 * NAME!ERROR, one that fails so in a filter that kills.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "program.h"

char **arguments;
int may_begin, is_over;
struct shared *shared;

void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "sandbox: %s: %s\n", what, strerror(errno));
	exit(1);
}

void stay(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* By no more than one kind of call, as the filter of a whole process may be in force. */
static void tell(const char *what, unsigned long number)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s%lu\n", what, number);

	must(write(STDOUT_FILENO, line, (size_t)len) == len, "write");
}

static void *subject(void *data)
{
	const struct moment *moment = data;

	while (!__atomic_load_n(&may_begin, __ATOMIC_ACQUIRE))
		sched_yield();
	moment->before();
	enter_filter(arguments + 1, false);
	if (moment->at) {
		moment->at();
		stay();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct moment *moment = argc > 2 ? moment_of(argv[1]) : NULL;
	void (*process)(void) = argc > 2 ? process_of(argv[1]) : NULL;
	pthread_t thread;

	must(moment || process, "usage: sandbox MOMENT watch|kill|EPERM|ENOSYS CALL...");
	arguments = argv + 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	if (process) {
		process();
	} else {
		must(pthread_create(&thread, NULL, subject, (void *)moment) == 0, "pthread_create");
		wait_for_subject();
	}
	tell("hits=", (unsigned long)__atomic_load_n(&hits, __ATOMIC_RELAXED));
	tell("lost=", lost() + lost_by_child);
	return 0;
}
