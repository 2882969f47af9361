/* SPDX-License-Identifier: MIT */
/*
 * look.c - a client of docs/internals/control.md, and the program that it looks into.
 *
 *	look WHAT N    looks N times into a child of its own, and prints the median in microseconds:
 *	  greet        connects, and has the greeting
 *	  attach       connects, enables one event into a socket, ends the connection, and waits until the process has closed that
 *	  enable       enables all events, until the answer
 *	  first        the same, until the first line of an event is there
 *	look idle N    prints how often the thread tp-helper was woken in N seconds
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tp/control.h>

#include "many.h"

#define MOST 10000

static pid_t child;

/* ---- The program ---- */

void hit_all(uint64_t number, uint32_t id, const char *name);

static void __attribute__((noreturn)) run(int ready)
{
	if (tp_control_start() != 0 || write(ready, "", 1) != 1)
		_exit(1);
	for (uint64_t number = 0;; number++) {
		hit_all(number, 1, "name");
		usleep(10);
	}
}

/* ---- The client ---- */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	kill(child, SIGTERM);
	exit(1);
}

/* The child's; this process listens as well. */
static void find_socket(struct sockaddr_un *address)
{
	const char *directory = getenv("TP_CONTROL");
	DIR *entries = opendir(directory);
	const struct dirent *entry;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	while (entries && (entry = readdir(entries))) {
		if (atoi(entry->d_name) == child) /* the paths are the bench's, and short */
			snprintf(address->sun_path, sizeof(address->sun_path), "%.80s/%.25s", directory, entry->d_name);
	}
	if (entries)
		closedir(entries);
}

static void receive(int fd, const char *wanted)
{
	char text[65536];
	ssize_t len = recv(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		fail("recv");
	text[len] = '\0';
	if (strncmp(text, wanted, strlen(wanted)) != 0) {
		fail(text);
	}
}

static int join(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		fail("connect");
	receive(fd, "tp 1 ");
	return fd;
}

/* Passes one end of a pair of sockets, and returns the other. */
static int open_text(int fd, unsigned int *id)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	char request[] = "open text look", text[128];
	struct iovec part = {.iov_base = request, .iov_len = strlen(request)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		fail("socketpair");
	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &ends[0], sizeof(int));
	if (sendmsg(fd, &message, 0) < 0)
		fail("sendmsg");
	close(ends[0]);
	ssize_t len = recv(fd, text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	if (sscanf(text, "ok %u", id) != 1)
		fail(text);
	return ends[1];
}

static void enable(int fd, unsigned int id, const char *patterns)
{
	char request[64];
	int len = snprintf(request, sizeof(request), "enable %u %s", id, patterns);

	if (send(fd, request, (size_t)len, 0) != len)
		fail("send");
}

/* Until the process has let go of it. */
static void drain(int fd)
{
	char text[4096];

	while (recv(fd, text, sizeof(text), 0) > 0)
		;
	close(fd);
}

static double look(const struct sockaddr_un *address, const char *what)
{
	const int attach = strcmp(what, "attach") == 0, first = strcmp(what, "first") == 0;
	unsigned int id;
	double begun = now();
	int fd = join(address);

	if (strcmp(what, "greet") == 0) {
		const double took = now() - begun;
		close(fd);
		return took;
	}
	int lines = open_text(fd, &id);
	if (!attach)
		begun = now();
	enable(fd, id, attach ? "many_0" : "*");
	receive(first ? lines : fd, first ? "" : "ok ");
	double took = now() - begun;
	close(fd);
	drain(lines);
	return attach ? now() - begun : took;
}

/* ---- Idle ---- */

static long switches(pid_t pid)
{
	char path[300], line[256];
	long all = 0, number;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
		FILE *file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &number) == 1)
				all += number;
		}
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return all;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static double took[MOST];
	struct sockaddr_un address;
	int ready[2];
	char byte;

	const int times = argc == 3 ? atoi(argv[2]) : 0;
	if (times < 1 || times > MOST || !getenv("TP_CONTROL") || pipe(ready) != 0)
		return 2;
	child = fork();
	if (child == 0)
		run(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		fail("the program");
	find_socket(&address);
	if (strcmp(argv[1], "idle") == 0) {
		sleep(1);
		const long before = switches(child);
		sleep((unsigned int)times);
		printf("%ld\n", switches(child) - before);
	} else {
		for (int i = 0; i < times; i++)
			took[i] = look(&address, argv[1]);
		qsort(took, (size_t)times, sizeof(*took), compare);
		printf("%.1f\n", took[times / 2]);
	}
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	unlink(address.sun_path);
	return 0;
}
