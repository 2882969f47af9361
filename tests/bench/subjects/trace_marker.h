/* SPDX-License-Identifier: MIT */
/* What one writes by hand into the kernel's trace buffer, whose trace_marker the environment names. */
#include <fcntl.h>
#include <unistd.h>

static int trace_marker;

static void prepare(int unused)
{
	const char *path = getenv("TRACE_MARKER");

	(void)unused;
	trace_marker = path ? open(path, O_WRONLY) : -1;
	if (trace_marker < 0)
		fail("TRACE_MARKER can't be opened");
}
#define PREPARE(argument) prepare(argument)

static void write_event(uint64_t number, uint32_t id, const char *name)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "bench:bench_event: number=%llu id=%u name=%s",
			   (unsigned long long)number, id, name);

	if (write(trace_marker, text, (size_t)len) != len)
		fail("trace_marker takes no text");
}
#define HIT(number, id, name) write_event(number, id, name)
