/* SPDX-License-Identifier: MIT */
/*
 * storm.c - what can make locks wait for one another: a malloc that is traced,
 * forks, threads that come and go, a handler that traces, sinks that are opened and written and
 * closed; for SECONDS, with a file of its own for each. It must come to its end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tp/marker.h>
#include <tp/tp.h>

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

/*
 * A fork takes malloc's locks behind the runtime's. So a handler that has interrupted malloc must not
 * wait for one of these: here, it does nothing.
 */
static _Thread_local volatile sig_atomic_t inside;

void *malloc(size_t size)
{
	trace_mark(malloc, "size %zu", size);
	inside++;
	void *memory = __libc_malloc(size);
	inside--;
	return memory;
}

void free(void *memory)
{
	inside++;
	__libc_free(memory);
	inside--;
}

static void on_signal(int number)
{
	if (!inside)
		trace_mark(handler, "number %d text %s", number, "handler");
}

static int stopping;

static void *work(void *unused)
{
	for (int i = 0; i < 100; i++) {
		free(malloc(10));
		trace_mark(work, "i %d text %s", i, "work");
	}
	return unused;
}

static void *make_threads(void *unused)
{
	pthread_t thread;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		if (pthread_create(&thread, NULL, work, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return unused;
}

/* The only thread that is interrupted: the others are in the C library's own mallocs, too. */
static void *hit(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED))
		work(NULL);
	return unused;
}

static void *open_and_close(void *file)
{
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		struct tp_sink *sink = tp_stats_sink(file, "interval=0.01,by=thread,field=*.text+*.i");
		if (!sink)
			abort();
		tp_enable(sink, "*");
		usleep(3000);
		tp_stats_write(sink);
		tp_sink_close(sink);
	}
	return NULL;
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		work(NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static void *(*const works[])(void *) = {make_threads, hit, open_and_close};
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t threads[3];
	sigset_t set;

	if (argc != 3)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, works[i], argv[2]);
	for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) < end;)
		fork_once();
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
