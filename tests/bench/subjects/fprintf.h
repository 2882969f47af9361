/* SPDX-License-Identifier: MIT */
/*
 * What one writes by hand: the line that our text sink prints, into one FILE
 * for all threads, which is line-buffered where there is an argument. The
 * environment may name another file than /dev/null, which is appended to.
 */
#include <unistd.h>

static FILE *file;
static int pid;

static void prepare(int line_buffered)
{
	const char *path = getenv("FPRINTF_FILE");

	file = fopen(path ? path : "/dev/null", "a");
	if (!file)
		fail("the file can't be opened");
	if (line_buffered)
		setvbuf(file, NULL, _IOLBF, BUFSIZ);
	pid = getpid();
}
#define PREPARE(argument) prepare(argument)

static void print_event(uint64_t number, uint32_t id, const char *name)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(file, "%lld.%09ld %d/%d bench:bench_event: number=%llu id=%u name=%s\n", (long long)now.tv_sec,
		now.tv_nsec, pid, pid, (unsigned long long)number, id, name);
}
#define HIT(number, id, name) print_event(number, id, name)
