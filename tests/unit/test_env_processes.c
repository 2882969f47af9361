/* SPDX-License-Identifier: MIT */
/*
 * test_env_processes.c - programs with TP_OUTPUT that fork, exec, close descriptors, have limits, or end in a probe.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "traced.h"
#include "util.h"

/* ---- The traced program ---- */

static void exit_inside(void *data, int value)
{
	(void)data;
	(void)value;
	exit(7);
}

static bool inside;

static void stay_inside(void *data, int value)
{
	(void)data;
	(void)value;
	__atomic_store_n(&inside, true, __ATOMIC_RELEASE);
	pause();
}

static void *into_the_probe(void *unused)
{
	(void)unused;
	trace_sample_int(6);
	return NULL;
}

/* All at the same time, each line longer than BUFSIZ. */
static void fork_with_long_lines(void)
{
	static char string[20001];

	for (int i = 0; i < 4; i++) {
		pid_t child = fork();
		if (child == 0) {
			memset(string, 'a' + i, sizeof(string) - 1);
			for (int j = 0; j < 50; j++)
				trace_sample_text(string);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* As a daemon does, and the numbers are another file's then. */
static void reuse_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	for (int i = 0; i < 20; i++)
		open("database", O_RDWR | O_CREAT | O_APPEND, 0600);
	trace_sample_int(7);
	trace_sample_int(8);
	for (int fd = 0; fd < 20; fd++) {
		ssize_t written = write(fd, "DATA", 4);
		if (written != 4)
			_exit(9); /* closed by somebody */
	}
}

/* The number that the file of this name, which ends the path, has now. */
static int descriptor_of(const char *name)
{
	char link[64], path[256];

	for (int fd = 3; fd < 256; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, path, sizeof(path) - 1);
		if (len > (ssize_t)strlen(name) && (path[len] = 0, strcmp(path + len - strlen(name), name) == 0))
			return fd;
	}
	_exit(8);
}

/* Each line comes after another file was given the number, however the program has done that. */
static void give_numbers_away(void)
{
	int database = open("database", O_RDWR | O_CREAT | O_APPEND, 0600);
	int a = descriptor_of("/a"), b;

	dup2(database, a);
	trace_sample_int(5);
	a = descriptor_of("/a");
	b = descriptor_of("/b");
	dup2(b, a); /* both are the runtime's */
	trace_sample_int(6);
	a = descriptor_of("/a");
	close(a);
	dup2(database, a);
	close(descriptor_of("/b"));
	trace_sample_int(7);
	trace_sample_int(8);
}

static bool changing;

static void set_limit(bool low)
{
	const struct rlimit limit = {.rlim_cur = low ? 1 : RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
}

static void *change_limit(void *unused)
{
	for (bool low = true; __atomic_load_n(&changing, __ATOMIC_RELAXED); low = !low)
		set_limit(low);
	return unused;
}

static void hit_while_the_limit_changes(void)
{
	pthread_t thread;

	changing = true;
	pthread_create(&thread, NULL, change_limit, NULL);
	for (int i = 0; i < 20000; i++)
		trace_sample_int(9);
	__atomic_store_n(&changing, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	set_limit(true);
	trace_sample_int(9); /* one is lost in any case */
	set_limit(false);
}

static int program(const char *what)
{
	begin_traced();
	if (strcmp(what, "fork") == 0) {
		pid_t child = fork();
		trace_sample_int(child ? 2 : 3);
		if (child)
			waitpid(child, NULL, 0);
	} else if (strcmp(what, "exit-in-probe") == 0) {
		register_trace_sample_int(exit_inside, NULL);
		trace_sample_int(4);
	} else if (strcmp(what, "closed") == 0) {
		/* A descriptor that the program gives to another file is not written to. */
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		trace_sample_int(5);
	} else if (strcmp(what, "exec") == 0) {
		for (int i = 0; i < 5; i++) {
			trace_sample_text("around");
			if (system("exec /proc/$PPID/exe plain") != 0)
				return 1;
		}
	} else if (strcmp(what, "stuck") == 0) {
		static char string[TP_RECORD_MAX + 1];
		pthread_t thread;
		memset(string, 'x', sizeof(string) - 1);
		trace_sample_text(string); /* which is lost */
		register_trace_sample_int(stay_inside, NULL);
		pthread_create(&thread, NULL, into_the_probe, NULL);
		while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
			usleep(100);
	} else if (strcmp(what, "long") == 0) {
		fork_with_long_lines();
	} else if (strcmp(what, "daemon") == 0) {
		reuse_descriptors();
	} else if (strcmp(what, "numbers") == 0) {
		give_numbers_away();
	} else if (strcmp(what, "no-reader") == 0) {
		signal(SIGPIPE, SIG_DFL);
		for (int fd; (fd = open(getenv("FIFO"), O_WRONLY | O_NONBLOCK)) >= 0; usleep(1000))
			close(fd);
		trace_sample_int(9);
	} else if (strcmp(what, "limits") == 0) {
		hit_while_the_limit_changes();
	} else if (strcmp(what, "limit") == 0) {
		static char string[4001];
		const struct rlimit low = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
		setrlimit(RLIMIT_FSIZE, &low);
		memset(string, 'x', sizeof(string) - 1);
		trace_sample_text(string);
		trace_sample_int(9);
	}
	return 0;
}

/* ---- The tests ---- */

FIXTURE(setup_traced, NULL)

TEST(programs_that_it_starts)
{
	char path[160];
	int status = start("exec", NULL, "text:%s/log");

	ck_assert_int_eq(status, 0);
	snprintf(path, sizeof(path), "%s/log", dir);
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "text=around\n"), 5);
	ck_assert_uint_eq(count_of(log, "text=hello\n"), 1 + 5);
	ck_assert_uint_eq(count_of(log, "\n"), 5 + 3 * (1 + 5));
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(strlen(log), (size_t)st.st_size); /* no NUL */
	free(log);
}

TEST(long_lines_of_several_processes)
{
	ck_assert_int_eq(start("long", "sample_text", "text:%s/log"), 0);
	char *log = trace_file("log"), *rest = log, *line;
	unsigned int whole = 0;
	while ((line = strsep(&rest, "\n")) && rest) {
		const char *string = strstr(line, "text=");
		ck_assert_msg(string != NULL, "no whole line: %.80s", line);
		string += 5;
		size_t len = strlen(string);
		if (len < 20000)
			continue;
		ck_assert_uint_eq(strspn(string, (char[]){*string, '\0'}), 20000);
		ck_assert_uint_eq(len, 20000);
		whole++;
	}
	ck_assert_uint_eq(whole, 4 * 50);
	free(log);
}

TEST(descriptor_that_is_another_files)
{
	static const char data[] = "DATADATADATADATADATADATADATADATADATADATADATADATADATADATADATADATADATADATADATADATA";

	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(start("daemon", NULL, "text:log"), 0);
	char *log = trace_file("log"), *database = trace_file("database");
	ck_assert_str_eq(database, data);
	ck_assert_contains(log, "value=1\n");
	ck_assert_contains(log, "value=8\n");
	ck_assert_contains(log, "last words");
	free(log);
	free(database);
	/* This can't be opened again. */
	ck_assert_int_eq(unlink("database"), 0);
	ck_assert_int_eq(start("daemon", NULL, "text:stdout"), 0);
	database = trace_file("database");
	ck_assert_str_eq(database, data); /* the program has given stderr's number away as well: no message is there */
	free(database);
	ck_assert_int_eq(chdir("/"), 0);
}

TEST(limit_on_file_sizes)
{
	int status = start("limit", NULL, "text:%s/log");

	ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	char *log = trace_file("log");
	ck_assert_contains(log, "value=1\n");
	ck_assert_lacks(log, "value=9\n");
	ck_assert_contains(err_text, "tp: text output: writing failed: File too large");
	ck_assert_contains(err_text, "tp: text output: records lost: 3 (no file: 3)\n");
	free(log);
}

TEST(numbers_that_are_given_away)
{
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(start("numbers", "sample_int", "text:a;text:b"), 0);
	for (int i = 0; i < 2; i++) {
		char *log = trace_file(i ? "b" : "a");
		for (int value = 5; value <= 8; value++) {
			char line[32];
			snprintf(line, sizeof(line), "value=%d\n", value);
			ck_assert_uint_eq(count_of(log, line), 1);
		}
		ck_assert_uint_eq(count_of(log, "\n"), 5);
		free(log);
	}
	char *database = trace_file("database");
	ck_assert_str_eq(database, "");
	free(database);
	ck_assert_int_eq(chdir("/"), 0);
}

TEST(fifo_without_a_reader)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	setenv("FIFO", path, 1);
	pid_t reader = fork();
	if (reader == 0) {
		char c;
		_exit(read(open(path, O_RDONLY), &c, 1) == 1 ? 0 : 1);
	}
	int status = start("no-reader", "sample_int", "text:%s/fifo");
	ck_assert_int_eq(waitpid(reader, NULL, 0), reader);
	ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	ck_assert_contains(err_text, "tp: text output: writing failed: Broken pipe");
}

/* By another thread, or by prlimit(1): there is no time between a look at the limit and the write. */
TEST(limit_that_changes_all_the_time)
{
	int status = start("limits", "sample_int", "text:%s/log");

	ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	ck_assert_contains(err_text, "tp: text output: records lost: "); /* the limit was reached */
}

static const char *const stuck_outputs[] = {"text:%s/log", "text:stderr", "perfetto:%s/trace", "ctf:%s/trace,prepare=self"};
static const char *const stuck_names[] = {"text output", "text output", "Perfetto trace", "CTF trace"};

/* What is lost is told as by an output that is closed. */
LOOP_TEST(ends_while_a_thread_is_in_a_probe, 4)
{
	char path[160], lost[256];

	ck_assert_int_eq(start("stuck", NULL, stuck_outputs[_i]), 0);
	snprintf(path, sizeof(path), "%s/trace", dir);
	snprintf(lost, sizeof(lost), "tp: %s%s%s%s: records lost: 1 (too large: 1)\n", stuck_names[_i], _i < 2 ? "" : " '",
		 _i < 2 ? "" : path, _i < 2 ? "" : "'");
	ck_assert_contains(err_text, lost);
	if (_i < 3)
		return;
	char *text = clean_babeltrace(path);
	ck_assert_contains(text, "last words");
	free(text);
}

TEST(forked_child)
{
	char path[256];

	ck_assert_int_eq(start("fork", NULL, "text:%s/log"), 0);
	char *log = trace_file("log");
	ck_assert_uint_eq(count_of(log, "value=1\n"), 1);
	ck_assert_uint_eq(count_of(log, "value=2\n"), 1);
	ck_assert_uint_eq(count_of(log, "value=3\n"), 1);
	ck_assert_uint_eq(count_of(log, "last words"), 2);
	free(log);
	ck_assert_int_eq(start("fork", NULL, "ctf:%s/trace,prepare=self"), 0);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "value = "), 3);
	ck_assert_uint_eq(count_of(text, "last words"), 2);
	free(text);
}

TEST(exit_inside_a_probe)
{
	int status = start("exit-in-probe", NULL, "text:%s/log");

	ck_assert(WIFEXITED(status)); /* and does not wait for itself */
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	char *log = trace_file("log");
	ck_assert_contains(log, "value=1\n");
	ck_assert_contains(log, "last words");
	free(log);
}

TEST(closed_descriptors)
{
	ck_assert_int_eq(start("closed", NULL, "text:stdout"), 0);
	ck_assert_contains(out_text, "value=1\n");
	ck_assert_lacks(out_text, "value=5\n"); /* no copy of the descriptor is kept */
}

int main(int argc, char **argv)
{
	return argc > 1 ? program(argv[1]) : run_tests();
}
