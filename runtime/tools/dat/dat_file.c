/* SPDX-License-Identifier: MIT */
#include "dat/dat_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tracepoint.h>

#include "client/clean.h"
#include "dat/ring.h"
#include "fail_msg.h"

/* Kinds of options. */
#define OPTION_DONE 0
#define OPTION_CPUSTAT 2
#define OPTION_VERSION 9

static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n"
				   "\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

bool dat_file_open(struct dat_file *dat, const char *path)
{
	return new_file_open(&dat->new, path, 0666, true);
}

/* ---- What is in front of the pages; errors are looked for at its end ---- */

static void put(FILE *file, const void *data, size_t size)
{
	fwrite(data, 1, size, file);
}

static void put_u32(FILE *file, uint32_t value)
{
	put(file, &value, sizeof(value));
}

static void put_u64(FILE *file, uint64_t value)
{
	put(file, &value, sizeof(value));
}

static void put_string(FILE *file, const char *text)
{
	put(file, text, strlen(text) + 1);
}

/* A text behind its length. */
static void put_text(FILE *file, const char *text, size_t len)
{
	put_u64(file, len);
	put(file, text, len);
}

static void put_begin(FILE *file, size_t page_size, uint32_t word)
{
	static const char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g', '6', '\0'};
	char header_page[512];

	put(file, magic, sizeof(magic));
	fputc(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, file);
	fputc((int)word, file);
	put_u32(file, (uint32_t)page_size);

	put_string(file, "header_page");
	int len = snprintf(header_page, sizeof(header_page),
			   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			   "\tfield: char data;\toffset:%u;\tsize:%zu;\tsigned:0;\n",
			   RING_PAGE_HEAD, page_size - RING_PAGE_HEAD);
	put_text(file, header_page, (size_t)len);
	put_string(file, "header_event");
	put_text(file, header_event, strlen(header_event));
}

static void put_format(FILE *file, const struct dat_event *event)
{
	char id[8];
	const int len = snprintf(id, sizeof(id), "%u", event->id);

	put_u64(file, event->id_at + (size_t)len + event->len - event->id_end);
	put(file, event->text, event->id_at);
	put(file, id, (size_t)len);
	put(file, event->text + event->id_end, event->len - event->id_end);
}

/* How many from there on are of one system. */
static size_t in_system(const struct dat_events *events, size_t first)
{
	size_t end = first + 1;

	while (end < events->nr && strcmp(events->all[end].system, events->all[first].system) == 0)
		end++;
	return end - first;
}

static void put_formats(FILE *file, const struct dat_events *events)
{
	uint32_t systems = 0;

	for (size_t i = 0; i < events->nr; i += in_system(events, i))
		systems++;
	put_u32(file, 0); /* ftrace's own events */
	put_u32(file, systems);
	for (size_t i = 0, nr; i < events->nr; i += nr) {
		nr = in_system(events, i);
		put_string(file, events->all[i].system);
		put_u32(file, (uint32_t)nr);
		for (size_t j = i; j < i + nr; j++)
			put_format(file, &events->all[j]);
	}
}

/* A line is "TID NAME"; readers stop at one that they can't read, as that of a name of blanks. */
static size_t format_name(char line[64], const struct thread *thread)
{
	char name[COMM_SIZE];
	const char *at = name;

	memcpy(name, thread->name, sizeof(name));
	clean(name);
	at += strspn(at, " \t");
	return thread->tid && *at ? (size_t)snprintf(line, 64, "%d %s\n", thread->tid, at) : 0;
}

static void put_names(FILE *file, const struct threads *threads)
{
	uint64_t size = 0;
	char line[64];

	for (size_t i = 0; i < threads->size; i++)
		size += format_name(line, &threads->places[i]);
	put_u64(file, size);
	for (size_t i = 0; i < threads->size; i++)
		put(file, line, format_name(line, &threads->places[i]));
}

static void put_option(FILE *file, uint16_t kind, const char *text)
{
	put(file, &kind, sizeof(kind));
	put_u32(file, (uint32_t)strlen(text) + 1);
	put_string(file, text);
}

/* What "trace-cmd report --stat" shows: which stream a CPU is, as its threads are with its events. */
static void put_options(FILE *file, const struct dat_cpu *cpus, uint32_t nr)
{
	const uint16_t done = OPTION_DONE;
	char text[256];

	put_string(file, "options  ");
	for (uint32_t i = 0; i < nr; i++) {
		const char *number = strrchr(cpus[i].name, '-'); /* of the packet */
		snprintf(text, sizeof(text), "CPU: %u\nstream: %.*s\nevents: %llu\nlost: %llu\n", i,
			 (int)(number ? number - cpus[i].name : 0), cpus[i].name, (unsigned long long)cpus[i].events,
			 (unsigned long long)cpus[i].lost);
		put_option(file, OPTION_CPUSTAT, text);
	}
	put_option(file, OPTION_VERSION, "tp " TP_VERSION);
	put(file, &done, sizeof(done));
}

uint64_t dat_file_head(struct dat_file *dat, size_t page_size, uint32_t word, const struct dat_events *events, const struct threads *threads,
		       const struct dat_cpu *cpus, uint32_t nr)
{
	FILE *file = dat->new.file;

	put_begin(file, page_size, word);
	put_formats(file, events);
	put_u32(file, 0); /* bytes of addresses of functions */
	put_u32(file, 0); /* bytes of formats of trace_printk() */
	put_names(file, threads);
	put_u32(file, nr);
	put_options(file, cpus, nr);
	put_string(file, "flyrecord");
	dat->cpus_at = ftell(file);
	for (uint32_t i = 0; i < 2 * nr; i++)
		put_u64(file, 0);
	long end = ftell(file);
	if (dat->cpus_at < 0 || end < 0 || fflush(file) != 0 || ferror(file)) {
		new_file_failed(&dat->new);
		return 0;
	}
	return ((uint64_t)end + page_size - 1) / page_size * page_size;
}

/* ---- Its end ---- */

bool dat_file_finish(struct dat_file *dat, const struct dat_cpu *cpus, uint32_t nr, uint64_t end)
{
	FILE *file = dat->new.file;

	if (fseek(file, dat->cpus_at, SEEK_SET) != 0)
		return new_file_failed(&dat->new);
	for (uint32_t i = 0; i < nr; i++) {
		put_u64(file, cpus[i].offset);
		put_u64(file, cpus[i].size);
	}
	if (fflush(file) != 0 || ferror(file) || ftruncate(fileno(file), (off_t)end) != 0)
		return new_file_failed(&dat->new);
	return new_file_finish(&dat->new);
}

void dat_file_close(struct dat_file *dat)
{
	new_file_close(&dat->new);
}
