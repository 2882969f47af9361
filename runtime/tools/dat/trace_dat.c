/* SPDX-License-Identifier: MIT */
/*
 * trace_dat.c - the two ways through a trace of which a trace.dat is made. The trace is read twice, as a trace.dat says
 * first how large its pages are and what the threads are called. So nothing but that needs to be kept in memory: a few
 * bytes of each packet and thread.
 */
#include "dat/trace_dat.h"

#include <stdio.h>
#include <stdlib.h>

#include "dat/dat_file.h"
#include "read/packet_reader.h"
#include "read/traces.h"
#include "report/progress.h"
#include "dat/ring.h"
#include "fail_msg.h"

/* Bytes of a packet that are in memory: some of the longest events. */
#define WINDOW_SIZE ((size_t)1 << 20)
#define EACH 1024 /* events between two looks at the bar */

struct export {
	struct traces traces;
	const struct trace *trace; /* the only one of them */
	struct threads threads;
	struct event_texts *texts;
	struct packet_reader reader;
	struct dat_cpu *cpus; /* one a stream */
	uint32_t nr_cpus;
	size_t largest; /* record */
	struct dat_file dat;
	struct ring ring;
	struct progress progress;
	uint64_t done, total; /* bytes of packets, of both ways */
};

/* Calls fn for each event of the i-th packet, until it returns false. */
static bool each_event(struct export *export, size_t i, bool (*fn)(struct export *export, const struct event *event))
{
	const struct trace_dir *dir = &export->trace->dir;
	enum packet_result result;
	struct event event;
	uint64_t nr = 0;

	packet_begin(&export->reader, &dir->packets[i], trace_dir_is_first(dir, i));
	while ((result = packet_next(&export->reader, &event)) == PACKET_EVENT) {
		if (!fn(export, &event))
			return false;
		if (++nr % EACH == 0)
			progress_show(&export->progress, export->done + export->reader.offset, export->total);
	}
	export->done += dir->packets[i].content;
	return result == PACKET_END;
}

/* ---- The first way through: what is in front of the pages ---- */

static bool survey_event(struct export *export, const struct event *event)
{
	const size_t size = event_texts_survey(export->texts, event);

	export->cpus[export->nr_cpus - 1].events++;
	if (size > export->largest)
		export->largest = size;
	return size && threads_add(&export->threads, event->tid, event->name);
}

static bool survey(struct export *export)
{
	const struct trace_dir *dir = &export->trace->dir;
	bool good = true;

	export->cpus = calloc(dir->nr ? dir->nr : 1, sizeof(*export->cpus));
	if (!export->cpus)
		return fail_no_memory();
	for (size_t i = 0; i < dir->nr && good; i++) {
		bool first = trace_dir_is_first(dir, i);
		if (first)
			export->cpus[export->nr_cpus++].name = dir->packets[i].name;
		uint64_t lost = trace_dir_lost(dir, i);
		if (lost != TRACE_LOST_UNKNOWN)
			export->cpus[export->nr_cpus - 1].lost += lost;
		good = each_event(export, i, survey_event);
	}
	return good;
}

/* ---- The second: the pages ---- */

static bool export_event(struct export *export, const struct event *event)
{
	size_t size;
	const void *record = event_texts_record(export->texts, event, &size);

	/* The pages are no larger than what the survey has seen; a packet may have been begun anew since. */
	if (size > export->largest)
		return fail_msg("'%s' has changed while it was read; try again", export->trace->dir.folder.path);
	return ring_event(&export->ring, event->time, record, size);
}

static bool export_pages(struct export *export)
{
	const struct trace_dir *dir = &export->trace->dir;
	struct ring *ring = &export->ring;
	struct dat_cpu *cpu = export->cpus;

	for (size_t i = 0; i < dir->nr; i++) {
		bool first = trace_dir_is_first(dir, i);
		if (first) {
			cpu->offset = ring->offset;
			ring->lost = 0;
		}
		if (!ring_lost(ring, trace_dir_lost(dir, i)) || !each_event(export, i, export_event))
			return false;
		if (i + 1 == dir->nr || trace_dir_is_first(dir, i + 1)) {
			if (!ring_flush(ring))
				return false;
			cpu->size = ring->offset - cpu->offset;
			cpu++;
		}
	}
	return true;
}

/* ---- All of it ---- */

static bool read_trace(struct export *export, char *path)
{
	if (!traces_open(&export->traces, &path, 1))
		return false;
	if (export->traces.nr != 1)
		return fail_msg("'%s' holds %zu traces, '%s' among them: a trace.dat is made of one%s", path, export->traces.nr,
			    export->traces.paths[0], export->traces.traces[0].dir.folder.pack ? "; unpack it by \"tar xf\"" : "");
	export->trace = &export->traces.traces[0];
	export->reader = packet_reader_of(export->trace, WINDOW_SIZE);
	export->texts = event_texts_new();
	for (size_t i = 0; i < export->trace->dir.nr; i++)
		export->total += 2 * export->trace->dir.packets[i].content;
	return export->texts && survey(export);
}

static bool write_dat(struct export *export, const char *path)
{
	size_t page_size = ring_page_size(export->largest);
	/* Readers want one at least. */
	uint32_t nr = export->nr_cpus ? export->nr_cpus : 1;

	if (!export->nr_cpus)
		export->cpus[0].name = "none";
	if (!dat_file_open(&export->dat, path))
		return false;
	uint64_t begin = dat_file_head(&export->dat, page_size, &export->trace->formats, export->texts, &export->threads, export->cpus, nr);
	return begin && ring_begin(&export->ring, fileno(export->dat.new.file), path, page_size, begin) &&
	       export_pages(export) && dat_file_finish(&export->dat, export->cpus, nr, export->ring.offset);
}

static void say_what_it_is(const struct export *export, const char *path)
{
	uint64_t events = 0;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < export->nr_cpus; i++) {
		events += export->cpus[i].events;
		lost += export->cpus[i].lost;
	}
	printf("%s: %llu events; %u CPUs, a thread's stream each; %llu events were lost while recording\n", path,
	       (unsigned long long)events, export->nr_cpus, (unsigned long long)lost);
}

bool trace_dat_write(char *from, const char *to)
{
	struct export export = {.largest = 0};

	progress_begin(&export.progress, false);
	bool good = read_trace(&export, from) && write_dat(&export, to);
	progress_end(&export.progress);
	if (good)
		say_what_it_is(&export, to);
	dat_file_close(&export.dat);
	ring_free(&export.ring);
	packet_reader_free(&export.reader);
	threads_free(&export.threads);
	event_texts_free(export.texts);
	traces_close(&export.traces);
	free(export.cpus);
	return good;
}
