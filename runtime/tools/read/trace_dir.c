/* SPDX-License-Identifier: MIT */
#include "read/trace_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/packet.h"
#include "fail_msg.h"

static const char live_hint[] = "the program goes on recording over its oldest packets; read a snapshot of the trace "
				"instead, which tp_ctf_snapshot() makes";

bool trace_dir_open(struct trace_dir *dir, const char *path)
{
	*dir = (struct trace_dir){.nr = 0};
	return folder_open(&dir->folder, path);
}

bool trace_dir_open_packed(struct trace_dir *dir, struct pack *pack, const char *inside, const char *path)
{
	*dir = (struct trace_dir){.nr = 0};
	return folder_open_packed(&dir->folder, pack, inside, path);
}

void trace_dir_close(struct trace_dir *dir)
{
	folder_close(&dir->folder);
	free(dir->packets);
	*dir = (struct trace_dir){.nr = 0};
}

/* ---- Packets ---- */

#define STREAM_PREFIX "stream-"

static bool check_head(const struct trace_dir *dir, const char *name, const struct tp_packet *head, uint64_t size)
{
	uint64_t content = head->content_size / CHAR_BIT;

	if (head->magic == __builtin_bswap32(TP_CTF_MAGIC))
		return fail_msg("'%s/%s' is of a machine with another byte order, as its magic number says, at offset 0: read it there",
			    dir->folder.path, name);
	if (head->magic != TP_CTF_MAGIC)
		return fail_msg("'%s/%s' is no packet of a trace: its magic number, at offset 0, is 0x%08x and not 0x%08x",
			    dir->folder.path, name, head->magic, TP_CTF_MAGIC);
	if (head->stream_id != 0)
		return fail_msg("'%s/%s' is not of tpgen's making: its stream_id, at offset %zu, is %u", dir->folder.path, name,
			    offsetof(struct tp_packet, stream_id), head->stream_id);
	if (head->content_size % CHAR_BIT || content < sizeof(*head) || head->content_size > head->packet_size)
		return fail_msg("'%s/%s' is damaged: its content_size, at offset %zu, is %llu bits, and its packet_size is %llu",
			    dir->folder.path, name, offsetof(struct tp_packet, content_size),
			    (unsigned long long)head->content_size, (unsigned long long)head->packet_size);
	if (content > size)
		return fail_msg("'%s/%s' is cut off: it has %llu bytes of content, and ends at offset %llu", dir->folder.path, name,
			    (unsigned long long)content, (unsigned long long)size);
	return true;
}

/*
 * The head of a file that has one. By read(), the content's size might be half an old and half a new
 * one, as that copies byte by byte while the program records. The size comes first: then the times and losses are at
 * least those of the content.
 */
static bool map_head(const struct folder_file *file, struct tp_packet *head)
{
	void *mapped = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, file->fd, 0);

	if (mapped == MAP_FAILED)
		return false;
	const uint64_t content = __atomic_load_n(&((struct tp_packet *)mapped)->content_size, __ATOMIC_ACQUIRE);
	memcpy(head, mapped, sizeof(*head));
	head->content_size = content;
	munmap(mapped, sizeof(*head));
	return true;
}

/* That in a pack does not change, nor begins where it could be mapped. False, and errno. */
static bool load_head(const struct folder_file *file, struct tp_packet *head)
{
	if (!file->is_packed)
		return map_head(file, head);
	ssize_t n = folder_read(file, head, sizeof(*head), 0);
	if (n >= 0 && n != sizeof(*head))
		errno = EIO;
	return n == sizeof(*head);
}

static bool read_head(const struct trace_dir *dir, const char *name, const struct folder_file *file, struct tp_packet *head)
{
	if (file->size < sizeof(*head))
		return fail_msg("'%s/%s' is cut off: a packet's head has %zu bytes, and it ends at offset %llu", dir->folder.path,
			    name, sizeof(*head), (unsigned long long)file->size);
	if (!load_head(file, head))
		return fail_msg("'%s/%s' can't be mapped: %s", dir->folder.path, name, strerror(errno));
	return check_head(dir, name, head, file->size);
}

static bool add_packet(void *data, const char *name)
{
	struct trace_dir *dir = data;
	struct folder_file file;
	struct tp_packet head;

	if (strncmp(name, STREAM_PREFIX, strlen(STREAM_PREFIX)) != 0)
		return true;
	if (strlen(name) >= PACKET_NAME_SIZE)
		return fail_msg("'%s/%s' is no packet of a trace: none has such a long name", dir->folder.path, name);
	if (!folder_open_file(&dir->folder, name, live_hint, &file))
		return false;
	bool good = read_head(dir, name, &file, &head);
	folder_close_file(&file);
	if (!good)
		return false;
	/* Twice as many whenever their number is a power of two. */
	if ((dir->nr & (dir->nr - 1)) == 0) {
		struct packet *packets = reallocarray(dir->packets, dir->nr ? 2 * dir->nr : 1, sizeof(*packets));
		if (!packets)
			return fail_no_memory();
		dir->packets = packets;
	}
	struct packet *packet = &dir->packets[dir->nr++];
	*packet = (struct packet){
		.stream = head.stream_instance_id,
		.sequence = head.packet_seq_num,
		.begin = head.timestamp_begin,
		.end = head.timestamp_end,
		.content = head.content_size / CHAR_BIT,
		.discarded = head.events_discarded,
		.pid = (int32_t)strtol(name + strlen(STREAM_PREFIX), NULL, 10),
	};
	strcpy(packet->name, name);
	return true;
}

/* Not by the sequence: a process may have the id of a dead one, whose packets have the same numbers. */
static int compare(const void *a, const void *b)
{
	const struct packet *one = a;
	const struct packet *other = b;

	if (one->stream != other->stream)
		return one->stream < other->stream ? -1 : 1;
	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

bool trace_dir_list(struct trace_dir *dir)
{
	if (!folder_each(&dir->folder, add_packet, dir))
		return false;
	if (dir->nr)
		qsort(dir->packets, dir->nr, sizeof(*dir->packets), compare);
	return true;
}

bool trace_dir_is_first(const struct trace_dir *dir, size_t i)
{
	return i == 0 || dir->packets[i - 1].stream != dir->packets[i].stream;
}

uint64_t trace_dir_lost(const struct trace_dir *dir, size_t i)
{
	const struct packet *packet = &dir->packets[i];

	if (trace_dir_is_first(dir, i))
		return packet->sequence == 0 ? packet->discarded : 0;
	if (packet->sequence > packet[-1].sequence + 1)
		return TRACE_LOST_UNKNOWN;
	return packet->discarded >= packet[-1].discarded ? packet->discarded - packet[-1].discarded : packet->discarded;
}

static bool open_packet(const struct trace_dir *dir, const struct packet *packet, struct folder_file *file)
{
	return folder_open_file(&dir->folder, packet->name, live_hint, file);
}

/* Whether the file is that packet still, and not one that came after it in a flight recorder. */
static bool is_still(const struct trace_dir *dir, const struct packet *packet, const struct folder_file *file)
{
	struct tp_packet head;
	struct stat status;

	if (fstat(file->fd, &status) == 0 && (size_t)status.st_size >= sizeof(head) && load_head(file, &head) &&
	    head.magic == TP_CTF_MAGIC && head.stream_instance_id == packet->stream &&
	    head.packet_seq_num == packet->sequence && head.timestamp_begin == packet->begin &&
	    head.content_size / CHAR_BIT >= packet->content)
		return true;
	return fail_msg("'%s/%s' has become another packet: %s", dir->folder.path, packet->name, live_hint);
}

ssize_t trace_dir_read(const struct trace_dir *dir, const struct packet *packet, void *to, size_t size, uint64_t offset)
{
	struct folder_file file;
	size_t len = 0;
	ssize_t n = 1;

	if (!open_packet(dir, packet, &file))
		return -1;
	while (len < size && n > 0) {
		n = folder_read(&file, (unsigned char *)to + len, size - len, offset + len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		fail_msg("'%s/%s' can't be read: %s", dir->folder.path, packet->name, strerror(errno));
	const bool good = n >= 0 && is_still(dir, packet, &file);
	folder_close_file(&file);
	return good ? (ssize_t)len : -1;
}
