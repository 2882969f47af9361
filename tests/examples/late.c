/* SPDX-License-Identifier: MIT */
/*
 * late.c - a thread beside examples/state's server, which switches its events on and off from outside of the server's own
 * code: as the one of the two descriptors says that LATE has, a line each, answered on the other.
 *
 *	on FILE       into a text file
 *	off           closes that
 *	rounds N K    N times: on, waits until K connections were recorded by conn_state, and off
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

static struct tp_sink *late;
static FILE *file;

/* ---- A sink that counts ---- */

static unsigned int states, others;

static bool count(struct tp_record *rec)
{
	__atomic_fetch_add(strcmp(rec->event->name, "conn_state") == 0 ? &states : &others, 1, __ATOMIC_RELAXED);
	return false;
}

static int close_it(struct tp_sink *sink)
{
	(void)sink;
	return 0;
}

static const struct tp_sink_ops counting = {.name = "counting", .reserve = count, .close = close_it};

static unsigned int rounds(unsigned int nr, unsigned int wanted)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct tp_sink sink;
		__atomic_store_n(&states, 0, __ATOMIC_RELAXED);
		if (tp_sink_open(&sink, &counting) != 0 || tp_enable(&sink, "conn:*") != 4)
			return 0;
		while (__atomic_load_n(&states, __ATOMIC_RELAXED) < wanted)
			usleep(10);
		tp_sink_close(&sink);
		good += __atomic_load_n(&states, __ATOMIC_RELAXED) == wanted;
	}
	return good;
}

/* ---- Commands ---- */

static int on(const char *name)
{
	file = fopen(name, "w");
	if (!file)
		return -1;
	setvbuf(file, NULL, _IONBF, 0);
	late = tp_text_sink(file);
	return late ? tp_enable(late, "conn:*") : -1;
}

static int off(void)
{
	int error = tp_sink_close(late);

	fclose(file);
	return error;
}

/* Not by a FILE, which dprintf() has, too: exit() would flush it again if this thread had just done so. */
static void answer_with(int fd, int answer)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", answer);

	if (write(fd, text, (size_t)len) != len)
		perror("late: write");
}

static void *obey(void *unused)
{
	char line[512], word[16], name[256];
	unsigned int nr, wanted;
	int from = -1, to = -1;

	sscanf(getenv("LATE"), "%d %d", &from, &to);
	FILE *commands = fdopen(from, "r");
	while (commands && fgets(line, sizeof(line), commands)) {
		int answer = -1;
		if (sscanf(line, "rounds %u %u", &nr, &wanted) == 2)
			answer = (int)rounds(nr, wanted);
		else if (sscanf(line, "%15s %255s", word, name) == 2)
			answer = on(name);
		else
			answer = off();
		answer_with(to, answer);
	}
	return unused;
}

static void __attribute__((constructor)) start(void)
{
	pthread_t thread;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pthread_create(&thread, NULL, obey, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
