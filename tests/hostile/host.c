/* SPDX-License-Identifier: MIT */
/*
 * host.c - "host MODULE DIRECTORY": starts, for each case that stands in its input, a process with that environment,
 * which loads the module, hits its events and exits. A case is the variables' values, each ended by a NUL.
 *
 * The process is in a directory of its own. Of each case that did not go well, a line in the output says why: it was
 * killed, or has left memory behind (a sanitizer says so), there is a file outside of its directory, or a
 * byte in what it said that a terminal would obey.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"TP_ENABLE", "TP_OUTPUT", "TP_LOG", "TP_CLOCK"};

#define NR (sizeof(names) / sizeof(names[0]))
#define FILE_MAX (8l << 20)
#define PATIENCE 600 /* seconds, which only make a hang a failure */

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- The process ---- */

static void redirect(int fd, const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		fail(path);
	close(file);
}

static void run(const char *module, char *const values[NR])
{
	const struct rlimit limit = {FILE_MAX, FILE_MAX};
	void (*hit)(void);

	redirect(STDOUT_FILENO, "out");
	redirect(STDERR_FILENO, "err");
	if (chdir("work") != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
		fail("work");
	alarm(PATIENCE);
	for (size_t i = 0; i < NR; i++)
		setenv(names[i], values[i], 1);
	void *object = dlopen(module, RTLD_NOW);
	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	*(void **)&hit = dlsym(object, "hit");
	hit();
	exit(0);
}

/* ---- What it has left ---- */

/* What a terminal obeys, in ASCII and in UTF-8; and what is no UTF-8 at all. */
static bool is_plain(const unsigned char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t more = text[i] < 0x80 ? 0 : text[i] < 0xc2 ? len : text[i] < 0xe0 ? 1 : text[i] < 0xf0 ? 2 : 3;
		if ((text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f || i + more >= len)
			return false;
		for (size_t j = 1; j <= more; j++) {
			if ((text[i + j] & 0xc0) != 0x80)
				return false;
		}
		if (text[i] == 0xc2 && text[i + 1] < 0xa0)
			return false;
		i += 1 + more;
	}
	return true;
}

/* A line of the runtime, or one of a text output there: "SECONDS.NANOSECONDS PID/TID guest:...". */
static bool is_line(const char *line)
{
	return strncmp(line, "tp: ", 4) == 0 ||
	       (strspn(line, "0123456789") == 10 && line[10] == '.' && strstr(line, " guest:guest_"));
}

static const char *judge_text(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "re");

	if (!file)
		fail(path);
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	if (strlen(text) != len || !is_plain((unsigned char *)text, len))
		return "says what a terminal obeys";
	char *rest = NULL;
	for (const char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!is_line(line))
			return "says what is no line of the runtime";
	}
	return NULL;
}

static const char *judge_files(void)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	const char *wrong = NULL;

	if (!dir)
		fail("directory");
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (*name != '.' && strcmp(name, "work") != 0 && strcmp(name, "out") != 0 && strcmp(name, "err") != 0)
			wrong = "makes a file outside of its directory";
	}
	closedir(dir);
	return wrong;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	return at->level ? remove(path) : 0;
}

static void show(const char *name, const char *text)
{
	printf("  %s=", name);
	for (; *text; text++)
		printf((unsigned char)*text < ' ' || (unsigned char)*text > '~' || *text == '\\' ? "\\x%02x" : "%c",
		       (unsigned char)*text);
	puts("");
}

static void show_file(const char *path)
{
	char line[4096];
	FILE *file = fopen(path, "re");

	for (int i = 0; file && i < 60 && fgets(line, sizeof(line), file); i++)
		show(path, line);
	if (file)
		fclose(file);
}

static bool try(const char *module, char *const values[NR])
{
	const char *wrong = NULL;
	int status = 0;

	if (nftw("work", remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		fail("work");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		run(module, values);
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("fork");
	if (status)
		wrong = "does not end as it should";
	if (!wrong)
		wrong = judge_text("err");
	if (!wrong)
		wrong = judge_text("out");
	if (!wrong)
		wrong = judge_files();
	if (!wrong)
		return true;
	printf("%s: status 0x%x\n", wrong, (unsigned int)status);
	for (size_t i = 0; i < NR; i++)
		show(names[i], values[i]);
	show_file("err");
	return false;
}

int main(int argc, char **argv)
{
	static char *values[NR];
	static size_t sizes[NR];
	bool good = true;

	if (argc != 3 || chdir(argv[2]) != 0 || (mkdir("work", 0700) != 0 && errno != EEXIST))
		fail("usage: host MODULE DIRECTORY");
	for (;;) {
		for (size_t i = 0; i < NR; i++) {
			if (getdelim(&values[i], &sizes[i], '\0', stdin) < 0)
				return !good;
		}
		good = try(argv[1], values) && good;
	}
}
