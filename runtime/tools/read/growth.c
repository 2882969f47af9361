/* SPDX-License-Identifier: MIT */
#include "read/growth.h"

#include <stdlib.h>
#include <string.h>

#include "read/packet_reader.h"
#include "read/trace.h"
#include "fail_msg.h"

#define WINDOW_SIZE ((size_t)1 << 20)

struct counted_packet {
	char name[PACKET_NAME_SIZE];
	uint64_t begin, content, events;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct counted_packet *)a)->name, ((const struct counted_packet *)b)->name);
}

/* Whether the packet is as it was: a flight recorder uses names again. */
static bool is_known(const struct trace_growth *growth, struct counted_packet *packet)
{
	const struct counted_packet *known =
		growth->nr ? bsearch(packet, growth->packets, growth->nr, sizeof(*packet), compare) : NULL;

	if (!known || known->begin != packet->begin || known->content != packet->content)
		return false;
	packet->events = known->events;
	return true;
}

static uint64_t events_in(struct packet_reader *reader, const struct packet *packet)
{
	struct event event;
	uint64_t nr = 0;

	packet_begin(reader, packet, true); /* not all that come before it are read */
	while (packet_next(reader, &event) == PACKET_EVENT)
		nr++;
	return nr;
}

static void count_packets(const struct trace_growth *growth, const struct trace *trace, struct counted_packet *packets,
			  struct trace_count *count)
{
	struct packet_reader reader = packet_reader_of(trace, WINDOW_SIZE);
	const struct trace_dir *dir = &trace->dir;

	for (size_t i = 0; i < dir->nr; i++) {
		const struct packet *packet = &dir->packets[i];
		const uint64_t lost = trace_dir_lost(dir, i);
		packets[i] = (struct counted_packet){.begin = packet->begin, .content = packet->content};
		memcpy(packets[i].name, packet->name, sizeof(packets[i].name));
		if (!is_known(growth, &packets[i]))
			packets[i].events = events_in(&reader, packet);
		count->events += packets[i].events;
		count->bytes += packet->content;
		count->lost += lost != TRACE_LOST_UNKNOWN ? lost : 0;
	}
	packet_reader_free(&reader);
}

bool trace_growth_count(struct trace_growth *growth, const char *path, struct trace_count *count)
{
	struct trace trace;

	*count = (struct trace_count){.events = 0};
	fail_msg_silence(true);
	bool good = trace_open(&trace, path);
	struct counted_packet *packets = good ? calloc(trace.dir.nr + 1, sizeof(*packets)) : NULL;
	if (packets) {
		count_packets(growth, &trace, packets, count);
		free(growth->packets);
		growth->packets = packets;
		growth->nr = trace.dir.nr;
		qsort(packets, growth->nr, sizeof(*packets), compare);
	}
	trace_close(&trace);
	fail_msg_silence(false);
	return packets != NULL;
}

void trace_growth_free(struct trace_growth *growth)
{
	free(growth->packets);
	*growth = (struct trace_growth){.packets = NULL};
}
