/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/file.c - the file of a Perfetto sink: a header, then chunks.
 *
 * A Perfetto trace is a sequence of fields, and its readers skip those that they do not know. All of the file that is no packet is
 * such a field, with a length. So the file is a valid trace whenever it is read: it ends with whole chunks, and of a chunk that is
 * being written, what is behind the last packet is padding. A process that is killed while it makes a chunk leaves zeros at the
 * file's end, which end the trace for readers; another process begins its chunk there.
 *
 * Forked children write to the same file. They share the file's end with their parent, in memory. The lock there is robust: a
 * process that is killed with it leaves it to the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "base/message.h"
#include "base/pid_name.h"
#include "base/text.h"
#include "sinks/perfetto/fields.h"
#include "sinks/perfetto/file.h"

/* A tag and a length of four bytes, of which messages of protocol buffers can't have more. */
#define HEAD 5u

uint64_t tp_perfetto_padding(size_t size)
{
	unsigned char head[sizeof(uint64_t)] = {TP_TRACE_PADDING << 3 | TP_PROTO_BYTES};
	uint64_t word;

	tp_proto_put_length(head + 1, size - HEAD);
	memcpy(&word, head, sizeof(word));
	return word;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- What processes share ---- */

static bool shared_init(struct tp_perfetto_shared *shared)
{
	pthread_mutexattr_t attributes;

	if (pthread_mutexattr_init(&attributes) != 0)
		return false;
	const bool good = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
			  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
			  pthread_mutex_init(&shared->lock, &attributes) == 0;
	pthread_mutexattr_destroy(&attributes);
	shared->sequences = 1;
	return good;
}

static bool shared_make(struct tp_perfetto_file *file)
{
	void *memory = mmap(NULL, sizeof(*file->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	if (!shared_init(memory)) {
		munmap(memory, sizeof(*file->shared));
		return false;
	}
	file->shared = memory;
	return true;
}

static void shared_lock(struct tp_perfetto_shared *shared)
{
	if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->lock);
}

static void shared_unlock(struct tp_perfetto_shared *shared)
{
	pthread_mutex_unlock(&shared->lock);
}

uint32_t tp_perfetto_sequence(struct tp_perfetto_sink *sink)
{
	return __atomic_add_fetch(&sink->file.shared->sequences, 1, __ATOMIC_RELAXED);
}

/* ---- The file by its name ---- */

/* The lock says that the file is written to; it stays as long as a process has a part of the file mapped. Another one may be removing it. */
static int locked(int fd)
{
	struct stat st;

	if (fd < 0 || (flock(fd, LOCK_SH | LOCK_NB) == 0 ? fstat(fd, &st) != 0 || st.st_nlink : errno != EWOULDBLOCK))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static int open_new(struct tp_perfetto_file *file)
{
	const int error = tp_file_make_way(file->path);

	if (error == EACCES)
		tp_complain_of_foreign(file->path);
	return error ? error : tp_guarded_fd_take(&file->fd, locked(tp_file_open(file->path, O_RDWR | O_EXCL | O_NOFOLLOW, 0600)));
}

static int open_again(const void *data)
{
	const struct tp_perfetto_file *file = data;

	if (!file->pattern) {
		errno = EBADF;
		return -1;
	}
	return locked(open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

static char *absolute(const char *name)
{
	char directory[PATH_MAX];

	if (*name == '/')
		return strdup(name);
	if (!getcwd(directory, sizeof(directory)))
		return NULL;
	char *path = malloc(strlen(directory) + 1 + strlen(name) + 1);
	if (path)
		strcpy(stpcpy(stpcpy(path, directory), "/"), name);
	return path;
}

static bool must_copy(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const size_t len = (size_t)(slash - path) + 1;

	if (len >= sizeof(directory))
		return false;
	memcpy(directory, path, len);
	directory[len] = '\0';
	const int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const bool must = fd >= 0 && tp_mapped_must_be_copied(fd);
	if (fd >= 0)
		close(fd);
	return must;
}

int tp_perfetto_file_begin(struct tp_perfetto_sink *sink, const char *name)
{
	struct tp_perfetto_file *file = &sink->file;

	errno = ENOMEM;
	file->pattern = absolute(name);
	if (!file->pattern)
		return errno;
	file->path = tp_malloc(tp_pid_name_size(file->pattern));
	if (!file->path || !shared_make(file))
		return ENOMEM;
	tp_pid_name(file->path, file->pattern, sink->pid);
	file->copies = must_copy(file->path);
	return 0;
}

int tp_perfetto_file_begin_in(struct tp_perfetto_sink *sink, int fd, const char *name)
{
	struct tp_perfetto_file *file = &sink->file;
	struct stat st;
	const int error = tp_guarded_fd_take(&file->fd, fd);

	flock(fd, LOCK_SH | LOCK_NB);
	if (error)
		return error;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return EINVAL;
	if (st.st_size)
		return EEXIST;
	file->path = strdup(name);
	file->copies = tp_mapped_must_be_copied(fd);
	return file->path && shared_make(file) ? 0 : ENOMEM;
}

/* ---- The header ---- */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put_clock(struct tp_proto *proto, uint32_t id, uint64_t ns)
{
	const size_t clock = tp_proto_begin(proto, TP_SNAPSHOT_CLOCKS);

	tp_proto_number(proto, TP_CLOCK_ID, id);
	tp_proto_number(proto, TP_CLOCK_TIMESTAMP, ns);
	tp_proto_end(proto, clock);
}

/* What the clocks say at one moment: half of the time between two readings of the clock that records have. */
static void put_snapshot(struct tp_proto *proto)
{
	const uint64_t before = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME), boot = clock_ns(CLOCK_BOOTTIME);
	const uint64_t monotonic = before + (clock_ns(CLOCK_MONOTONIC) - before) / 2;
	const size_t packet = tp_proto_begin(proto, TP_TRACE_PACKET);

	tp_proto_number(proto, TP_PACKET_TIMESTAMP, monotonic);
	tp_proto_number(proto, TP_PACKET_TIMESTAMP_CLOCK, TP_BUILTIN_MONOTONIC);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_ID, 1);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_FLAGS, TP_SEQUENCE_STATE_CLEARED);
	const size_t snapshot = tp_proto_begin(proto, TP_PACKET_CLOCK_SNAPSHOT);
	put_clock(proto, TP_BUILTIN_MONOTONIC, monotonic);
	put_clock(proto, TP_BUILTIN_REALTIME, real);
	put_clock(proto, TP_BUILTIN_BOOTTIME, boot);
	tp_proto_number(proto, TP_SNAPSHOT_PRIMARY, TP_BUILTIN_MONOTONIC);
	tp_proto_end(proto, snapshot);
	tp_proto_end(proto, packet);
}

/* A page, so that chunks can be mapped behind it. */
static int put_header(struct tp_perfetto_file *file, int fd)
{
	unsigned char header[256] = {0};
	struct tp_proto proto = {.bytes = header, .size = sizeof(header)};
	const size_t page = page_size();

	put_snapshot(&proto);
	unsigned char *padding = proto.bytes + proto.len;
	*padding = TP_TRACE_PADDING << 3 | TP_PROTO_BYTES;
	tp_proto_put_length(padding + 1, page - proto.len - HEAD);
	const int error = tp_mapped_allocate(fd, 0, page);
	if (error)
		return error;
	if (pwrite(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return errno ? errno : EIO;
	file->shared->end = page;
	return 0;
}

int tp_perfetto_file_make(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_file *file = &sink->file;
	int error = file->pattern ? open_new(file) : 0;

	if (error)
		return error;
	error = put_header(file, tp_guarded_fd_descriptor(&file->fd));
	if (error && file->pattern) {
		tp_guarded_fd_close(&file->fd);
		file->fd = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
		unlink(file->path);
	}
	file->later = error != 0;
	return error;
}

void tp_perfetto_file_close(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_file *file = &sink->file;

	tp_guarded_fd_close(&file->fd);
	if (file->shared)
		munmap(file->shared, sizeof(*file->shared));
	free(file->pattern);
	free(file->path);
}

bool tp_perfetto_file_inherit(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_file *file = &sink->file;

	if (!file->pattern || !strstr(file->pattern, "%p"))
		return true;
	tp_guarded_fd_close(&file->fd);
	file->fd = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
	munmap(file->shared, sizeof(*file->shared));
	file->shared = NULL;
	file->later = true;
	tp_pid_name(file->path, file->pattern, sink->pid);
	return shared_make(file);
}

/* ---- Chunks ---- */

static int map(const struct tp_perfetto_file *file, int fd, struct tp_perfetto_chunk *chunk)
{
	void *mapped = mmap(NULL, chunk->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)chunk->at);
	void *memory = mapped;

	if (mapped == MAP_FAILED)
		return errno;
	if (file->copies)
		memory = mmap(NULL, chunk->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		munmap(mapped, chunk->size);
		return ENOMEM;
	}
	chunk->file = mapped;
	chunk->memory = memory;
	return 0;
}

static int begin(struct tp_perfetto_chunk *chunk)
{
	const uint64_t head = tp_perfetto_padding(chunk->size);

	__atomic_store_n((uint64_t *)(void *)chunk->memory, head, __ATOMIC_RELEASE);
	const int error = tp_perfetto_chunk_copy(chunk, 0, 0);
	if (error)
		tp_perfetto_chunk_unmap(chunk);
	return error;
}

/* The file was cut behind the last packet of a process that has closed it: up to the next page there is padding. */
static int fill_page(const struct tp_perfetto_shared *shared, int fd, uint64_t at)
{
	const uint64_t head = tp_perfetto_padding((size_t)(at - shared->end));

	if (at == shared->end)
		return 0;
	return pwrite(fd, &head, sizeof(head), (off_t)shared->end) == (ssize_t)sizeof(head) ? 0 : errno ? errno : EIO;
}

static int claim(struct tp_perfetto_file *file, int fd, struct tp_perfetto_chunk *chunk)
{
	struct tp_perfetto_shared *shared = file->shared;
	const size_t page = page_size();

	chunk->at = (shared->end + page - 1) / page * page;
	int error = tp_mapped_allocate(fd, (off_t)chunk->at, chunk->size);
	if (!error)
		error = fill_page(shared, fd, chunk->at);
	if (!error)
		error = map(file, fd, chunk);
	if (!error)
		error = begin(chunk);
	if (!error) {
		shared->end = chunk->at + chunk->size;
	} else if (ftruncate(fd, (off_t)shared->end) != 0) {
		error = errno; /* readers take zeros at the end for the end, too */
	}
	return error;
}

int tp_perfetto_chunk_claim(struct tp_perfetto_sink *sink, size_t size, struct tp_perfetto_chunk *chunk)
{
	struct tp_perfetto_file *file = &sink->file;
	int error = !file->shared ? ENOMEM : file->later ? tp_perfetto_file_make(sink) : 0;
	const int fd = error ? -1 : tp_guarded_fd_get(&file->fd, open_again, file, false, &error);

	if (fd < 0)
		return error;
	*chunk = (struct tp_perfetto_chunk){.size = (size + page_size() - 1) / page_size() * page_size()};
	shared_lock(file->shared);
	error = claim(file, fd, chunk);
	shared_unlock(file->shared);
	if (!error)
		tp_mapped_populate(chunk->memory, chunk->size);
	return error;
}

/* A handler may have put its own packets behind them meanwhile: what the file has there is padding, until these are copied. */
int tp_perfetto_chunk_copy(const struct tp_perfetto_chunk *chunk, size_t from, size_t to)
{
	uint64_t rest = to < chunk->size ? tp_perfetto_padding(chunk->size - to) : 0;
	const size_t head = sizeof(rest), body = to > from ? to - from - head : 0, behind = to > from && rest ? sizeof(rest) : 0;
	const struct iovec of_memory[] = {{chunk->memory + from + head, body}, {&rest, behind}, {chunk->memory + from, head}};
	const struct iovec of_file[] = {{chunk->file + from + head, body}, {chunk->file + to, behind}, {chunk->file + from, head}};

	return chunk->file == chunk->memory ? 0 : tp_mapped_copy(of_memory, of_file, 3);
}

void tp_perfetto_chunk_unmap(struct tp_perfetto_chunk *chunk)
{
	if (chunk->memory && chunk->memory != chunk->file)
		munmap(chunk->memory, chunk->size);
	if (chunk->file)
		munmap(chunk->file, chunk->size);
	*chunk = (struct tp_perfetto_chunk){.size = 0};
}

/* True: the file ends there now. */
static bool cut(struct tp_perfetto_file *file, const struct tp_perfetto_chunk *chunk, size_t used)
{
	struct tp_perfetto_shared *shared = file->shared;
	const int fd = tp_guarded_fd_descriptor(&file->fd);
	const uint64_t end = chunk->at + chunk->size;
	bool is_cut = false;

	if (fd < 0)
		return false;
	shared_lock(shared);
	if (shared->end == end) {
		shared->end = chunk->at + used; /* first: behind the end that the others know, there are no zeros in front of a chunk of theirs */
		is_cut = ftruncate(fd, (off_t)shared->end) == 0;
		if (!is_cut)
			shared->end = end;
	}
	shared_unlock(shared);
	return is_cut;
}

void tp_perfetto_chunk_end(struct tp_perfetto_sink *sink, struct tp_perfetto_chunk *chunk, size_t used)
{
	const size_t page = page_size(), pages = (used + sizeof(uint64_t) + page - 1) / page * page;

	if (!chunk->file)
		return;
	if (!cut(&sink->file, chunk, used) && pages < chunk->size)
		madvise(chunk->file + pages, chunk->size - pages, MADV_REMOVE);
	tp_perfetto_chunk_unmap(chunk);
}
