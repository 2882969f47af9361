/* SPDX-License-Identifier: MIT */
#include "pack/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read/tar.h"
#include "fail_msg.h"

#define SIZE_MAX_OF_HEAD (((uint64_t)1 << 33) - 1) /* 11 octal digits */

bool archive_open(struct archive *archive, const char *path)
{
	*archive = (struct archive){.time = (uint64_t)time(NULL)};
	return new_file_open(&archive->new, path, 0600, false); /* as a trace, nobody else's */
}

bool archive_write(struct archive *archive, const void *data, size_t size)
{
	archive->bytes += size;
	return size == 0 || fwrite(data, size, 1, archive->new.file) == 1 || new_file_failed(&archive->new);
}

/* The rest of the last block. */
bool archive_end_file(struct archive *archive, uint64_t size)
{
	static const char zeros[TAR_BLOCK];

	return archive_write(archive, zeros, (size_t)(-size % TAR_BLOCK));
}

/* ---- A head ---- */

/* Where the name can be cut in two, that a head has it; 0: it is not in two; strlen(name): there is no such place. */
static size_t cut_of(const char *name)
{
	const struct tar_head *head = NULL;
	const size_t len = strlen(name);

	if (len <= sizeof(head->name))
		return 0;
	for (size_t i = len - 1 - sizeof(head->name); i <= sizeof(head->prefix) && i < len; i++) {
		if (i > 0 && name[i] == '/')
			return i;
	}
	return len;
}

static void put_octal(char *to, size_t size, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(to, digits, size);
}

static bool write_head(struct archive *archive, char type, const char *name, uint64_t size)
{
	struct tar_head head = {.type = type, .magic = TAR_MAGIC, .version = {'0', '0'}};
	const size_t cut = cut_of(name);
	const char *own = cut ? name + cut + 1 : name;

	memcpy(head.prefix, name, cut);
	memcpy(head.name, own, strlen(own));
	put_octal(head.mode, sizeof(head.mode), 0644);
	put_octal(head.uid, sizeof(head.uid), 0);
	put_octal(head.gid, sizeof(head.gid), 0);
	put_octal(head.size, sizeof(head.size), size);
	put_octal(head.mtime, sizeof(head.mtime), archive->time);
	put_octal(head.devmajor, sizeof(head.devmajor), 0);
	put_octal(head.devminor, sizeof(head.devminor), 0);
	put_octal(head.checksum, sizeof(head.checksum) - 1, tar_checksum(&head));
	head.checksum[sizeof(head.checksum) - 1] = ' ';
	return archive_write(archive, &head, sizeof(head));
}

/* The name, for readers of pax; others see a file that they don't know. */
static bool write_pax(struct archive *archive, const char *name)
{
	const size_t rest = strlen(" path=") + strlen(name) + strlen("\n");
	size_t len = rest + 1;
	char *line;

	while (len != rest + (size_t)snprintf(NULL, 0, "%zu", len)) /* its length counts its own digits */
		len++;
	if (asprintf(&line, "%zu path=%s\n", len, name) < 0)
		return fail_no_memory();
	const bool good = write_head(archive, TAR_PAX, "pax", len) && archive_write(archive, line, len) &&
			  archive_end_file(archive, len);
	free(line);
	return good;
}

bool archive_begin_file(struct archive *archive, const char *name, uint64_t size)
{
	if (size > SIZE_MAX_OF_HEAD)
		return fail_msg("'%s' is too long to be packed: it has %llu bytes", name, (unsigned long long)size);
	if (cut_of(name) < strlen(name))
		return write_head(archive, TAR_FILE, name, size);
	return write_pax(archive, name) && write_head(archive, TAR_FILE, "long-name", size);
}

/* ---- All of it ---- */

bool archive_finish(struct archive *archive)
{
	static const char end[2 * TAR_BLOCK];

	return archive_write(archive, end, sizeof(end)) && new_file_finish(&archive->new);
}

void archive_close(struct archive *archive)
{
	new_file_close(&archive->new);
}
