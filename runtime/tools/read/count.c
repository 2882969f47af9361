/* SPDX-License-Identifier: MIT */
#include "read/count.h"

#include <string.h>

#include "read/packet_reader.h"
#include "read/trace.h"

/* Events between two questions. */
#define OFTEN 4096
#define WINDOW_SIZE ((size_t)1 << 20)

static bool count_packet(struct trace_count *count, struct packet_reader *reader, bool (*may_continue)(void))
{
	enum packet_result result;
	struct event event;

	while ((result = packet_next(reader, &event)) == PACKET_EVENT) {
		if (++count->events % OFTEN == 0 && !may_continue())
			return false;
	}
	return result == PACKET_END;
}

static bool count_packets(struct trace_count *count, const struct trace *trace, bool (*may_continue)(void))
{
	struct packet_reader reader = packet_reader_of(trace, WINDOW_SIZE);
	const struct trace_dir *dir = &trace->dir;
	bool good = true;

	for (size_t i = 0; i < dir->nr && good; i++) {
		const bool first = trace_dir_is_first(dir, i);
		const uint64_t lost = trace_dir_lost(dir, i);
		count->bytes += dir->packets[i].content;
		count->lost += lost != TRACE_LOST_UNKNOWN ? lost : 0;
		packet_begin(&reader, &dir->packets[i], first);
		good = count_packet(count, &reader, may_continue);
	}
	packet_reader_free(&reader);
	return good;
}

bool trace_count(struct trace_count *count, const char *path, bool (*may_continue)(void))
{
	struct trace trace;

	*count = (struct trace_count){.events = 0};
	bool good = trace_open(&trace, path);
	if (good)
		memcpy(count->process, trace.metadata.process, COMM_SIZE);
	good = good && count_packets(count, &trace, may_continue);
	trace_close(&trace);
	return good;
}
