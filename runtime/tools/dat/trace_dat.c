/* SPDX-License-Identifier: MIT */
/*
 * trace_dat.c - the two ways through traces of which a trace.dat is made. They are read twice, as a trace.dat says
 * first how large its pages are and what the threads are called. So nothing but that needs to be kept in memory: a few
 * bytes of each packet and thread.
 */
#include "dat/trace_dat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/dat_events.h"
#include "dat/dat_file.h"
#include "read/packet_reader.h"
#include "read/traces.h"
#include "report/progress.h"
#include "dat/ring.h"
#include "fail_msg.h"

/* Bytes of a packet that are in memory: some of the longest events. */
#define WINDOW_SIZE ((size_t)1 << 20)
#define EACH 1024 /* events between two looks at the bar */

/* CPUs of the kernel that may be without events, in front of others. */
#define CPU_MAX 8192u

struct export {
	struct traces traces;
	const struct trace **order; /* of them: the kernel's first, whose CPUs have their numbers then */
	struct threads threads;
	struct event_texts **texts; /* of each trace; NULL: it needs none */
	struct dat_events events;
	struct packet_reader reader;
	struct dat_cpu *cpus; /* one a stream */
	uint32_t nr_cpus;
	size_t largest; /* record */
	struct dat_file dat;
	struct ring ring;
	struct progress progress;
	uint64_t done, total; /* bytes of packets, of both ways */
	unsigned char record[RECORD_MAX + 1];
};

static size_t number_of(const struct export *export, const struct trace *trace)
{
	return (size_t)(trace - export->traces.traces);
}

/* Calls fn for each event of the i-th packet, until it returns false. */
static bool each_event(struct export *export, const struct trace *trace, size_t i,
		       bool (*fn)(struct export *export, const struct trace *trace, const struct event *event))
{
	const struct trace_dir *dir = &trace->dir;
	enum packet_result result;
	struct event event;
	uint64_t nr = 0;

	packet_begin(&export->reader, &dir->packets[i], trace_dir_is_first(dir, i));
	while ((result = packet_next(&export->reader, &event)) == PACKET_EVENT) {
		if (!fn(export, trace, &event))
			return false;
		if (++nr % EACH == 0)
			progress_show(&export->progress, export->done + export->reader.offset, export->total);
	}
	export->done += dir->packets[i].content;
	return result == PACKET_END;
}

static void begin_trace(struct export *export, const struct trace *trace)
{
	packet_reader_free(&export->reader);
	export->reader = packet_reader_of(trace, WINDOW_SIZE);
}

/* ---- The first way through: what is in front of the pages ---- */

static bool survey_event(struct export *export, const struct trace *trace, const struct event *event)
{
	struct event_texts *texts = export->texts[number_of(export, trace)];
	const size_t size = texts ? event_texts_survey(texts, event) : event->size;

	export->cpus[export->nr_cpus - 1].events++;
	if (size > export->largest)
		export->largest = size;
	return size && threads_add(&export->threads, event->tid, event->name);
}

static bool add_cpu(struct export *export, const char *name)
{
	struct dat_cpu *cpus = reallocarray(export->cpus, export->nr_cpus + 1, sizeof(*cpus));

	if (!cpus)
		return fail_no_memory();
	export->cpus = cpus;
	cpus[export->nr_cpus++] = (struct dat_cpu){.name = name};
	return true;
}

/* Those of the kernel that have no events, between others. */
static uint32_t cpus_before(const struct export *export, const struct trace *trace, const struct packet *packet)
{
	const bool is_number = trace->metadata.is_kernel && packet->stream < CPU_MAX && packet->stream > export->nr_cpus;

	return is_number ? (uint32_t)packet->stream - export->nr_cpus : 0;
}

static bool begin_stream(struct export *export, const struct trace *trace, const struct packet *packet)
{
	for (uint32_t i = cpus_before(export, trace, packet); i > 0; i--) {
		if (!add_cpu(export, "none"))
			return false;
	}
	return add_cpu(export, packet->name);
}

static bool survey(struct export *export, const struct trace *trace)
{
	const struct trace_dir *dir = &trace->dir;
	struct event_texts **texts = &export->texts[number_of(export, trace)];

	/* What the kernel says is for these readers. */
	if (!trace->metadata.is_kernel && !(*texts = event_texts_new()))
		return false;
	begin_trace(export, trace);
	for (size_t i = 0; i < dir->nr; i++) {
		if (trace_dir_is_first(dir, i) && !begin_stream(export, trace, &dir->packets[i]))
			return false;
		const uint64_t lost = trace_dir_lost(dir, i);
		if (lost != TRACE_LOST_UNKNOWN)
			export->cpus[export->nr_cpus - 1].lost += lost;
		if (!each_event(export, trace, i, survey_event))
			return false;
	}
	return true;
}

/* ---- The second: the pages ---- */

static bool export_event(struct export *export, const struct trace *trace, const struct event *event)
{
	const size_t number = number_of(export, trace);
	const uint16_t id = export->events.ids[number][event->format->id];
	const void *record = event->record;
	size_t size = event->size;

	if (export->texts[number])
		record = event_texts_record(export->texts[number], event, &size);
	/* The pages are no larger than what the survey has seen; a packet may have been begun anew since. */
	if (size > export->largest)
		return fail_msg("'%s' has changed while it was read; try again", trace->dir.folder.path);
	if (id == event->format->id)
		return ring_event(&export->ring, event->time, record, size);
	memcpy(export->record, record, size);
	memcpy(export->record, &id, sizeof(id));
	return ring_event(&export->ring, event->time, export->record, size);
}

static bool export_pages(struct export *export, const struct trace *trace, struct dat_cpu **next)
{
	const struct trace_dir *dir = &trace->dir;
	struct ring *ring = &export->ring;
	struct dat_cpu *cpu = *next;

	begin_trace(export, trace);
	for (size_t i = 0; i < dir->nr; i++) {
		if (trace_dir_is_first(dir, i)) {
			while (cpu->name != dir->packets[i].name)
				cpu++->offset = ring->offset;
			cpu->offset = ring->offset;
			ring->lost = 0;
		}
		if (!ring_lost(ring, trace_dir_lost(dir, i)) || !each_event(export, trace, i, export_event))
			return false;
		if (i + 1 == dir->nr || trace_dir_is_first(dir, i + 1)) {
			if (!ring_flush(ring))
				return false;
			cpu->size = ring->offset - cpu->offset;
			cpu++;
		}
	}
	*next = cpu;
	return true;
}

static bool export_all(struct export *export)
{
	struct dat_cpu *next = export->cpus;

	for (size_t t = 0; t < export->traces.nr; t++) {
		if (!export_pages(export, export->order[t], &next))
			return false;
	}
	return true;
}

/* ---- All of it ---- */

static void put_in_order(struct export *export)
{
	size_t nr = 0;

	for (int of_kernel = 1; of_kernel >= 0; of_kernel--) {
		for (size_t t = 0; t < export->traces.nr; t++) {
			if (export->traces.traces[t].metadata.is_kernel == of_kernel)
				export->order[nr++] = &export->traces.traces[t];
		}
	}
}

/* Bytes that both ways read. */
static uint64_t total_of(const struct traces *traces)
{
	uint64_t total = 0;

	for (size_t t = 0; t < traces->nr; t++) {
		const struct trace_dir *dir = &traces->traces[t].dir;
		for (size_t i = 0; i < dir->nr; i++)
			total += 2 * dir->packets[i].content;
	}
	return total;
}

static bool read_traces(struct export *export, char *path)
{
	if (!traces_open(&export->traces, &path, 1))
		return false;
	export->order = calloc(export->traces.nr + 1, sizeof(struct trace *));
	export->texts = calloc(export->traces.nr + 1, sizeof(struct event_texts *));
	if (!export->order || !export->texts)
		return fail_no_memory();
	put_in_order(export);
	export->total = total_of(&export->traces);
	for (size_t t = 0; t < export->traces.nr; t++) {
		if (!survey(export, export->order[t]))
			return false;
	}
	/* Readers want one at least. */
	return (export->nr_cpus || add_cpu(export, "none")) && dat_events_make(&export->events, &export->traces, export->texts);
}

static bool write_dat(struct export *export, const char *path)
{
	const size_t page_size = ring_page_size(export->largest);

	if (!dat_file_open(&export->dat, path))
		return false;
	const uint32_t word = export->order[0]->metadata.types.word;
	uint64_t begin = dat_file_head(&export->dat, page_size, word, &export->events, &export->threads, export->cpus, export->nr_cpus);
	return begin && ring_begin(&export->ring, fileno(export->dat.new.file), path, page_size, begin) && export_all(export) &&
	       dat_file_finish(&export->dat, export->cpus, export->nr_cpus, export->ring.offset);
}

static void say_what_it_is(const struct export *export, const char *path)
{
	uint64_t events = 0;
	uint64_t lost = 0;
	uint32_t nr_cpus = 0, of_kernel = 0;

	for (size_t t = 0; t < export->traces.nr; t++) {
		const struct trace *trace = &export->traces.traces[t];
		for (size_t i = 0; i < trace->dir.nr; i++)
			*(trace->metadata.is_kernel ? &of_kernel : &nr_cpus) += trace_dir_is_first(&trace->dir, i);
	}
	for (uint32_t i = 0; i < export->nr_cpus; i++) {
		events += export->cpus[i].events;
		lost += export->cpus[i].lost;
	}
	printf("%s: %llu events; ", path, (unsigned long long)events);
	if (of_kernel)
		printf("%u CPUs of the kernel; ", of_kernel);
	printf("%u CPUs, a thread's stream each; %llu events were lost while recording\n", nr_cpus, (unsigned long long)lost);
}

static void release(struct export *export)
{
	dat_file_close(&export->dat);
	ring_free(&export->ring);
	packet_reader_free(&export->reader);
	threads_free(&export->threads);
	for (size_t t = 0; export->texts && t < export->traces.nr; t++)
		event_texts_free(export->texts[t]);
	free(export->texts);
	free(export->order);
	dat_events_free(&export->events);
	traces_close(&export->traces);
	free(export->cpus);
	free(export);
}

bool trace_dat_write(char *from, const char *to)
{
	struct export *export = calloc(1, sizeof(*export));

	if (!export)
		return fail_no_memory();
	progress_begin(&export->progress, false);
	const bool good = read_traces(export, from) && write_dat(export, to);
	progress_end(&export->progress);
	if (good)
		say_what_it_is(export, to);
	release(export);
	return good;
}
