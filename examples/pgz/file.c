// SPDX-License-Identifier: MIT
/*
 * file.c - compressing one file: from its name to its NAME.gz.
 *
 * The main thread reads the file block by block, submits each to the pool,
 * and writes them in order as they come back. It reads ahead as far as there
 * are blocks, so memory is bounded however large the file is.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgz.h"

#include "block.h"
#include "file.h"
#include "gzip.h"
#include "output.h"
#include "pool.h"

/* The sizes of compressed blocks, gathered for pgz_file_blocks. */
struct sizes {
	unsigned long first; /* the number of the block that sizes begins with */
	size_t count;
	uint32_t sizes[1024];
};

static void sizes_flush(struct sizes *s, const char *name)
{
	if (s->count)
		trace_pgz_file_blocks(name, s->first, s->sizes, s->count);
	s->count = 0;
}

/* Costs nothing to speak of while nobody listens. */
static void sizes_add(struct sizes *s, const struct block *block)
{
	if (!trace_pgz_file_blocks_enabled())
		return;
	if (s->count == 0)
		s->first = block->number;
	s->sizes[s->count++] = (uint32_t)block->out_len;
	if (s->count == sizeof(s->sizes) / sizeof(s->sizes[0]))
		sizes_flush(s, block->name);
}

/* Reads the next block of in and submits it. 0 or a negative errno value. */
static int submit_block(struct run *run, const char *name, int in, unsigned long number)
{
	struct block *block = &run->blocks[number % run->nr_blocks];
	const struct block *previous = number ? &run->blocks[(number - 1) % run->nr_blocks] : NULL;

	trace_pgz_step('B', "read");
	const int err = block_read(block, in, run->block_size, previous);
	trace_pgz_step('E', "read");
	if (err)
		return err;
	block->name = name;
	pool_submit(run->pool, block);
	return 0;
}

/* What went wrong: nothing, or the errno value and the file that it is about. */
struct failure {
	int error; /* 0 or negative */
	const char *file;
};

/* Compresses what in has, all of it, as the blocks of gzip. */
static struct failure compress_blocks(struct run *run, const char *name, int in, struct gzip *gzip,
				      const char *out_name)
{
	struct failure failure = {0, NULL};
	struct sizes sizes = {.count = 0};
	unsigned long next = 0, oldest = 0; /* the block to be read, and the one to be written, next */
	bool more = true;

	/* After a failure, too, until the pool has given back every block. */
	while (more || oldest < next) {
		if (more && next - oldest < run->nr_blocks) {
			int err = submit_block(run, name, in, next);

			if (err)
				failure = (struct failure){err, name};
			else
				next++;
			more = !err && !run->blocks[(next - 1) % run->nr_blocks].last;
		} else {
			const struct block *block = &run->blocks[oldest % run->nr_blocks];

			pool_wait(run->pool, block);
			oldest++;
			if (failure.error)
				continue;
			failure = block->error ? (struct failure){block->error, name}
					       : (struct failure){gzip_block(gzip, block), out_name};
			if (failure.error)
				more = false;
			else
				sizes_add(&sizes, block);
		}
	}
	sizes_flush(&sizes, name);
	return failure;
}

/* Compresses in, described by st, to out. */
static struct failure compress_fd(struct run *run, const char *name, int in, const struct stat *st, int out,
				  const char *out_name)
{
	bool regular = S_ISREG(st->st_mode);
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	struct failure failure = {0, NULL};
	struct gzip gzip;
	int err;

	trace_pgz_file_open(name, regular ? (long long)st->st_size : -1, run->block_size, run->level);
	err = gzip_begin(&gzip, out, regular ? base : NULL, regular ? st->st_mtime : 0, run->level);
	if (!err) {
		failure = compress_blocks(run, name, in, &gzip, out_name);
		err = failure.error ? 0 : gzip_end(&gzip);
	}
	if (err)
		failure = (struct failure){err, out_name};
	trace_pgz_file_close(name, gzip.in, gzip.out, failure.error);
	return failure;
}

static enum file_result report(const char *name, int error)
{
	errno = -error;
	warn("%s", name);
	return FILE_FAILED;
}

static enum file_result to_stdout(struct run *run, const char *name, int in, const struct stat *st)
{
	struct failure failure = compress_fd(run, name, in, st, STDOUT_FILENO, "standard output");

	if (!failure.error)
		return FILE_DONE;
	report(failure.file, failure.error);
	return FILE_BROKEN;
}

static enum file_result to_file(struct run *run, const char *name, int in, const struct stat *st)
{
	size_t size = strlen(name) + sizeof(".gz");
	char *out_name = malloc(size);
	struct failure failure;
	int out;

	if (!out_name)
		return report(name, -ENOMEM);
	snprintf(out_name, size, "%s.gz", name);
	out = output_create(out_name, st, run->force);
	if (out < 0) {
		if (out == -EEXIST)
			warnx("%s: %s", out_name, run->force ? "is the input itself" : "exists (-f overwrites it)");
		else
			report(out_name, out);
		free(out_name);
		return FILE_FAILED;
	}
	failure = compress_fd(run, name, in, st, out, out_name);
	if (failure.error)
		output_drop(out);
	else
		failure = (struct failure){output_finish(out, st), out_name};
	if (failure.error)
		report(failure.file, failure.error);
	free(out_name);
	return failure.error ? FILE_FAILED : FILE_DONE;
}

enum file_result compress_file(struct run *run, const char *name)
{
	bool from_stdin = strcmp(name, "-") == 0;
	bool use_stdout = run->to_stdout || from_stdin;
	enum file_result result;
	struct stat st;
	int in;

	if (use_stdout && !run->force && isatty(STDOUT_FILENO)) {
		warnx("%s: not written to a terminal (-f forces it)", name);
		return FILE_FAILED;
	}
	in = from_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return report(name, -errno);
	if (fstat(in, &st) < 0) {
		result = report(name, -errno);
	} else if (S_ISDIR(st.st_mode)) {
		result = report(name, -EISDIR);
	} else if (use_stdout) {
		result = to_stdout(run, from_stdin ? "standard input" : name, in, &st);
	} else if (!S_ISREG(st.st_mode)) {
		warnx("%s: not a regular file (-c takes it)", name);
		result = FILE_FAILED;
	} else {
		result = to_file(run, name, in, &st);
	}
	if (!from_stdin)
		close(in);
	return result;
}
