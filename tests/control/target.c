/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program to look into. It does what its standard input says, a
 * line each, and answers each line when that is done:
 *
 *	work N          hits its tracepoint N times
 *	threads N       four threads do that, each N times
 *	long            hits it once, with a text of 20,000 bytes
 *	fork            forks a child, which goes on with the input; the parent waits for it and ends as it does
 *	spawn           forks a child that sleeps; answers with its pid
 *	exec            becomes "sleep"
 *	daemon          goes on in the background, in another process
 *	closeall        closes all descriptors but 0, 1 and 2
 *	useup           opens descriptors until there are no more
 *	content         closes these
 *	user UID        becomes that user
 *	chroot DIR      changes its root
 *	setsid          begins a session
 *	undumpable      lets nobody but root look at it
 *	title TEXT      overwrites its arguments, as setproctitle() does
 *	unshare NAME    enters a new namespace: user, pid, mount or net
 *	load FILE       loads a shared object; unload takes it away again
 *	churn FILE N    loads and unloads it so often
 *	start, stop     tp_control_start(), tp_control_stop(): answers with what they return
 *	fd              tp_control_fd(); from then on, it serves while it waits for input
 *	sleeping        answers with the processor's switches of the thread tp-helper so far
 *	threads?        answers with how many threads there are
 *	state?          answers with how often the callbacks of TRACE_EVENT_FN were called: begun/ended
 *	crash           dies of SIGSEGV
 *	pthread_exit    ends the main thread
 *	exit            ends
 */
#define CREATE_TRACE_POINTS
#include "target.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/control.h>

#include "../tasks.h"

static int worked, begun, ended, serve_fd = -1;
static void *library;
static int taken[4096], nr_taken;

int target_begin(void)
{
	begun++;
	return 0;
}

void target_end(void)
{
	ended++;
}

static void work(int times)
{
	for (; times > 0; times--)
		trace_target_work(__atomic_add_fetch(&worked, 1, __ATOMIC_RELAXED), "text");
}

static void *work_in_thread(void *times)
{
	work(*(int *)times);
	return NULL;
}

static void work_in_threads(int times)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work_in_thread, &times);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void work_long(void)
{
	static char text[20001];

	memset(text, 'x', sizeof(text) - 1);
	trace_target_work(++worked, text);
}

static int go_on_in_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		return 0;
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int spawn(void)
{
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			pause();
	}
	return child;
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void use_up(void)
{
	const struct rlimit limit = {256, 256};
	int fd;

	setrlimit(RLIMIT_NOFILE, &limit);
	while (nr_taken < 4096 && (fd = open("/dev/null", O_RDONLY)) >= 0)
		taken[nr_taken++] = fd;
}

static void give_back(void)
{
	while (nr_taken)
		close(taken[--nr_taken]);
}

static char *first_argument;

/* What stands in front of the end of the first one; ps shows it. */
static int set_title(const char *title)
{
	memset(first_argument, 0, strlen(first_argument));
	strcpy(first_argument, title);
	return 0;
}

static int enter(const char *name)
{
	const int flag = strcmp(name, "user") == 0 ? CLONE_NEWUSER : strcmp(name, "pid") == 0 ? CLONE_NEWPID :
			 strcmp(name, "mount") == 0 ? CLONE_NEWNS : CLONE_NEWNET;

	return unshare(flag) == 0 ? 0 : -errno;
}

/* Calls fct for each thread, with its id and name; the number of threads. */
static int for_each_thread(void (*fct)(const char *id, const char *name, long *data), long *data)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int nr = 0;

	while (tasks && (entry = readdir(tasks))) {
		char path[300], name[32] = "";
		if (entry->d_name[0] == '.' || task_is_ending(entry->d_name))
			continue;
		nr++;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		FILE *file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file) && fct)
			fct(entry->d_name, name, data);
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return nr;
}

/* How often the thread of this library has been put on a processor. */
static void count_switches(const char *id, const char *name, long *data)
{
	char path[300], line[128];

	if (strcmp(name, "tp-helper\n") != 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%s/status", id);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		long number;
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &number) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %ld", &number) == 1)
			*data += number;
	}
	if (file)
		fclose(file);
}

static int load(const char *path)
{
	library = dlopen(path, RTLD_NOW);
	return library ? 0 : -1;
}

static int unload(void)
{
	return library ? dlclose(library) : -1;
}

static int churn(char *arguments)
{
	char *path = strtok(arguments, " ");
	const int times = atoi(strtok(NULL, " "));

	for (int i = 0; i < times; i++) {
		if (load(path) != 0 || unload() != 0)
			return -1;
	}
	return 0;
}

/* What the line says; the number is the answer. */
static long obey(const char *command, char *argument)
{
	long switches = 0;

	if (strcmp(command, "work") == 0)
		work(atoi(argument));
	else if (strcmp(command, "threads") == 0)
		work_in_threads(atoi(argument));
	else if (strcmp(command, "long") == 0)
		work_long();
	else if (strcmp(command, "fork") == 0)
		return go_on_in_child();
	else if (strcmp(command, "spawn") == 0)
		return spawn();
	else if (strcmp(command, "exec") == 0)
		return execlp("sleep", "sleep", "600", NULL);
	else if (strcmp(command, "daemon") == 0)
		return daemon(1, 1) == 0 ? getpid() : -1;
	else if (strcmp(command, "closeall") == 0)
		close_all();
	else if (strcmp(command, "useup") == 0)
		use_up();
	else if (strcmp(command, "content") == 0)
		give_back();
	else if (strcmp(command, "user") == 0)
		return setgid((gid_t)atoi(argument)) || setuid((uid_t)atoi(argument)) ? -1 : 0;
	else if (strcmp(command, "chroot") == 0)
		return chroot(argument) || chdir("/") ? -1 : 0;
	else if (strcmp(command, "setsid") == 0)
		return setsid() < 0 ? -1 : 0;
	else if (strcmp(command, "undumpable") == 0)
		return prctl(PR_SET_DUMPABLE, 0);
	else if (strcmp(command, "title") == 0)
		return set_title(argument);
	else if (strcmp(command, "unshare") == 0)
		return enter(argument);
	else if (strcmp(command, "load") == 0)
		return load(argument);
	else if (strcmp(command, "unload") == 0)
		return unload();
	else if (strcmp(command, "churn") == 0)
		return churn(argument);
	else if (strcmp(command, "start") == 0)
		return tp_control_start();
	else if (strcmp(command, "stop") == 0)
		return tp_control_stop();
	else if (strcmp(command, "fd") == 0)
		return (serve_fd = tp_control_fd()) >= 0 ? 0 : serve_fd;
	else if (strcmp(command, "sleeping") == 0)
		return for_each_thread(count_switches, &switches) ? switches : -1;
	else if (strcmp(command, "threads?") == 0)
		return for_each_thread(NULL, NULL);
	else if (strcmp(command, "state?") == 0)
		return begun * 100 + ended;
	else if (strcmp(command, "crash") == 0)
		raise(SIGSEGV);
	else if (strcmp(command, "pthread_exit") == 0)
		pthread_exit(NULL);
	else if (strcmp(command, "exit") == 0)
		exit(0);
	else
		return -1000;
	return 0;
}

/* Serves whoever looks into the program, until there is input. */
static void serve_until_input(void)
{
	struct pollfd places[2] = {{.fd = 0, .events = POLLIN}, {.fd = serve_fd, .events = POLLIN}};

	while (serve_fd >= 0) {
		poll(places, 2, -1);
		if (places[1].revents)
			tp_control_serve();
		if (places[0].revents)
			return;
	}
}

int main(int argc, char **argv)
{
	char line[4096];

	(void)argc;
	first_argument = argv[0];
	trace_target_work(0, "first");
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);
	printf("ready %d\n", (int)getpid());
	for (;;) {
		serve_until_input();
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		line[strcspn(line, "\n")] = '\0';
		char *argument = strchr(line, ' ');
		if (argument)
			*argument++ = '\0';
		printf("%ld\n", obey(line, argument ? argument : line));
	}
}
