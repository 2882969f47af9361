// SPDX-License-Identifier: MIT
/*
 * gzip.c - writing a gzip member (RFC 1952) around the compressed blocks of a file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "block.h"
#include "gzip.h"
#include "pgz.h"

#define FLG_FNAME 8
#define OS_UNIX 3

static int write_all(struct gzip *gzip, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		ssize_t n = write(gzip->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
		gzip->out += (size_t)n;
	}
	return 0;
}

static void put_le32(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

int gzip_begin(struct gzip *gzip, int fd, const char *name, time_t mtime, int level)
{
	unsigned char header[10] = {0x1f, 0x8b, Z_DEFLATED, name ? FLG_FNAME : 0};
	int err;

	*gzip = (struct gzip){.fd = fd, .crc = (uint32_t)crc32(0, NULL, 0)};
	/* 32 bits without a sign; 0 says that the time is not known. */
	if (mtime > 0 && (uint64_t)mtime <= UINT32_MAX)
		put_le32(header + 4, (uint32_t)mtime);
	header[8] = level == 9 ? 2 : level == 1 ? 4 : 0; /* XFL: the slowest, the fastest algorithm */
	header[9] = OS_UNIX;
	err = write_all(gzip, header, sizeof(header));
	return err || !name ? err : write_all(gzip, name, strlen(name) + 1);
}

int gzip_block(struct gzip *gzip, const struct block *block)
{
	gzip->crc = (uint32_t)crc32_combine(gzip->crc, block->crc, (z_off_t)block->in_len);
	gzip->in += block->in_len;
	trace_pgz_step('B', "write");
	const int err = write_all(gzip, block->out, block->out_len);
	trace_pgz_step('E', "write");
	return err;
}

int gzip_end(struct gzip *gzip)
{
	unsigned char trailer[8];

	put_le32(trailer, gzip->crc);
	put_le32(trailer + 4, (uint32_t)gzip->in); /* modulo 2^32, says the RFC */
	return write_all(gzip, trailer, sizeof(trailer));
}
