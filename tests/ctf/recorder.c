/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - records numbered events, and does what it is told meanwhile:
 *
 *	recorder SHARED COMMAND[=VALUE]...
 *
 * The commands run one after another in the main thread; their table says
 * what there is. SHARED is the file that says what was recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "record.h"
#include "recorder.h"

struct shared *shared;
const char *shared_path;
struct options options = {.text = 64};
char **rest;
static struct tp_sink *sink;

void die(const char *what)
{
	fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
	_exit(99);
}

unsigned long number(const char *text)
{
	return text ? strtoul(text, NULL, 0) : 0;
}

/* ---- Recording ---- */

/* One a letter, of which an event takes the end. */
static char texts[26][TEXT_MAX + 1];

static void fill_texts(void)
{
	for (unsigned int i = 0; i < 26; i++)
		memset(texts[i], letter_of(i), TEXT_MAX);
}

unsigned int take_whos(unsigned int nr)
{
	unsigned int first = __atomic_fetch_add(&shared->nr_whos, nr, __ATOMIC_RELAXED);

	if (first + nr > NR_WHOS) {
		errno = ENOSPC;
		die("take_whos");
	}
	for (unsigned int i = first; i < first + nr; i++) {
		__atomic_store_n(&shared->whos[i].pid, getpid(), __ATOMIC_RELAXED);
		__atomic_store_n(&shared->whos[i].tid, gettid(), __ATOMIC_RELAXED);
	}
	return first;
}

bool is_recorded(void)
{
	return trace_record_hit_enabled();
}

void hit(unsigned int who)
{
	unsigned long n = shared->whos[who].hits;
	unsigned long length = n * 0x9e3779b97f4a7c15u >> 40;

	length = 1 + length % options.text; /* of an empty one, babeltrace2 2.0.4 shows another event's */
	trace_record_hit(who, n, check_of(who, n, length), texts[n % 26] + TEXT_MAX - length);
	__atomic_store_n(&shared->whos[who].hits, n + 1, __ATOMIC_RELEASE);
}

static void hit_here(const char *nr)
{
	unsigned int who = take_whos(1);

	for (unsigned long n = number(nr); n; n--)
		hit(who);
}

/* ---- The sink ---- */

/* DIRECTORY[,OPTION]... */
static void open_trace(const char *output)
{
	char *dir = strdup(output), *comma = strchr(dir, ',');

	if (comma)
		*comma++ = '\0';
	sink = tp_ctf_sink(dir, comma);
	if (!sink)
		die(output);
	if (tp_enable(sink, "record:*") < 0)
		die("tp_enable");
	free(dir);
}

static void close_trace(const char *unused)
{
	(void)unused;
	printf("close %d\n", tp_sink_close(sink));
	fflush(stdout);
	sink = NULL;
}

static void print_lost(const char *unused)
{
	(void)unused;
	printf("lost %lu\n", tp_sink_lost(sink));
	for (int cause = 0; cause < TP_NR_LOST; cause++)
		printf("lost-%d %lu\n", cause, tp_sink_lost_by(sink, (enum tp_lost)cause));
	fflush(stdout);
}

static void wait_for_losses(const char *nr)
{
	for (unsigned long until = tp_sink_lost(sink) + number(nr); tp_sink_lost(sink) < until;)
		usleep(500);
}

/* What had been recorded for certain when the call came, beside it. */
static void save_whos(const char *path)
{
	struct shared *copy = calloc(1, sizeof(*copy));
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (!copy)
		die("calloc");
	copy->nr_whos = __atomic_load_n(&shared->nr_whos, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < copy->nr_whos; i++) {
		copy->whos[i].pid = __atomic_load_n(&shared->whos[i].pid, __ATOMIC_RELAXED);
		copy->whos[i].tid = __atomic_load_n(&shared->whos[i].tid, __ATOMIC_RELAXED);
		copy->whos[i].hits = __atomic_load_n(&shared->whos[i].hits, __ATOMIC_ACQUIRE);
	}
	size_t size = offsetof(struct shared, whos) + copy->nr_whos * sizeof(struct who);
	if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
		die(path);
	close(fd);
	free(copy);
}

/* DIRECTORY,TIMES */
static void take_snapshots(const char *value)
{
	int length = (int)strcspn(value, ",");
	char dir[4096], whos[4096];

	for (unsigned long i = 0; i < number(value + length + 1); i++) {
		snprintf(dir, sizeof(dir), "%.*s-%lu", length, value, i);
		snprintf(whos, sizeof(whos), "%.*s-%lu.shared", length, value, i);
		save_whos(whos);
		do /* a thread may stand still for longer than is waited for it */
			errno = -tp_ctf_snapshot(sink, dir);
		while (errno == EBUSY);
		if (errno)
			die(dir);
	}
}

/* ---- The process's state ---- */

/* A macro, as the type of a resource is not the same in each C library. */
#define SET_LIMIT(resource, value)                             \
	do {                                                   \
		struct rlimit limit;                           \
		if (getrlimit(resource, &limit) != 0)          \
			die("getrlimit");                      \
		limit.rlim_cur = (value);                      \
		if (setrlimit(resource, &limit) != 0)          \
			die("setrlimit");                      \
	} while (0)

static void limit_file_size(const char *bytes)
{
	SET_LIMIT(RLIMIT_FSIZE, number(bytes));
}

static void limit_files(const char *nr)
{
	SET_LIMIT(RLIMIT_NOFILE, number(nr));
}

/* More than there is; or less. */
static void limit_memory(const char *bytes)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		die("/proc/self/statm");
	fclose(file);
	SET_LIMIT(RLIMIT_AS, pages * 4096 + number(bytes));
}

static void close_from(const char *first)
{
	syscall(SYS_close_range, (unsigned int)number(first), ~0u, 0);
}

/* Takes the descriptors that are free, and looks whether they are still what they were. */
static struct stat taken[64];
static int taken_at[64];

static void take_descriptors(const char *unused)
{
	(void)unused;
	for (int i = 0; i < 64; i++) {
		taken_at[i] = i % 2 ? memfd_create("taken", 0) : open("/", O_RDONLY | O_DIRECTORY);
		if (taken_at[i] < 0 || fstat(taken_at[i], &taken[i]) != 0)
			die("take_descriptors");
	}
}

static void check_descriptors(const char *unused)
{
	struct stat st;

	(void)unused;
	for (int i = 0; i < 64; i++) {
		if (fstat(taken_at[i], &st) != 0 || st.st_ino != taken[i].st_ino || st.st_dev != taken[i].st_dev ||
		    st.st_size != taken[i].st_size)
			die("one of the program's descriptors is no longer what it was");
	}
}

static void change_directory(const char *path)
{
	if (chdir(path) != 0)
		die(path);
}

static void change_root(const char *path)
{
	if (chroot(path) != 0 || chdir("/") != 0)
		die(path);
}

static void change_user(const char *id)
{
	uid_t user = (uid_t)number(id);

	if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
		die("change_user");
}

static void shell(const char *command)
{
	int status = system(command);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die(command);
}

static void set_text(const char *nr)
{
	options.text = number(nr);
}

static void set_pace(const char *nr)
{
	options.pace = number(nr);
}

static void set_limit_of_hits(const char *nr)
{
	options.limit = number(nr);
}

static void set_forks(const char *nr)
{
	options.forks = number(nr);
}

static void set_signals(const char *nr)
{
	options.signals = number(nr);
}

static void sleep_a_while(const char *microseconds)
{
	usleep((useconds_t)number(microseconds));
}

/* So that the other side may do something meanwhile. */
static void wait_for_line(const char *unused)
{
	char line[16];

	(void)unused;
	printf("waiting\n");
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line)) < 0)
		die("read");
}

/* ---- The commands ---- */

struct command {
	const char *name;
	void (*function)(const char *value);
};

static const struct command commands[] = {
	/* How threads record. */
	{"text", set_text},
	{"pace", set_pace},
	{"limit", set_limit_of_hits},
	{"forks", set_forks},
	{"signals", set_signals},
	/* Recording. */
	{"hit", hit_here},
	{"threads", start_threads},
	{"short", run_short_threads},
	{"stop", stop_threads},
	{"until", wait_for_hits},
	{"hold", hold_threads},
	{"each", let_threads_record},
	{"go", release_threads},
	/* The sink. */
	{"open", open_trace},
	{"close", close_trace},
	{"lost", print_lost},
	{"untillost", wait_for_losses},
	{"snapshots", take_snapshots},
	/* Processes. */
	{"fork", fork_children},
	{"reap", reap_children},
	{"vfork", vfork_often},
	{"daemon", become_daemon},
	{"exec", exec_again},
	{"catch", catch_crashes},
	{"stick", stick_in_a_probe},
	{"crash", crash},
	/* What the system allows. */
	{"fsize", limit_file_size},
	{"nofile", limit_files},
	{"as", limit_memory},
	{"closefrom", close_from},
	{"take", take_descriptors},
	{"taken", check_descriptors},
	{"chdir", change_directory},
	{"chroot", change_root},
	{"setuid", change_user},
	/* The rest. */
	{"sh", shell},
	{"sleep", sleep_a_while},
	{"wait", wait_for_line},
};

static void run(const char *argument)
{
	size_t length = strcspn(argument, "=");
	const char *value = argument[length] ? argument + length + 1 : NULL;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == length && strncmp(commands[i].name, argument, length) == 0) {
			commands[i].function(value);
			return;
		}
	}
	errno = EINVAL;
	die(argument);
}

static void map_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) != 0)
		die(path);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die(path);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: recorder SHARED COMMAND[=VALUE]...\n");
		return 2;
	}
	fill_texts();
	shared_path = argv[1];
	map_shared(shared_path);
	rest = argv + 2;
	while (*rest)
		run(*rest++);
	return 0;
}
