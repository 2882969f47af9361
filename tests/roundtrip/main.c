/* SPDX-License-Identifier: MIT */
/*
 * Round trip: main THREADS EVENTS SEED LOGDIR hits the tracepoints of all.tp
 * with random values, and writes what it passed, a JSON object a line and a
 * file a thread, for the test to compare with what a reader of the trace says.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "all.h"

static unsigned long events;
static uint64_t seed;
static const char *logdir;

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* All ones, all zeros, the sign bit and small values come often. */
static uint64_t number(uint64_t *state)
{
	static const uint64_t edges[] = { 0, 1, UINT64_MAX, INT64_MAX, 1u << 31, 0x8080808080808080u, 255, 65536 };
	uint64_t which = next(state) % 16;

	return which < 8 ? edges[which] : next(state);
}

static void hit_numbers(FILE *log, uint64_t id, uint64_t *state)
{
	static const enum color colors[] = { RED, GREEN, BLUE, (enum color)5 };
	static const uint16_t modes[] = { 0, 1, 2, 3, 0x8000, 0x8001, 0x8002, 0x8003, 4, 0x8004 };
	static const char *const mode_names[] = { "", "r", "w", "rw", "\\\"top\\\"", "r|\\\"top\\\"",
		"w|\\\"top\\\"", "rw|\\\"top\\\"", "0x4", "\\\"top\\\"|0x4" };
	unsigned int mode = (unsigned int)(next(state) % 10);
	struct numbers n = {
		.i8 = (int8_t)number(state), .u8 = (uint8_t)number(state), .i16 = (int16_t)number(state),
		.u16 = (uint16_t)number(state), .i32 = (int32_t)number(state), .u32 = (uint32_t)number(state),
		.i64 = (int64_t)number(state), .u64 = number(state), .l = (long)number(state),
		.z = (size_t)number(state), .b = number(state) & 1, .c = (char)number(state),
		.f = (float)(int16_t)number(state) / 8, .d = (double)(int32_t)number(state) / 1024,
		.p = (const void *)(uintptr_t)number(state), .e = colors[next(state) % 4],
		.m = modes[mode],
	};

	trace_all_numbers(id, &n);
	fprintf(log, "{\"name\": \"all:all_numbers\", \"fields\": {\"id\": %" PRIu64 ", \"i8\": %d, \"u8\": %d, "
		"\"i16\": %d, \"u16\": %d, \"i32\": %" PRId32 ", \"u32\": %" PRIu32 ", \"i64\": %" PRId64
		", \"u64\": %" PRIu64 ", \"l\": %ld, \"z\": %zu, \"b\": %d, \"c\": %d, \"f\": %.17g, \"d\": %.17g, "
		"\"p\": %" PRIuPTR ", \"e\": %d, \"m\": %d}, ", id, n.i8, n.u8, n.i16, n.u16, n.i32, n.u32,
		n.i64, n.u64, n.l, n.z, n.b, n.c, (double)n.f, n.d, (uintptr_t)n.p, (int)n.e, n.m);
	fprintf(log, "\"text\": \"id=%" PRIu64 " i8=%d i32=%" PRId32 " u32=%" PRIu32 " l=%ld z=%zu f=%g e=%s m=%s\"}\n",
		id, n.i8, n.i32, n.u32, n.l, n.z, n.d,
		n.e == RED ? "red" : n.e == GREEN ? "gr\\\"een" : n.e == BLUE ? "blue" : "0x5", mode_names[mode]);
}

static void hit_arrays(FILE *log, uint64_t id, uint64_t *state)
{
	char text[17] = "";
	uint8_t bytes[5];
	uint16_t shorts[3];
	double doubles[2];
	size_t length = next(state) % 17;

	for (size_t i = 0; i < length; i++)
		text[i] = (char)('a' + next(state) % 26);
	for (int i = 0; i < 5; i++)
		bytes[i] = (uint8_t)number(state);
	for (int i = 0; i < 3; i++)
		shorts[i] = (uint16_t)number(state);
	for (int i = 0; i < 2; i++)
		doubles[i] = (double)(int32_t)number(state) / 3;
	trace_all_arrays(id, text, bytes, shorts, doubles);
	fprintf(log, "{\"name\": \"all:all_arrays\", \"fields\": {\"id\": %" PRIu64 ", \"text\": \"%.15s\", \"bytes\": "
		"[%d, %d, %d, %d, %d], \"shorts\": [%d, %d, %d], \"doubles\": [%.17g, %.17g]}, \"text\": \"id=%" PRIu64
		" text=%.15s\"}\n", id, text, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], shorts[0], shorts[1],
		shorts[2], doubles[0], doubles[1], id, text);
}

/* size bytes as a JSON list of unsigned (or signed, for width 8) numbers of width bytes. */
static void list(FILE *log, const char *name, const unsigned char *data, size_t size, size_t width)
{
	fprintf(log, ", \"%s\": [", name);
	for (size_t at = 0; at + width <= size; at += width) {
		uint64_t value = 0;

		memcpy(&value, data + at, width); /* little endian */
		fprintf(log, width == 8 ? "%s%" PRId64 : "%s%" PRIu64, at ? ", " : "", value);
	}
	fputs("]", log);
}

static void hit_dynamic(FILE *log, uint64_t id, uint64_t *state)
{
	static const char *const texts[] = { "", "a", "two words", "gr\303\274n", NULL };
	const char *first = texts[next(state) % 5];
	unsigned n = next(state) % 8 ? (unsigned)(next(state) % 40) : (unsigned)(next(state) % 900);
	unsigned char data[1000];
	char last[1000], letters[1000];

	memset(letters, 'x', sizeof(letters));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)next(state);
	memset(last, 'z', sizeof(last));
	last[next(state) % (n + 1)] = '\0';
	trace_all_dynamic(id, first, n, data, last);
	first = first ? first : "(null)";
	fprintf(log, "{\"name\": \"all:all_dynamic\", \"fields\": {\"id\": %" PRIu64 ", \"event\": \"%s\", \"last\": "
		"\"%s\", \"string\": %d, \"letters\": \"%.*s\"", id, first, last, (uint8_t)n, (int)n,
		letters);
	list(log, "stream", data, n, 1);
	list(log, "shorts", data, n / 2 * 2, 2);
	list(log, "align", data, n / 4 * 4, 4);
	list(log, "longs", data, n / 8 * 8, 8);
	list(log, "doubles", (const unsigned char[1000]){ 0 }, n / 8 * 8, 8);
	fputs("}}\n", log);
}

static void *thread(void *arg)
{
	uint64_t number_of_thread = (uint64_t)(uintptr_t)arg;
	uint64_t state = seed + number_of_thread * 7919;
	char path[4096];
	FILE *log;

	snprintf(path, sizeof(path), "%s/%ld", logdir, (long)syscall(SYS_gettid));
	log = fopen(path, "w");
	if (!log) {
		perror(path);
		exit(1);
	}
	for (uint64_t i = 0; i < events; i++) {
		uint64_t id = number_of_thread << 32 | i;

		switch (next(&state) % 4) {
		case 0:
			hit_numbers(log, id, &state);
			break;
		case 1:
			hit_arrays(log, id, &state);
			break;
		case 2:
			hit_dynamic(log, id, &state);
			break;
		default:
			trace_all_empty(0);
			fputs("{\"name\": \"all:all_empty\", \"fields\": {}, \"text\": \"nothing\"}\n", log);
		}
	}
	fclose(log);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	unsigned long count = argc == 5 ? strtoul(argv[1], NULL, 10) : 0;

	if (!count || count > 64) {
		fprintf(stderr, "usage: %s THREADS EVENTS SEED LOGDIR\n", argv[0]);
		return 2;
	}
	events = strtoul(argv[2], NULL, 10);
	seed = strtoul(argv[3], NULL, 10);
	logdir = argv[4];
	for (unsigned long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i);
	for (unsigned long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
