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
#include "dat/ring.h"
#include "tell.h"

struct export {
	struct trace_dir dir;
	struct metadata metadata;
	struct formats formats;
	struct threads threads;
	struct packet_reader reader;
	struct dat_cpu *cpus; /* one a stream */
	uint32_t nr_cpus;
	size_t largest; /* record */
	struct dat_file dat;
	struct ring ring;
};

/* ---- What was lost ---- */

static bool is_first(const struct trace_dir *dir, size_t i)
{
	return i == 0 || dir->packets[i - 1].stream != dir->packets[i].stream;
}

/*
 * How many events were lost between the end of the packet before and the end
 * of this one, as the stream counts on; RING_LOST_UNKNOWN where a packet is missing. A flight
 * recorder's first packet says nothing of what was lost while there was a packet before.
 */
static uint64_t lost_until(const struct trace_dir *dir, size_t i)
{
	const struct packet *packet = &dir->packets[i];

	if (is_first(dir, i))
		return packet->sequence == 0 ? packet->discarded : 0;
	if (packet->sequence > packet[-1].sequence + 1)
		return RING_LOST_UNKNOWN;
	return packet->discarded >= packet[-1].discarded ? packet->discarded - packet[-1].discarded : packet->discarded;
}

/* ---- The first way through: what is in front of the pages ---- */

static bool survey_event(void *data, const struct event *event)
{
	struct export *export = data;

	export->cpus[export->nr_cpus - 1].events++;
	if (event->size > export->largest)
		export->largest = event->size;
	return threads_add(&export->threads, event->tid, event->name ? event->name : export->metadata.process);
}

static bool survey(struct export *export)
{
	const struct trace_dir *dir = &export->dir;
	bool good = true;

	export->cpus = calloc(dir->nr ? dir->nr : 1, sizeof(*export->cpus));
	if (!export->cpus)
		return tell_no_memory();
	for (size_t i = 0; i < dir->nr && good; i++) {
		bool first = is_first(dir, i);
		if (first)
			export->cpus[export->nr_cpus++].name = dir->packets[i].name;
		uint64_t lost = lost_until(dir, i);
		if (lost != RING_LOST_UNKNOWN)
			export->cpus[export->nr_cpus - 1].lost += lost;
		good = packet_read(&export->reader, &dir->packets[i], first, survey_event, export);
	}
	return good;
}

/* ---- The second: the pages ---- */

static bool export_event(void *data, const struct event *event)
{
	struct export *export = data;

	/* The pages are no larger than what the survey has seen; a packet may have been begun anew since. */
	if (event->size > export->largest)
		return tell("'%s' has changed while it was read; try again", export->dir.path);
	return ring_event(&export->ring, event->time, event->record, event->size);
}

static bool export_pages(struct export *export)
{
	const struct trace_dir *dir = &export->dir;
	struct ring *ring = &export->ring;
	struct dat_cpu *cpu = export->cpus;

	for (size_t i = 0; i < dir->nr; i++) {
		bool first = is_first(dir, i);
		if (first) {
			cpu->offset = ring->offset;
			ring->lost = 0;
		}
		if (!ring_lost(ring, lost_until(dir, i)) ||
		    !packet_read(&export->reader, &dir->packets[i], first, export_event, export))
			return false;
		if (i + 1 == dir->nr || is_first(dir, i + 1)) {
			if (!ring_flush(ring))
				return false;
			cpu->size = ring->offset - cpu->offset;
			cpu++;
		}
	}
	return true;
}

/* ---- All of it ---- */

static bool read_trace(struct export *export, const char *path)
{
	export->reader = (struct packet_reader){
		.dir = &export->dir, .metadata = &export->metadata, .formats = &export->formats,
	};
	/* The packets first: the texts describe at least the events that are in them. */
	return trace_dir_open(&export->dir, path) && trace_dir_list(&export->dir) &&
	       metadata_read(&export->metadata, &export->dir) && formats_read(&export->formats, &export->dir) &&
	       packet_reader_init(&export->reader) && survey(export);
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
	uint64_t begin = dat_file_head(&export->dat, page_size, &export->formats, &export->threads, export->cpus, nr);
	return begin && ring_begin(&export->ring, fileno(export->dat.file), path, page_size, begin) &&
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

bool trace_dat_write(const char *from, const char *to)
{
	struct export export = {.largest = 0};
	bool good = read_trace(&export, from) && write_dat(&export, to);

	if (good)
		say_what_it_is(&export, to);
	dat_file_close(&export.dat);
	ring_free(&export.ring);
	packet_reader_free(&export.reader);
	threads_free(&export.threads);
	formats_free(&export.formats);
	trace_dir_close(&export.dir);
	free(export.cpus);
	return good;
}
