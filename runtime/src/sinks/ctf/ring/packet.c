/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/packet.c - packets, each a file that is mapped while it is written: how
 * they come to be under their names, and what is left of them.
 *
 * A file has a name that readers pass over until its head is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/mapped_file.h"
#include "sinks/ctf/dir/begin.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

#define NAME_SIZE 64

static const char *name_of(const struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "stream-%d-%u-%llu", sink->pid, packet->number, (unsigned long long)packet->sequence);
	return name;
}

static const char *hidden_name(const struct tp_ctf_sink *sink, unsigned int hidden, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, ".stream-%d-%u", sink->pid, hidden);
	return name;
}

static unsigned int new_hidden(struct tp_ctf_sink *sink)
{
	return __atomic_fetch_add(&sink->ring.next_hidden, 1, __ATOMIC_RELAXED);
}

/* A new file with such a name: what is called so already was left by a dead process. */
static int open_hidden(struct tp_ctf_sink *sink, int dir, unsigned int *hidden, int flags, struct tp_ctf_file *file)
{
	char name[NAME_SIZE];
	int error;

	do {
		*hidden = new_hidden(sink);
		error = tp_ctf_file_create(sink, file, dir, hidden_name(sink, *hidden, name), flags);
	} while (error == EEXIST);
	return error;
}

static void *packet_map(int fd, size_t size, int *error)
{
	*error = tp_mapped_allocate(fd, 0, size);
	if (*error)
		return NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED)
		return memory;
	*error = errno;
	return NULL;
}

int tp_ctf_packet_copy(const struct tp_ctf_packet *packet, size_t from, size_t to)
{
	char *memory = (char *)packet->memory, *file = (char *)packet->file;
	const size_t end = offsetof(struct tp_packet, timestamp_begin), size = offsetof(struct tp_packet, content_size);
	const size_t starts[] = {from, end, size}, ends[] = {to, sizeof(struct tp_packet), size + sizeof(uint64_t)};
	struct iovec of_memory[3], of_file[3];

	if (!file)
		return 0;
	/* The call copies one after the other: what is content before that it is. Handlers' newer heads are as good. */
	for (size_t i = 0; i < 3; i++) {
		of_memory[i] = (struct iovec){memory + starts[i], ends[i] - starts[i]};
		of_file[i] = (struct iovec){file + starts[i], ends[i] - starts[i]};
	}
	return tp_mapped_copy(of_memory, of_file, 3);
}

static void map(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, int fd, int *error)
{
	packet->file = packet_map(fd, sink->options.packet, error);
	packet->memory = packet->file;
	if (!packet->file || !sink->copies)
		return;
	void *memory = mmap(NULL, sink->options.packet, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		*error = ENOMEM;
		tp_ctf_packet_unmap(sink, packet);
	} else {
		packet->memory = memory;
	}
}

/* A number that is another file's by now is left alone: EBADF. */
static int close_own(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name)
{
	if (tp_ctf_is_at(file->fd, dir, name)) {
		tp_ctf_file_close(sink, file);
		return 0;
	}
	tp_ctf_file_keep(file);
	return EBADF;
}

int tp_ctf_packet_create(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	struct tp_ctf_file file;
	char name[NAME_SIZE];
	int error;

	int dir = tp_ctf_begin(sink, in, &error);
	if (dir < 0)
		return error;
	error = open_hidden(sink, dir, &packet->hidden, O_RDWR, &file);
	if (error)
		return error;
	error = EBADF;
	hidden_name(sink, packet->hidden, name);
	/* A program that closes all descriptors while its other threads record may close this one, and the number be another file's by now. */
	if (tp_ctf_is_at(file.fd, dir, name)) {
		map(sink, packet, file.fd, &error);
		packet->watched = tp_helper_is_self() ? tp_ctf_watch_add(sink, file.fd) : 0;
	}
	if (close_own(sink, &file, dir, name) != 0) {
		tp_ctf_packet_unmap(sink, packet);
		error = EBADF;
	}
	if (!packet->memory)
		unlinkat(dir, name, 0);
	return error;
}

int tp_ctf_packet_hide(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	char from[NAME_SIZE], to[NAME_SIZE];
	int error;

	int dir = tp_ctf_dir_fd(sink, in, &error);
	if (dir < 0)
		return error;
	packet->hidden = new_hidden(sink);
	return renameat(dir, name_of(sink, packet, from), dir, hidden_name(sink, packet->hidden, to)) == 0 ? 0 : errno;
}

/* As it is now: others may record into it. */
static struct tp_packet head_of(const struct tp_packet *packet)
{
	const uint64_t content = __atomic_load_n(&packet->content_size, __ATOMIC_ACQUIRE);

	return (struct tp_packet){
		.magic = packet->magic,
		.stream_id = packet->stream_id,
		.stream_instance_id = packet->stream_instance_id,
		.timestamp_begin = packet->timestamp_begin,
		.content_size = content,
		/* May be that of later events; not before that of the last one here. */
		.timestamp_end = __atomic_load_n(&packet->timestamp_end, __ATOMIC_ACQUIRE),
		.packet_size = content,
		.packet_seq_num = packet->packet_seq_num,
		.events_discarded = __atomic_load_n(&packet->events_discarded, __ATOMIC_RELAXED),
	};
}

/* The program may close the descriptor, and its number be another file's: so it is looked at before each piece. */
#define PIECE ((size_t)64 << 10)

int tp_ctf_packet_write(const struct tp_packet *packet, int fd, int dir, const char *name)
{
	const struct tp_packet head = head_of(packet);
	const size_t content = (size_t)(head.content_size / CHAR_BIT);
	int error = tp_file_size_allowed(content) ? 0 : EFBIG;

	for (size_t at = 0; !error && at < content;) {
		const char *from = at ? (const char *)packet + at : (const char *)&head;
		const size_t left = at ? content - at : sizeof(head), len = left < PIECE ? left : PIECE;
		error = tp_ctf_is_at(fd, dir, name) ? tp_file_write(fd, from, len) : EBADF;
		at += len;
	}
	return error;
}

/* A copy of the packet's file takes the place of what has this name. */
static int replace(struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet, int dir, const char *name)
{
	struct tp_ctf_file file;
	char hidden[NAME_SIZE];
	unsigned int copy;

	int error = open_hidden(sink, dir, &copy, O_WRONLY, &file);
	if (error)
		return error;
	hidden_name(sink, copy, hidden);
	error = tp_ctf_packet_write(packet->memory, file.fd, dir, hidden);
	if (close_own(sink, &file, dir, hidden) != 0)
		error = EBADF;
	if (!error && renameat(dir, hidden, dir, name) != 0)
		error = errno;
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

int tp_ctf_packet_save(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	char name[NAME_SIZE], hidden[NAME_SIZE];
	int error;

	int dir = tp_ctf_dir_fd(sink, in, &error);
	if (dir < 0)
		return error;
	packet->hidden = new_hidden(sink);
	hidden_name(sink, packet->hidden, hidden);
	name_of(sink, packet, name);
	if (linkat(dir, name, dir, hidden, 0) != 0)
		return errno;
	error = replace(sink, packet, dir, name);
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

bool tp_ctf_packet_can_renew(void)
{
#ifdef __x86_64__
	__builtin_cpu_init(); /* a constructor may open the sink before libgcc's has run */
	return __builtin_cpu_supports("avx");
#else
	return false;
#endif
}

/*
 * The head of a packet that is in the trace becomes another: first there are no events in it, then it is a packet of another
 * time, by one store, so that the trace is valid whenever the process is killed.
 */
static void renew(struct tp_packet *packet, const struct tp_packet *head)
{
	__atomic_store_n(&packet->content_size, head->content_size, __ATOMIC_RELEASE);
#ifdef __x86_64__
	_Static_assert(offsetof(struct tp_packet, timestamp_begin) == 32 && sizeof(*head) == 64, "half of the head");
	__asm__ volatile("vmovdqu (%1), %%ymm0\n\tvmovdqa %%ymm0, (%0)\n\tvzeroupper"
			 :
			 : "r"(&packet->timestamp_begin), "r"(&head->timestamp_begin)
			 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

int tp_ctf_packet_begin(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet, uint64_t discarded)
{
	char name[NAME_SIZE], hidden[NAME_SIZE];
	int error, dir = -1;

	if (!packet->in_place)
		dir = tp_ctf_dir_fd(sink, in, &error);
	if (!packet->in_place && dir < 0)
		return error;
	const struct tp_packet head = {
		.magic = TP_CTF_MAGIC,
		/* In one trace no other stream may have it; children write to the same one. */
		.stream_instance_id = (uint64_t)(uint32_t)sink->pid << 32 | packet->number,
		.timestamp_begin = packet->begin,
		.content_size = sizeof(struct tp_packet) * CHAR_BIT,
		.timestamp_end = packet->begin,
		.packet_size = (uint64_t)sink->options.packet * CHAR_BIT,
		.packet_seq_num = packet->stream->shown - packet->stream->first, /* without the names that were taken */
		.events_discarded = discarded,
	};
	packet->broken = false;
	if (packet->in_place) {
		renew(packet->memory, &head);
		return 0;
	}
	*packet->memory = head;
	error = sink->copies ? tp_ctf_packet_copy(packet, 0, sizeof(struct tp_packet)) : 0;
	if (error)
		return error;
	return tp_ctf_rename_new(dir, hidden_name(sink, packet->hidden, hidden), name_of(sink, packet, name));
}

void tp_ctf_packet_unmap(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	struct tp_packet *memory = packet->memory, *file = packet->file;

	/* Before it is so: another thread may fork here, and the child unmap what there is. */
	packet->memory = packet->file = NULL;
	tp_barrier();
	if (memory)
		munmap(memory, sink->options.packet);
	if (file && file != memory)
		munmap(file, sink->options.packet);
}

bool tp_ctf_packet_is_removed(struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet)
{
	char name[NAME_SIZE];
	int error;

	int dir = tp_ctf_dir(sink, &error);
	if (dir < 0)
		return error == ENOENT;
	int fd = openat(dir, name_of(sink, packet, name), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	close(fd);
	return false;
}

size_t tp_ctf_packet_finish(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = ((size_t)(packet->memory->content_size / CHAR_BIT) + page - 1) & ~(page - 1);
	size_t unused = sink->options.packet - used;

	if (sink->copies)
		tp_ctf_packet_copy(packet, 0, 0); /* what was lost since the last record */
	if (unused && madvise((char *)packet->file + used, unused, MADV_REMOVE) != 0)
		unused = 0;
	tp_ctf_packet_unmap(sink, packet);
	return unused;
}

void tp_ctf_packet_remove(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet, bool hidden)
{
	char name[NAME_SIZE];
	int error;

	tp_ctf_packet_unmap(sink, packet);
	int dir = tp_ctf_dir_fd(sink, in, &error);
	if (dir >= 0)
		unlinkat(dir, hidden ? hidden_name(sink, packet->hidden, name) : name_of(sink, packet, name), 0);
}

void tp_ctf_packet_warm(struct tp_packet *memory, size_t from, size_t to)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from = (from + page - 1) & ~(page - 1); /* what is in front of that is present */
	if (from < to)
		tp_mapped_populate((char *)memory + from, to - from);
}
