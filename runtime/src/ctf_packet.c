/* SPDX-License-Identifier: MIT */
/*
 * ctf_packet.c - packets, each a file that is mapped while it is written: how
 * they come to be under their names, and what is left of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctf.h"

/* On a full disk: nanoseconds until the next packet is tried for. */
#define RETRY_AFTER 100000000u

/* A file whose blocks are there: with a hole in it, a full disk would be a SIGBUS in the middle of a record. */
static void *packet_map(int fd, size_t size, int *error)
{
	*error = tp_ctf_file_size_allowed(size) ? posix_fallocate(fd, 0, (off_t)size) : EFBIG;
	if (*error)
		return NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED)
		return memory;
	*error = errno;
	return NULL;
}

static void packet_begin(const struct ctf_sink *sink, const struct ctf_stream *stream, struct tp_ctf_packet *packet,
			 uint64_t time)
{
	*packet = (struct tp_ctf_packet){
		.magic = TP_CTF_MAGIC,
		/* In one trace no other stream may have it; children write to the same one. */
		.stream_instance_id = (uint64_t)(uint32_t)sink->pid << 32 | stream->number,
		.timestamp_begin = time,
		.content_size = sizeof(*packet) * CHAR_BIT,
		.timestamp_end = time,
		.packet_size = (uint64_t)sink->packet_size * CHAR_BIT,
		.packet_seq_num = stream->sequence,
		/* Counts on from packet to packet. */
		.events_discarded = stream->packet ? stream->packet->events_discarded : 0,
	};
}

struct tp_ctf_packet *tp_ctf_packet_create(struct ctf_sink *sink, const struct ctf_stream *stream, uint64_t time,
					   int *error)
{
	char hidden[64];
	struct tp_ctf_packet *packet;

	int dir = tp_ctf_dir(sink, error);
	if (dir < 0)
		return NULL;
	snprintf(hidden, sizeof(hidden), ".stream-%d-%u-%llu", sink->pid, stream->number,
		 (unsigned long long)stream->sequence);
	int fd = openat(dir, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		*error = errno;
		return NULL;
	}
	packet = packet_map(fd, sink->packet_size, error);
	close(fd);
	if (packet) {
		packet_begin(sink, stream, packet, time);
		*error = tp_ctf_rename_new(dir, hidden, hidden + 1);
		if (!*error)
			return packet;
		munmap(packet, sink->packet_size);
	}
	unlinkat(dir, hidden, 0);
	return NULL;
}

void tp_ctf_packet_finish(const struct ctf_sink *sink, struct tp_ctf_packet *packet)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (packet->content_size / CHAR_BIT + page - 1) & ~(page - 1);

	if (used < sink->packet_size)
		madvise((char *)packet + used, sink->packet_size - used, MADV_REMOVE);
	munmap(packet, sink->packet_size);
}

bool tp_ctf_packet_may_be_tried(const struct ctf_sink *sink, uint64_t now)
{
	return now >= __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED);
}

void tp_ctf_packet_failed(struct ctf_sink *sink, uint64_t now, int error)
{
	if (!__atomic_exchange_n(&sink->no_room_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': no new packet of %zu bytes can be made: %s%s; records are lost until it can",
			    sink->path, sink->packet_size, strerror(error), tp_ctf_remedy(error));
	__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&sink->retry_at, now + RETRY_AFTER, __ATOMIC_RELAXED);
}
