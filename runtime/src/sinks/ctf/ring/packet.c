/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/packet.c - packets, each a file that is mapped while it is written: how
 * they come to be under their names, and what is left of them.
 *
 * A file has a name that readers pass over until its head is complete.
 *
 * A store to a mapped file whose page can't be had is a SIGBUS, which would
 * kill the program. Where a file system keeps the promise that
 * posix_fallocate() gives, that does not happen. Where it copies on write
 * (btrfs), or is another machine's, it may happen at any store on a full disk. There
 * records are written to memory of their own, and process_vm_writev() copies
 * them into the mapped file: it returns an error in the place of a signal, and it
 * needs no descriptor, which a program may close. Where there is no such call
 * (emulators, some containers), records are stored in the file, as elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/thread.h"
#include "sinks/ctf/dir/begin.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

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

/* The program has lowered the limit on file sizes just now. Signals are blocked. */
static void drop_size_signal(void)
{
	const struct timespec no_time = {.tv_sec = 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigtimedwait(&set, NULL, &no_time);
}

/* A file whose blocks are there: with a hole in it, a full disk would be a SIGBUS in the middle of a record. */
static void *packet_map(int fd, size_t size, int *error)
{
	const bool allowed = tp_file_size_allowed(size);
	*error = allowed ? posix_fallocate(fd, 0, (off_t)size) : EFBIG;
	if (allowed && *error == EFBIG)
		drop_size_signal();
	if (*error)
		return NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED)
		return memory;
	*error = errno;
	return NULL;
}

static bool can_copy(void)
{
	char from = 1, to = 0;
	const struct iovec source = {&from, 1}, target = {&to, 1};

	return process_vm_writev(tp_thread_id(), &source, 1, &target, 1, 0) == 1;
}

/* A file without a name or, on an overlay before Linux 6.1, with one for a moment. -1: there is none. */
static int nameless_file(int dir)
{
	static const char name[] = ".tp-nameless";
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		unlinkat(dir, name, 0); /* of a process that was killed in that moment */
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0)
			unlinkat(dir, name, 0);
	}
	return fd;
}

/*
 * An overlay's files are those of a file system below it, which has no name for those who are inside of a container. So it
 * is known by what it does. One whose files can't share blocks overwrites them in place, as ext4 and tmpfs do. (A file is
 * never cloned into itself: what could do it says EINVAL.) XFS can share blocks, but does so only where it is asked to, and
 * it is the only one that tells how many extents a file has. (Its request does not fit into the int that musl's ioctl() takes.)
 */
static bool overlay_keeps_promise(int dir)
{
	struct fsxattr attributes = {.fsx_nextents = 0};
	int fd = nameless_file(dir);

	if (fd < 0)
		return false;
	bool keeps = tp_file_size_allowed(4096) && posix_fallocate(fd, 0, 4096) == 0 &&
		     ((ioctl(fd, FICLONE, fd) != 0 && errno == EOPNOTSUPP) ||
		      (syscall(SYS_ioctl, fd, FS_IOC_FSGETXATTR, &attributes) == 0 && attributes.fsx_nextents > 0));
	close(fd);
	return keeps;
}

static bool keeps_promise(int dir)
{
	struct statfs fs;

	if (fstatfs(dir, &fs) != 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case 0xef53:     /* ext4 */
	case 0x58465342: /* XFS */
	case 0x01021994: /* tmpfs */
		return true;
	case 0x794c7630: /* overlayfs */
		return overlay_keeps_promise(dir);
	default:
		return false;
	}
}

bool tp_ctf_packet_must_be_copied(int dir)
{
	return !keeps_promise(dir) && can_copy();
}

int tp_ctf_packet_copy(const struct tp_ctf_packet *packet, size_t from, size_t to)
{
	char *memory = (char *)packet->memory, *file = (char *)packet->file;
	const size_t end = offsetof(struct tp_packet, timestamp_begin), size = offsetof(struct tp_packet, content_size);
	const size_t starts[] = {from, end, size}, ends[] = {to, sizeof(struct tp_packet), size + sizeof(uint64_t)};
	struct iovec of_memory[3], of_file[3];
	ssize_t all = 0;

	if (!file)
		return 0;
	/* The call copies one after the other: what is content before that it is. Handlers' newer heads are as good. */
	for (size_t i = 0; i < 3; i++) {
		of_memory[i] = (struct iovec){memory + starts[i], ends[i] - starts[i]};
		of_file[i] = (struct iovec){file + starts[i], ends[i] - starts[i]};
		all += (ssize_t)of_memory[i].iov_len;
	}
	ssize_t n = process_vm_writev(tp_thread_id(), of_memory, 3, of_file, 3, 0);
	if (n == all)
		return 0;
	return n < 0 ? errno : EFAULT;
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
		madvise((char *)memory + from, to - from, MADV_POPULATE_WRITE);
}
