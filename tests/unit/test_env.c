/* SPDX-License-Identifier: MIT */
/*
 * test_env.c - TP_ENABLE and TP_OUTPUT: what is traced, and where to.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/sdt.h>

#include "traced.h"
#include "util.h"

static int program(const char *what)
{
	begin_traced();
	return strcmp(what, "kill") == 0 ? raise(SIGKILL) : 0;
}

FIXTURE(setup_traced, NULL)

TEST(nothing_set)
{
	ck_assert_int_eq(start("plain", NULL, NULL), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_int_eq(start("plain", "", ""), 0);
	ck_assert_str_eq(err_text, "");
}

TEST(enable_alone_is_text_on_stderr)
{
	ck_assert_int_eq(start("plain", "sample:*,!sample_int", NULL), 0);
	ck_assert_lacks(err_text, "value=");
	ck_assert_contains(err_text, " sample:sample_text: text=hello\n");
	ck_assert_contains(err_text, " sample:sample_text: text=last words\n");
	ck_assert_uint_eq(count_of(err_text, "\n"), 2);
	ck_assert_str_eq(out_text, "the program's own output\n");
}

TEST(output_alone_is_everything)
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

TEST(text_file)
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

TEST(ctf_directory)
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

TEST(flight_recorder)
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

TEST(several_outputs)
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

static unsigned int lines_of(const char *name)
{
	char *log = trace_file(name);
	unsigned int nr = count_of(log, "\n");

	free(log);
	return nr;
}

TEST(events_of_each_output)
{
	char path[256];

	ck_assert_int_eq(start("plain", "sample_int",
			       "ctf:%1$s/trace,packet=8K <- sample:*,!sample_int; text:%1$s/ints\t<-\tsample_int ;text:%1$s/enabled"), 0);
	ck_assert_str_eq(err_text, "");
	snprintf(path, sizeof(path), "%s/trace", dir);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "\n"), 2);
	ck_assert_lacks(text, "value");
	free(text);
	ck_assert_uint_eq(lines_of("ints"), 1);
	ck_assert_uint_eq(lines_of("enabled"), 1);
	/* Without TP_ENABLE, the others have everything. */
	ck_assert_int_eq(start("plain", NULL, "text:%1$s/one <- sample_int;text:%1$s/all"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(lines_of("one"), 1);
	ck_assert_uint_eq(lines_of("all"), 3);
	/* The arrow needs its blanks: these are names. */
	ck_assert_int_eq(start("plain", "sample_int", "text:%1$s/a<-b;text:%1$s/c <-d; text:%1$s/e<- f"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(lines_of("a<-b"), 1);
	ck_assert_uint_eq(lines_of("c <-d"), 1);
	ck_assert_uint_eq(lines_of("e<- f"), 1);
}

TEST(filters)
{
	ck_assert_int_eq(start("plain", "sample_int if value > 100; sample_text;", "text:%1$s/log"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(lines_of("log"), 2);
	ck_assert_int_eq(start("plain", "*; sample_int if value <= 100 && comm != \";\" ;; sample_text if text == 'a;b if <- c' ", "text:%1$s/log"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(lines_of("log"), 2 + 1);
	/* Of an output: a rule after each arrow. */
	ck_assert_int_eq(start("plain", "sample_int if value < 0",
			       "text:%1$s/one <- sample_int if value < 100 <- sample_text;text:%1$s/two <- * <- sample_text if text ~ "
			       "\"; <- *\" ; text:%1$s/three"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(lines_of("one"), 3);
	ck_assert_uint_eq(lines_of("two"), 1);
	ck_assert_uint_eq(lines_of("three"), 0);
	/* What it does not fit stays as it was, which is told once. */
	ck_assert_int_eq(start("plain", "sample_text; * if value == 123456", "text:%1$s/four;text:%1$s/five"), 0);
	ck_assert_contains(err_text, "tp: TP_ENABLE=sample_text; * if value == 123456: the filter does not fit ");
	ck_assert_contains(err_text, " of the events, which stay as they were, as 'sample:sample_");
	ck_assert_uint_eq(count_of(err_text, "\n"), 1);
	ck_assert_uint_eq(lines_of("four"), 2);
	ck_assert_uint_eq(lines_of("five"), 2);
}

/* A mistake costs the output that has it, and nothing is made for that. */
TEST(mistakes_in_the_patterns_of_one)
{
	ck_assert_int_eq(start("plain", "sample_int",
			       "text:%1$s/other;ctf:%1$s/trace <- a,,b;text:%1$s/none <-; <- sample_int;text:%1$s/more"), 0);
	ck_assert_contains(err_text, "/trace <- a,,b: no list of patterns; write for example sched:*,!sched:sched_wakeup; nothing "
				     "goes there\n");
	ck_assert_contains(err_text, "/none <- : no list of patterns;");
	ck_assert_contains(err_text, "tp: TP_OUTPUT=: there are patterns, but no output in front of them; use text:stderr,");
	ck_assert_uint_eq(count_of(err_text, "\n"), 3);
	ck_assert_uint_eq(count_files(dir, "trace") + count_files(dir, "none"), 0);
	ck_assert_uint_eq(lines_of("other"), 1);
	ck_assert_uint_eq(lines_of("more"), 1);
}

#define LATER "; modules that are loaded later may have one"

TEST(unmatched_patterns_of_each)
{
	char expected[2048];

	ck_assert_int_eq(start("plain", "smaple:*", "text:%1$s/log;text:%1$s/one <- sample_int,sample_itn;text:%1$s/two <- nobody:*"), 0);
	snprintf(expected, sizeof(expected),
		 "tp: TP_OUTPUT=text:%s/one <- sample_int,sample_itn: no event of this program is called 'sample_itn'" LATER "\n"
		 "tp: TP_OUTPUT=text:%s/two <- nobody:*: no event of this program has such a name; nothing is traced there" LATER "; write "
		 "SYSTEM:EVENT, EVENT, or SYSTEM:* for all of a system, and commas in between\n"
		 "tp: TP_ENABLE=smaple:*: no event of this program has such a name; nothing is traced by it" LATER "; write "
		 "SYSTEM:EVENT, EVENT, or SYSTEM:* for all of a system, and commas in between\n", dir, dir);
	ck_assert_str_eq(err_text, expected);
	/* No output has them. */
	ck_assert_int_eq(start("plain", "smaple:*", "text:%s/log <- sample_int"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_int_eq(start("plain", "a,,b", "text:%s/new <- sample_int"), 0);
	ck_assert_contains(err_text, "tp: TP_ENABLE=a,,b: no list of patterns;");
	ck_assert_uint_eq(count_files(dir, "new"), 0);
}

TEST(too_many_outputs)
{
	ck_assert_int_eq(start("plain", "sample_int",
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;"
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/null;"
			       "text:/dev/null;text:/dev/null;text:/dev/null;text:/dev/stdout;text:/dev/stderr"),
			 0);
	ck_assert_contains(out_text, "value=1\n");
	ck_assert_str_eq(err_text, "tp: TP_OUTPUT: text:/dev/stderr is one too many: there can be 16; it gets nothing\n");
}

TEST(process_id_in_names)
{
	ck_assert_int_eq(start("plain", NULL, "text:%s/log.%%p.%%p"), 0);
	ck_assert_str_eq(err_text, "");
	ck_assert_uint_eq(count_files(dir, "log."), 1);
	ck_assert_uint_eq(count_files(dir, "log.%p"), 0);
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace-%%p"), 0);
	ck_assert_int_eq(start("plain", NULL, "ctf:%s/trace-%%p"), 0);
	ck_assert_uint_eq(count_files(dir, "trace-"), 2);
}

static const struct {
	const char *enable, *output, *message;
} mistakes[] = {
	{NULL, "xyz",
	 "tp: TP_OUTPUT=xyz: unknown kind 'xyz'; use text:stderr, text:stdout, text:FILE, socket:PATH, ctf:DIRECTORY, "
	 "perfetto:FILE, stats:FILE, latency:FILE, lttng:, ftrace:[INSTANCE] or sdt:\n"},
	{NULL, "xyz:a:b", "tp: TP_OUTPUT=xyz:a:b: unknown kind 'xyz'; use text:stderr"},
	{NULL, "TEXT:stderr", "unknown kind 'TEXT'"},
	{NULL, "text", "the name is missing"},
	{NULL, "text:", "tp: TP_OUTPUT=text:: the name is missing"},
	{NULL, "ctf:", "tp: TP_OUTPUT=ctf:: the name is missing"},
	{NULL, "stats:,json", "tp: TP_OUTPUT=stats:,json: the name is missing"},
	{NULL, "text:%s/no/such/file", "No such file or directory"},
	{NULL, "socket:", "tp: TP_OUTPUT=socket:: the name is missing"},
	{NULL, "socket:%s/nothing", "/nothing: No such file or directory; nobody listens there: start the reader first; nothing goes there\n"},
	{NULL, "socket:%s/out", "Connection refused; nobody listens there"},
	{NULL, "ctf:%s/no/such/directory", "No such file or directory"},
	{NULL, "ctf:/proc/trace", "No such file or directory"},
	{NULL, "ctf:%s/out", "Not a directory"},
	{NULL, "ctf:%s/trace,packet=1",
	 "/trace': option 'packet=1': packet= takes bytes, from 4K to 1G (suffixes K, M, G); there is no trace\n"}, /* the sink's own words */
	{NULL, "ctf:%s/trace,mode=flight,colour=red", "/trace': there is no option 'colour=red'; there are mode=, "},
	{NULL, "ctf:%s/trace,", NULL},
#if TP_SDT_POSSIBLE
	{NULL, "sdt:", NULL},
#else
	{NULL, "sdt:", "tp: sdt output: there are probes for outside tools on 64-bit x86 and ARM, but not on this processor; nothing goes there\n"},
#endif
	{NULL, "sdt:x", "tp: TP_OUTPUT=sdt:x: an sdt output has no name and no options: write sdt:; nothing goes there\n"},
	{",", "text:%s/log", "tp: TP_ENABLE=,: no list of patterns"},
	{"!a", NULL, "tp: TP_ENABLE=!a: no list of patterns"},
	{"a,! ,b", NULL, "tp: TP_ENABLE=a,! ,b: no list of patterns"},
	/* No terminal obeys it: control characters, of which some have two bytes, and what is no UTF-8. */
	{"\x1b]0\a,\n\x7f\xc2\x9b,,", NULL, "tp: TP_ENABLE=?]0?, ?\?\?,,: no list of patterns"},
	{NULL, "f\xc3\xbcr\xff\xc3:", "unknown kind 'f\xc3\xbcr?\?'"},
	{"a,,b", "ctf:%s/trace", "tp: TP_ENABLE=a,,b: no list of patterns"},
	{";", "ctf:%s/trace", "tp: TP_ENABLE=;: no list of patterns"},
	{"sample_int if value >> 3; sample_text", "ctf:%s/trace",
	 "tp: TP_ENABLE=sample_int if value >> 3; sample_text: the filter is wrong: Invalid value (did you forget quotes)?, at "
	 "'> 3'; nothing is traced\n"},
	{"sample_int if", "ctf:%s/trace", "the filter is wrong: No filter found, at the end; nothing is traced\n"},
	{"if value > 3", "ctf:%s/trace", "tp: TP_ENABLE=if value > 3: no list of patterns"},
	{"sample_text if text == 'x; sample_int", "ctf:%s/trace", "the filter is wrong: Missing matching quote, at ''x; sample_int'"},
	{NULL, "ctf:%s/trace <- sample_int if value ==;;", "the filter is wrong: Invalid value"},
};

LOOP_TEST(mistake, NR_OF(mistakes))
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

TEST(no_event_of_that_name)
{
	ck_assert_int_eq(start("plain", "shced:*", "text:%s/log"), 0);
	ck_assert_contains(err_text, "tp: TP_ENABLE=shced:*: no event of this program has such a name");
	ck_assert_uint_eq(count_of(err_text, "\n"), 1);
	/* One of several. */
	ck_assert_int_eq(start("plain", "sample_int, smaple_text,! sample:nothing ,", "text:%s/log"), 0);
	ck_assert_str_eq(err_text, "tp: TP_ENABLE=sample_int, smaple_text,! sample:nothing ,: no event of this program is "
				   "called 'smaple_text'" LATER "\n"
				   "tp: TP_ENABLE=sample_int, smaple_text,! sample:nothing ,: no event of this program is "
				   "called 'sample:nothing'" LATER "\n");
}

int main(int argc, char **argv)
{
	return argc > 1 ? program(argv[1]) : run_tests();
}
