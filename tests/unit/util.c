/* SPDX-License-Identifier: MIT */
/*
 * util.c - see util.h.
 */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "util.h"

static int stderr_copy = -1, stderr_file = -1;

void capture_stderr(void)
{
	fflush(stderr);
	stderr_copy = dup(STDERR_FILENO);
	stderr_file = memfd_create("stderr", MFD_CLOEXEC);
	ck_assert_int_ge(stderr_file, 0);
	dup2(stderr_file, STDERR_FILENO);
	tp_message_look_again();
}

static char *read_all(int fd)
{
	size_t size = 4096, len = 0;
	char *text = malloc(size);
	ssize_t n;

	while ((n = read(fd, text + len, size - len - 1)) > 0) {
		len += (size_t)n;
		if (len + 1 == size)
			text = realloc(text, size *= 2);
	}
	text[len] = '\0';
	return text;
}

char *captured_stderr(void)
{
	fflush(stderr);
	dup2(stderr_copy, STDERR_FILENO);
	tp_message_look_again();
	close(stderr_copy);
	lseek(stderr_file, 0, SEEK_SET);
	char *text = read_all(stderr_file);
	close(stderr_file);
	return text;
}

/* All temporary directories of the program; made and removed by run(), so that killed tests leave nothing either. */
static char base[] = "/tmp/tp-unit-XXXXXX";

const char *temp_dir(void)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "%s/XXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	/* For the users that some tests become. */
	ck_assert_int_eq(chmod(dir, 0755), 0);
	return dir;
}

char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");

	ck_assert_msg(f != NULL, "cannot open %s", path);
	char *text = read_all(fileno(f));
	fclose(f);
	return text;
}

unsigned int count_files(const char *dir, const char *prefix)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	unsigned int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d)))
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(d);
	return n;
}

char *babeltrace(const char *dir, int *status)
{
	char command[640];

	/* Its messages go behind: among the events they would break a line in two. */
	snprintf(command, sizeof(command),
		 "ulimit -v 4000000; e=$(mktemp); LC_ALL=C.UTF-8 timeout 600 babeltrace2 --clock-seconds --no-delta '%s' 2>\"$e\"; "
		 "s=$?; cat \"$e\"; rm \"$e\"; exit $s", dir);
	FILE *f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	char *text = read_all(fileno(f));
	*status = pclose(f);
	return text;
}

char *clean_babeltrace(const char *dir)
{
	int status;
	char *text = babeltrace(dir, &status);

	size_t len = strlen(text); /* check can't report all of a long trace; the errors are at its end */
	ck_assert_msg(status == 0, "babeltrace2 ends with %d: %s", WEXITSTATUS(status), text + (len > 4000 ? len - 4000 : 0));
	return text;
}

char *find(const char *text, const char *needle)
{
	size_t len = strlen(needle);

	/* Not strstr: AddressSanitizer's takes the length of the whole text each time. */
	while ((text = strchr(text, *needle)) && strncmp(text, needle, len) != 0)
		text++;
	return (char *)(uintptr_t)text;
}

unsigned int count_of(const char *text, const char *needle)
{
	unsigned int n = 0;

	while ((text = find(text, needle))) {
		text += strlen(needle);
		n++;
	}
	return n;
}

bool under_thread_sanitizer(void)
{
#if defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

bool under_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return true;
#endif
#endif
	return under_thread_sanitizer();
}

size_t allocated(void)
{
#ifdef __GLIBC__
	return mallinfo2().uordblks;
#else
	size_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	ck_assert(file && fscanf(file, "%*u %*u %*u %*u %*u %zu", &pages) == 1);
	fclose(file);
	return pages * (size_t)getpagesize();
#endif
}

unsigned int few_or_many(unsigned int few, unsigned int many)
{
	const char *which = getenv("TPGEN_TESTS");

	return which && strcmp(which, "check") == 0 ? few : many;
}

/* A limit only turns a hang into a failure: a busy machine, an emulator or a sanitizer must not. */
static void __attribute__((constructor)) set_limit(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "1500", 0);
}

/* By lines: constructors come in any order. */
static struct unit *units;

void add_unit(struct unit *unit, int times)
{
	struct unit **at = &units;

	while (*at && (*at)->test.line < unit->test.line)
		at = &(*at)->next;
	unit->times = times;
	unit->next = *at;
	*at = unit;
}

static void add_all(Suite *suite)
{
	TCase *tests = tcase_create("tests");
	const struct unit *first = units;

	suite_add_tcase(suite, tests);
	for (const struct unit *unit = units; unit; unit = unit->next) {
		if (unit->test.fn) {
			tcase_add_loop_test(tests, &unit->test, 0, unit->times);
			continue;
		}
		tests = tcase_create(unit->test.name);
		tcase_add_checked_fixture(tests, unit->setup, unit->teardown);
		suite_add_tcase(suite, tests);
		if (!unit->again)
			first = unit->next;
		for (const struct unit *above = first; unit->again && above->test.fn; above = above->next)
			tcase_add_loop_test(tests, &above->test, 0, above->times);
	}
}

int run_tests(void)
{
	Suite *suite = suite_create(program_invocation_short_name);
	SRunner *runner = srunner_create(suite);
	char command[64];

	add_all(suite);
	if (!mkdtemp(base) || chmod(base, 0755) != 0) {
		perror(base);
		return EXIT_FAILURE;
	}
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	snprintf(command, sizeof(command), "rm -rf '%s'", base);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", base);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

__attribute__((weak)) int main(void)
{
	return run_tests();
}
