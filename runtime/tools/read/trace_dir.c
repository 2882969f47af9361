/* SPDX-License-Identifier: MIT */
#include "read/trace_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* ---- Files ---- */

/*
 * The descriptor of a plain file, without waiting for a pipe's writer; -1 and a
 * message, which ends in absent where there is no such file.
 */
static int open_file(int dir, const char *path, const char *name, const char *absent, struct stat *status)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		fail_msg("'%s/%s' is not there: %s", path, name, absent);
	else if (fd < 0)
		fail_msg("'%s/%s' can't be opened: %s", path, name, errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	if (fd < 0)
		return -1;
	if (fstat(fd, status) == 0 && S_ISREG(status->st_mode))
		return fd;
	fail_msg("'%s/%s' is no plain file", path, name);
	close(fd);
	return -1;
}

/* Reads as much as there is, up to size; -1 and an errno. */
static ssize_t read_at(int fd, void *to, size_t size, off_t offset)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = pread(fd, (char *)to + len, size - len, offset + (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

char *trace_dir_read_text(int fd, const char *path, const char *name, size_t max, size_t *len)
{
	struct stat status;
	int file = open_file(fd, path, name, "give the directory of a trace, which has such a file", &status);

	if (file < 0)
		return NULL;
	char *text = NULL;
	if (status.st_size < 0 || (uint64_t)status.st_size > max) {
		fail_msg("'%s/%s' is %lld bytes long: more than %zu can't be meant", path, name, (long long)status.st_size, max);
	} else if (!(text = malloc((size_t)status.st_size + 1))) {
		fail_no_memory();
	} else {
		ssize_t n = read_at(file, text, (size_t)status.st_size, 0);
		if (n < 0) {
			fail_msg("'%s/%s' can't be read: %s", path, name, strerror(errno));
			free(text);
			text = NULL;
		} else {
			text[n] = '\0';
			*len = (size_t)n;
		}
	}
	close(file);
	return text;
}

bool trace_dir_open(struct trace_dir *dir, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		*dir = (struct trace_dir){.path = path, .fd = fd};
		return true;
	}
	return fail_msg("'%s' can't be opened: %s%s", path, strerror(errno),
		    errno == ENOTDIR ? "; give it the directory of a trace" : "");
}

void trace_dir_close(struct trace_dir *dir)
{
	if (dir->path)
		close(dir->fd);
	free(dir->packets);
	*dir = (struct trace_dir){.path = NULL};
}

/* ---- Packets ---- */

#define STREAM_PREFIX "stream-"

static bool is_packet_name(const char *name)
{
	return strncmp(name, STREAM_PREFIX, strlen(STREAM_PREFIX)) == 0;
}

static bool check_head(const struct trace_dir *dir, const char *name, const struct tp_packet *head, off_t size)
{
	uint64_t content = head->content_size / CHAR_BIT;

	if (head->magic == __builtin_bswap32(TP_CTF_MAGIC))
		return fail_msg("'%s/%s' is of a machine with another byte order: read it there", dir->path, name);
	if (head->magic != TP_CTF_MAGIC)
		return fail_msg("'%s/%s' is no packet of a trace: its magic number, at offset 0, is 0x%08x and not 0x%08x",
			    dir->path, name, head->magic, TP_CTF_MAGIC);
	if (head->stream_id != 0)
		return fail_msg("'%s/%s' is not of tpgen's making: its stream_id, at offset %zu, is %u", dir->path, name,
			    offsetof(struct tp_packet, stream_id), head->stream_id);
	if (head->content_size % CHAR_BIT || content < sizeof(*head) || head->content_size > head->packet_size)
		return fail_msg("'%s/%s' is damaged: its content_size, at offset %zu, is %llu bits, and its packet_size is %llu",
			    dir->path, name, offsetof(struct tp_packet, content_size),
			    (unsigned long long)head->content_size, (unsigned long long)head->packet_size);
	if (content > (uint64_t)size)
		return fail_msg("'%s/%s' is cut off: it has %llu bytes of content, and ends at offset %lld", dir->path, name,
			    (unsigned long long)content, (long long)size);
	return true;
}

/*
 * The head of a file that has one. By read(), the content's size might be half an old and half a new
 * one, as that copies byte by byte while the program records.
 */
static bool load_head(int fd, struct tp_packet *head)
{
	void *mapped = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED)
		return false;
	memcpy(head, mapped, sizeof(*head));
	head->content_size = __atomic_load_n(&((struct tp_packet *)mapped)->content_size, __ATOMIC_ACQUIRE);
	munmap(mapped, sizeof(*head));
	return true;
}

static bool read_head(const struct trace_dir *dir, const char *name, int fd, off_t size, struct tp_packet *head)
{
	if ((size_t)size < sizeof(*head))
		return fail_msg("'%s/%s' is cut off: a packet's head has %zu bytes, and it ends at offset %lld", dir->path, name,
			    sizeof(*head), (long long)size);
	if (!load_head(fd, head))
		return fail_msg("'%s/%s' can't be mapped: %s", dir->path, name, strerror(errno));
	return check_head(dir, name, head, size);
}

static bool add_packet(struct trace_dir *dir, const char *name)
{
	struct tp_packet head;
	struct stat status;

	if (strlen(name) >= PACKET_NAME_SIZE)
		return fail_msg("'%s/%s' is no packet of a trace: none has such a long name", dir->path, name);
	int fd = open_file(dir->fd, dir->path, name, live_hint, &status);
	if (fd < 0)
		return false;
	bool good = read_head(dir, name, fd, status.st_size, &head);
	close(fd);
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
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry = NULL;
	bool good = true;

	if (!list) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return fail_msg("'%s' can't be listed: %s", dir->path, strerror(error));
	}
	while (good && (errno = 0, entry = readdir(list)) != NULL) {
		if (is_packet_name(entry->d_name))
			good = add_packet(dir, entry->d_name);
	}
	if (good && errno)
		good = fail_msg("'%s' can't be listed: %s", dir->path, strerror(errno));
	closedir(list);
	if (good && dir->nr)
		qsort(dir->packets, dir->nr, sizeof(*dir->packets), compare);
	return good;
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

int trace_dir_open_packet(const struct trace_dir *dir, const struct packet *packet)
{
	struct stat status;

	return open_file(dir->fd, dir->path, packet->name, live_hint, &status);
}

bool trace_dir_is_still(const struct trace_dir *dir, const struct packet *packet, int fd)
{
	struct tp_packet head;
	struct stat status;

	if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof(head) && load_head(fd, &head) &&
	    head.magic == TP_CTF_MAGIC && head.stream_instance_id == packet->stream &&
	    head.packet_seq_num == packet->sequence && head.timestamp_begin == packet->begin &&
	    head.content_size / CHAR_BIT >= packet->content)
		return true;
	return fail_msg("'%s/%s' has become another packet: %s", dir->path, packet->name, live_hint);
}
