/* SPDX-License-Identifier: MIT */
/*
 * test_env.c - TP_ENABLE and TP_OUTPUT. They are read when a program starts,
 * so this one starts itself again: with an argument it is a traced program.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "util.h"

/* ---- The traced program ---- */

static void exit_inside(void *data, int value)
{
	(void)data;
	(void)value;
	exit(7);
}

static void __attribute__((destructor)) last_words(void)
{
	trace_sample_text("last words");
}

static void stay_inside(void *data, int value)
{
	(void)data;
	(void)value;
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

	fflush(stdout);
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
	fflush(stdout);
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

static int program(const char *what)
{
	puts("the program's own output");
	trace_sample_int(1);
	trace_sample_text("hello");
	if (strcmp(what, "fork") == 0) {
		fflush(stdout);
		pid_t child = fork();
		trace_sample_int(child ? 2 : 3);
		if (child)
			waitpid(child, NULL, 0);
	} else if (strcmp(what, "kill") == 0) {
		fflush(stdout);
		raise(SIGKILL);
	} else if (strcmp(what, "exit-in-probe") == 0) {
		register_trace_sample_int(exit_inside, NULL);
		trace_sample_int(4);
	} else if (strcmp(what, "closed") == 0) {
		/* A descriptor that the program gives to another file is not written to. */
		fflush(stdout);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		trace_sample_int(5);
	} else if (strcmp(what, "exec") == 0) {
		for (int i = 0; i < 5; i++) {
			fflush(stdout);
			trace_sample_text("around");
			if (system("exec /proc/$PPID/exe plain") != 0)
				return 1;
		}
	} else if (strcmp(what, "stuck") == 0) {
		pthread_t thread;
		fflush(stdout);
		register_trace_sample_int(stay_inside, NULL);
		pthread_create(&thread, NULL, into_the_probe, NULL);
		usleep(20000);
	} else if (strcmp(what, "long") == 0) {
		fork_with_long_lines();
	} else if (strcmp(what, "daemon") == 0) {
		reuse_descriptors();
	} else if (strcmp(what, "limit") == 0) {
		static char string[4001];
		const struct rlimit low = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
		fflush(stdout);
		setrlimit(RLIMIT_FSIZE, &low);
		memset(string, 'x', sizeof(string) - 1);
		trace_sample_text(string);
		trace_sample_int(9);
	}
	return 0;
}

/* ---- The tests ---- */

static char dir[128], out[160], err[160];
static char *out_text, *err_text;

static void setup(void)
{
	snprintf(dir, sizeof(dir), "%s", temp_dir());
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(err, sizeof(err), "%s/err", dir);
}

/* Runs the program so, with %s in output standing for dir; returns its exit status. */
static int start(const char *what, const char *enable, const char *output)
{
	char value[512];
	int status;
	pid_t child = fork();

	if (child == 0) {
		ck_assert_ptr_nonnull(freopen(out, "w", stdout));
		ck_assert_ptr_nonnull(freopen(err, "w", stderr));
		unsetenv("TP_ENABLE");
		unsetenv("TP_OUTPUT");
		unsetenv("CK_TAP_LOG_FILE_NAME");
		if (enable)
			setenv("TP_ENABLE", enable, 1);
		if (output) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(value, sizeof(value), output, dir);
#pragma GCC diagnostic pop
			setenv("TP_OUTPUT", value, 1);
		}
		execl("/proc/self/exe", "test_env", what, (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	free(out_text);
	free(err_text);
	out_text = read_file(out);
	err_text = read_file(err);
	/* Whatever happens to the tracing, the program does its work. */
	ck_assert_contains(out_text, "the program's own output");
	return status;
}

static char *trace_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_file(path);
}

START_TEST(nothing_set)
{
	ck_assert_int_eq(start("plain", NULL, NULL), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_int_eq(start("plain", "", ""), 0);
	ck_assert_str_eq(err_text, "");
}
END_TEST

START_TEST(enable_alone_is_text_on_stderr)
{
	ck_assert_int_eq(start("plain", "sample:*,!sample_int", NULL), 0);
	ck_assert_lacks(err_text, "value=");
	ck_assert_contains(err_text, " sample:sample_text: text=hello\n");
	ck_assert_contains(err_text, " sample:sample_text: text=last words\n");
	ck_assert_uint_eq(count_of(err_text, "\n"), 2);
	ck_assert_str_eq(out_text, "the program's own output\n");
}
END_TEST

START_TEST(output_alone_is_everything)
{
	ck_assert_int_eq(start("plain", NULL, "text:stdout"), 0);
	ck_assert_contains(out_text, "sample:sample_int: value=1\n");
	ck_assert_contains(out_text, "sample:sample_text: text=last words\n");
	ck_assert_str_eq(err_text, "");
	ck_assert_int_eq(start("plain", NULL, "text:stderr"), 0);
	ck_assert_uint_eq(count_of(err_text, "\n"), 3);
	ck_assert_int_eq(start("plain", NULL, " ; "), 0);
	ck_assert_uint_eq(count_of(err_text, "\n"), 3);
}
END_TEST

START_TEST(text_file)
{
	ck_assert_int_eq(start("plain", "sample_int", "text:%s/log"), 0);
	ck_assert_str_eq(err_text, "");
	char *log = trace_file("log");
	ck_assert_uint_eq(count_of(log, "\n"), 1);
	free(log);
	/* Behind what is there, and line by line: a killed program's are there. */
	ck_assert_int_eq(WTERMSIG(start("kill", NULL, "text:%s/log")), SIGKILL);
	log = trace_file("log");
	ck_assert_uint_eq(count_of(log, "\n"), 1 + 2);
	free(log);
}
END_TEST

START_TEST(programs_that_it_starts)
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
END_TEST

START_TEST(long_lines_of_several_processes)
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
END_TEST

START_TEST(descriptor_that_is_another_files)
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
END_TEST

START_TEST(limit_on_file_sizes)
{
	int status = start("limit", NULL, "text:%s/log");

	ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	char *log = trace_file("log");
	ck_assert_contains(log, "value=1\n");
	ck_assert_lacks(log, "value=9\n");
	ck_assert_contains(err_text, "tp: text sink: writing failed: File too large");
	ck_assert_contains(err_text, "tp: text sink: records lost: 3 (no file: 3)\n");
	free(log);
}
END_TEST

static const char *const stuck_outputs[] = {"text:%s/log", "text:stderr", "ctf:%s/trace"};

START_TEST(ends_while_a_thread_is_in_a_probe)
{
	char path[160];

	ck_assert_int_eq(start("stuck", NULL, stuck_outputs[_i]), 0);
	if (_i < 2)
		return;
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_contains(text, "last words");
	free(text);
}
END_TEST

START_TEST(ctf_directory)
{
	char path[256];

	ck_assert_int_eq(start("plain", "sample_*", "ctf:%s/trace,packet=8K"), 0);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "\n"), 3);
	ck_assert_contains(text, "text = \"last words\"");
	free(text);

	/* It is not written to again, but makes way. */
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace"), 0);
	ck_assert_str_eq(err_text, "");
	strcat(path, ".1");
	text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "\n"), 3);
	free(text);
	/* Where it can't, that is told. */
	snprintf(path, sizeof(path), "%s/trace/.lock", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace"), 0);
	ck_assert_uint_eq(count_of(err_text, "\n"), 1);
	ck_assert_contains(err_text, "tp: TP_OUTPUT=ctf:");
	ck_assert_contains(err_text, "there is a trace in it already");
	snprintf(path, sizeof(path), "%s/trace.1", dir);
	text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "\n"), 3);
	free(text);
}
END_TEST

START_TEST(flight_recorder)
{
	char path[256];

	ck_assert_int_eq(WTERMSIG(start("kill", NULL, "ctf:%s/trace,mode=flight,context=pid+name")), SIGKILL);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "\n"), 2);
	ck_assert_contains(text, "text = \"hello\"");
	ck_assert_contains(text, "procname = \"");
	free(text);
}
END_TEST

START_TEST(several_outputs)
{
	char path[256];

	ck_assert_int_eq(start("plain", NULL, "text:%1$s/log;ctf:%1$s/trace,context=pid;text:%1$s/copy"), 0);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path), *log = trace_file("log"), *copy = trace_file("copy");
	ck_assert_uint_eq(count_of(text, "\n"), 3);
	ck_assert_uint_eq(count_of(log, "\n"), 3);
	ck_assert_uint_eq(count_of(copy, "\n"), 3);
	ck_assert_contains(copy, "last words");
	free(text);
	free(log);
	free(copy);
	/* One that can't be opened, or written to, is the others' business in nothing. */
	ck_assert_int_eq(start("plain", NULL, " text:/dev/full; ;xyz\t; text:%s/other ; "), 0);
	ck_assert_contains(err_text, "tp: TP_OUTPUT=xyz: unknown kind 'xyz'");
	ck_assert_contains(err_text, "records lost: 3 (no file: 3)\n");
	ck_assert_uint_eq(count_of(err_text, "\n"), 3);
	log = trace_file("other");
	ck_assert_uint_eq(count_of(log, "\n"), 3);
	free(log);
}
END_TEST

START_TEST(too_many_outputs)
{
	ck_assert_int_eq(start("plain", "sample_int",
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;"
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;"
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/stdout;text:/dev/stderr"),
			 0);
	ck_assert_contains(out_text, "value=1\n");
	ck_assert_str_eq(err_text, "tp: TP_OUTPUT: text:/dev/stderr is one too many: there can be 16; it gets nothing\n");
}
END_TEST

START_TEST(process_id_in_names)
{
	ck_assert_int_eq(start("plain", NULL, "text:%s/log.%%p.%%p"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(count_files(dir, "log."), 1);
	ck_assert_uint_eq(count_files(dir, "log.%p"), 0);
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace-%%p"), 0);
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace-%%p"), 0);
	ck_assert_uint_eq(count_files(dir, "trace-"), 2);
}
END_TEST

static const struct {
	const char *enable, *output, *message;
} mistakes[] = {
	{NULL, "xyz",
	 "tp: TP_OUTPUT=xyz: unknown kind 'xyz'; use text:stderr, text:stdout, text:FILE, ctf:DIRECTORY, stats:FILE, "
	 "lttng:, ftrace:[INSTANCE] or sdt:\n"},
	{NULL, "xyz:a:b", "tp: TP_OUTPUT=xyz:a:b: unknown kind 'xyz'; use text:stderr"},
	{NULL, "TEXT:stderr", "unknown kind 'TEXT'"},
	{NULL, "text", "the name is missing"},
	{NULL, "text:", "tp: TP_OUTPUT=text:: the name is missing"},
	{NULL, "ctf:", "tp: TP_OUTPUT=ctf:: the name is missing"},
	{NULL, "stats:,json", "tp: TP_OUTPUT=stats:,json: the name is missing"},
	{NULL, "text:%s/no/such/file", "No such file or directory"},
	{NULL, "ctf:%s/no/such/directory", "No such file or directory"},
	{NULL, "ctf:/proc/trace", "No such file or directory"},
	{NULL, "ctf:%s/out", "Not a directory"},
	{NULL, "ctf:%s/trace,packet=1",
	 "/trace': option 'packet=1': packet= takes bytes, from 4K to 1G (suffixes K, M, G); there is no trace\n"}, /* the sink's own words */
	{NULL, "ctf:%s/trace,mode=flight,colour=red", "/trace': there is no option 'colour=red'; there are mode=, "},
	{NULL, "ctf:%s/trace,", NULL},
	{NULL, "sdt:", NULL},
	{NULL, "sdt:x", "tp: TP_OUTPUT=sdt:x: an sdt output has no name and no options: write sdt:; nothing goes there\n"},
	{",", "text:%s/log", "tp: TP_ENABLE=,: no list of patterns"},
	{"!a", NULL, "tp: TP_ENABLE=!a: no list of patterns"},
	{"a,! ,b", NULL, "tp: TP_ENABLE=a,! ,b: no list of patterns"},
	/* No terminal obeys it: control characters, of which some have two bytes, and what is no UTF-8. */
	{"\x1b]0\a,\n\x7f\xc2\x9b,,", NULL, "tp: TP_ENABLE=?]0?, ?\?\?,,: no list of patterns"},
	{NULL, "f\xc3\xbcr\xff\xc3:", "unknown kind 'f\xc3\xbcr?\?'"},
	{"a,,b", "ctf:%s/trace", "tp: TP_ENABLE=a,,b: no list of patterns"},
	{"sample:*;other:*", "ctf:%s/trace",
	 "tp: TP_ENABLE=sample:*;other:*: commas are between patterns; semicolons are between the outputs of TP_OUTPUT; "
	 "nothing is traced\n"},
};

START_TEST(mistake)
{
	ck_assert_int_eq(start("plain", mistakes[_i].enable, mistakes[_i].output), 0);
	if (!mistakes[_i].message) {
		ck_assert_str_eq(err_text, "");
		return;
	}
	ck_assert_contains(err_text, mistakes[_i].message);
	ck_assert_int_eq(strncmp(err_text, "tp: ", 4), 0);
	ck_assert_uint_eq(count_of(err_text, "\n"), 1);
	ck_assert_uint_eq(count_files(dir, "log") + count_files(dir, "trace"), 0); /* nothing half-done */
}
END_TEST

START_TEST(no_event_of_that_name)
{
	ck_assert_int_eq(start("plain", "shced:*", "text:%s/log"), 0);
	ck_assert_contains(err_text, "tp: TP_ENABLE=shced:*: no event of this program has such a name");
	ck_assert_uint_eq(count_of(err_text, "\n"), 1);
	/* One of several. */
	ck_assert_int_eq(start("plain", "sample_int, smaple_text,! sample:nothing ,", "text:%s/log"), 0);
	ck_assert_str_eq(err_text, "tp: TP_ENABLE=sample_int, smaple_text,! sample:nothing ,: no event of this program is "
				   "called 'smaple_text'\n"
				   "tp: TP_ENABLE=sample_int, smaple_text,! sample:nothing ,: no event of this program is "
				   "called 'sample:nothing'\n");
}
END_TEST

START_TEST(full_disk)
{
	ck_assert_int_eq(start("plain", NULL, "text:/dev/full"), 0);
	ck_assert_contains(err_text, "tp: text sink: writing failed: No space left on device");
	ck_assert_contains(err_text, "tp: text sink: records lost: 3 (no file: 3)\n");
	ck_assert_uint_eq(count_of(err_text, "\n"), 2);
}
END_TEST

START_TEST(forked_child)
{
	char path[256];

	ck_assert_int_eq(start("fork", NULL, "text:%s/log"), 0);
	char *log = trace_file("log");
	ck_assert_uint_eq(count_of(log, "value=1\n"), 1);
	ck_assert_uint_eq(count_of(log, "value=2\n"), 1);
	ck_assert_uint_eq(count_of(log, "value=3\n"), 1);
	ck_assert_uint_eq(count_of(log, "last words"), 2);
	free(log);
	ck_assert_int_eq(start("fork", NULL, "ctf:%s/trace"), 0);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "value = "), 3);
	ck_assert_uint_eq(count_of(text, "last words"), 2);
	free(text);
}
END_TEST

START_TEST(exit_inside_a_probe)
{
	int status = start("exit-in-probe", NULL, "text:%s/log");

	ck_assert(WIFEXITED(status)); /* and does not wait for itself */
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	char *log = trace_file("log");
	ck_assert_contains(log, "value=1\n");
	ck_assert_contains(log, "last words");
	free(log);
}
END_TEST

START_TEST(closed_descriptors)
{
	ck_assert_int_eq(start("closed", NULL, "text:stdout"), 0);
	ck_assert_contains(out_text, "value=1\n");
	ck_assert_lacks(out_text, "value=5\n"); /* no copy of the descriptor is kept */
}
END_TEST

START_TEST(setuid_programs_ignore_them)
{
	char command[2048];

	if (geteuid() != 0) {
		fprintf(stderr, "SKIPPED setuid_programs_ignore_them: only root can make a setuid program\n");
		return;
	}
	/* Where the file system ignores the bit, the copy would be traced after all: nosuid is a case for skipping, too. */
	snprintf(command, sizeof(command),
		 "case $(findmnt -no OPTIONS -T '%s') in *nosuid*) exit 77;; esac; "
		 "chmod 755 '%s' && cp /proc/%d/exe '%s/copy' && chown 65534 '%s/copy' && chmod 4755 '%s/copy' && "
		 "TP_OUTPUT=text:stderr '%s/copy' plain 2>'%s' >'%s'",
		 dir, dir, getpid(), dir, dir, dir, dir, err, out);
	int status = system(command);
	if (WEXITSTATUS(status) == 77) {
		fprintf(stderr, "SKIPPED setuid_programs_ignore_them: the file system knows no setuid\n");
		return;
	}
	ck_assert_int_eq(status, 0);
	char *text = read_file(err);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc > 1)
		return program(argv[1]);

	Suite *suite = suite_create("environment");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_set_timeout(all, 30);
	tcase_add_test(all, nothing_set);
	tcase_add_test(all, enable_alone_is_text_on_stderr);
	tcase_add_test(all, output_alone_is_everything);
	tcase_add_test(all, text_file);
	tcase_add_test(all, programs_that_it_starts);
	tcase_add_test(all, long_lines_of_several_processes);
	tcase_add_test(all, descriptor_that_is_another_files);
	tcase_add_test(all, limit_on_file_sizes);
	tcase_add_loop_test(all, ends_while_a_thread_is_in_a_probe, 0, 3);
	tcase_add_test(all, ctf_directory);
	tcase_add_test(all, flight_recorder);
	tcase_add_test(all, several_outputs);
	tcase_add_test(all, too_many_outputs);
	tcase_add_test(all, process_id_in_names);
	tcase_add_loop_test(all, mistake, 0, sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_test(all, no_event_of_that_name);
	tcase_add_test(all, full_disk);
	tcase_add_test(all, forked_child);
	tcase_add_test(all, exit_inside_a_probe);
	tcase_add_test(all, closed_descriptors);
	if (!under_sanitizer()) /* whose runtime is no setuid program's */
		tcase_add_test(all, setuid_programs_ignore_them);
	suite_add_tcase(suite, all);
	return run(suite);
}
