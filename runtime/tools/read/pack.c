/* SPDX-License-Identifier: MIT */
/*
 * pack.c - the list of an archive's files. An archive may come from anybody: a name that would lead out of a directory,
 * a link or a size beyond the file's end is refused, though nothing is unpacked here.
 */
#include "read/pack.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/tar.h"
#include "fail_msg.h"

#define PAX_MAX ((uint64_t)64 << 10) /* bytes of lines about a file: a path and some numbers */

struct reading {
	struct pack *pack;
	const char *path;
	uint64_t offset; /* of the next head */
	uint64_t size;   /* of the archive */
	char *name;      /* of the next file, as pax has it; NULL: it does not say */
};

static bool damaged(const struct reading *r, const char *what)
{
	return fail_msg("'%s' is damaged: at offset %llu %s", r->path, (unsigned long long)r->offset, what);
}

static bool read_all(const struct reading *r, void *to, size_t size, uint64_t offset)
{
	for (size_t len = 0; len < size;) {
		ssize_t n = pread(r->pack->fd, (char *)to + len, size - len, (off_t)(offset + len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_msg("'%s' can't be read: %s", r->path, strerror(errno));
		if (n == 0)
			return fail_msg("'%s' is cut off: it ends at offset %llu, without a packed trace's end; copy it again",
				    r->path, (unsigned long long)(offset + len));
		len += (size_t)n;
	}
	return true;
}

/* ---- A head ---- */

static bool is_zero(const struct tar_head *head)
{
	static const struct tar_head zero;

	return memcmp(head, &zero, sizeof(zero)) == 0;
}

/* Octal digits, then blanks or a NUL. False: there is something else. */
static bool read_octal(const char *text, size_t len, uint64_t *value)
{
	size_t at = 0;

	*value = 0;
	while (at < len && text[at] == ' ')
		at++;
	const size_t digits = at;
	for (; at < len && text[at] >= '0' && text[at] <= '7'; at++)
		*value = *value * 8 + (uint64_t)(text[at] - '0');
	return at > digits && (at == len || text[at] == ' ' || text[at] == '\0');
}

/* What begins as others begin is named. */
static bool not_a_pack(const struct reading *r, const struct tar_head *head)
{
	if (memcmp(head->name, "\x1f\x8b", 2) == 0)
		return fail_msg("'%s' is compressed: gunzip it first", r->path);
	if (memcmp(head->name, "\x28\xb5\x2f\xfd", 4) == 0)
		return fail_msg("'%s' is compressed: unzstd it first", r->path);
	return fail_msg("'%s' is neither the directory of a trace nor a file that \"tp pack\" has made", r->path);
}

static bool check_head(const struct reading *r, const struct tar_head *head)
{
	uint64_t sum;

	if (memcmp(head->magic, TAR_MAGIC, strlen(TAR_MAGIC)) != 0)
		return r->offset == 0 ? not_a_pack(r, head) : damaged(r, "there is no file of an archive");
	if (!read_octal(head->checksum, sizeof(head->checksum), &sum) || sum != tar_checksum(head))
		return damaged(r, "the checksum is wrong");
	return true;
}

/* The name that the head has, for free(); NULL, and a message: there is no memory. */
static char *head_name(const struct tar_head *head)
{
	const int prefix = memcmp(head->magic, TAR_MAGIC, sizeof(head->magic)) == 0 /* GNU's has no prefix */
			   ? (int)strnlen(head->prefix, sizeof(head->prefix)) : 0;
	const int len = (int)strnlen(head->name, sizeof(head->name));
	char *name = malloc((size_t)prefix + (size_t)len + 2);

	if (!name) {
		fail_no_memory();
		return NULL;
	}
	memcpy(name, head->prefix, (size_t)prefix);
	if (prefix)
		name[prefix] = '/';
	memcpy(name + prefix + (prefix != 0), head->name, (size_t)len);
	name[prefix + (prefix != 0) + len] = '\0';
	return name;
}

/* ---- Pax ---- */

/* A line at text; the next one, or NULL: it makes no sense. */
static const char *pax_line(struct reading *r, const char *text, const char *end)
{
	char *key;
	const unsigned long long len = *text >= '1' && *text <= '9' ? strtoull(text, &key, 10) : 0;

	if (len == 0 || len > (unsigned long long)(end - text) || *key != ' ' || text[len - 1] != '\n' || key + 1 >= text + len)
		return NULL;
	key++;
	const size_t left = (size_t)(text + len - 1 - key);
	if (left > strlen("path=") && memcmp(key, "path=", strlen("path=")) == 0) {
		free(r->name);
		r->name = strndup(key + strlen("path="), left - strlen("path="));
		if (!r->name)
			return NULL;
	}
	/* A file that is longer than its head can say is no packet, and no other part of a trace. */
	if (left > strlen("size=") && memcmp(key, "size=", strlen("size=")) == 0)
		return NULL;
	return text + len;
}

static bool read_pax(struct reading *r, uint64_t begin, uint64_t size)
{
	char *text = size <= PAX_MAX ? malloc((size_t)size + 1) : NULL;
	bool good = text || (size > PAX_MAX ? damaged(r, "a file's description is too long") : fail_no_memory());

	good = good && read_all(r, text, (size_t)size, begin);
	if (good) {
		text[size] = '\0';
		const char *at = text;
		while (at && at < text + size)
			at = pax_line(r, at, text + size);
		good = at || damaged(r, "a file's description can't be read");
	}
	free(text);
	return good;
}

/* ---- A file ---- */

/* What could be taken for a file somewhere else, or has two names. */
static bool is_safe(const char *name)
{
	if (*name == '\0' || strlen(name) >= PATH_MAX)
		return false;
	for (;;) {
		const size_t len = strcspn(name, "/");
		if (len == 0 || (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		if (name[len] == '\0')
			return true;
		name += len + 1;
	}
}

/* The name is the list's from here on. */
static bool add_file(struct reading *r, char *name, uint64_t begin, uint64_t size)
{
	struct pack *pack = r->pack;
	const char *own = strncmp(name, "./", 2) == 0 ? name + 2 : name;

	if (!is_safe(own)) {
		fail_msg("'%s' has a file '%s' at offset %llu, whose path is none of a trace: don't unpack it", r->path, name,
		     (unsigned long long)r->offset);
		free(name);
		return false;
	}
	memmove(name, own, strlen(own) + 1);
	/* Twice as many whenever their number is a power of two. */
	if ((pack->nr & (pack->nr - 1)) == 0) {
		struct packed_file *files = reallocarray(pack->files, pack->nr ? 2 * pack->nr : 1, sizeof(*files));
		if (!files) {
			free(name);
			return fail_no_memory();
		}
		pack->files = files;
	}
	pack->files[pack->nr++] = (struct packed_file){.name = name, .begin = begin, .size = size};
	return true;
}

static bool read_entry(struct reading *r, const struct tar_head *head, uint64_t size)
{
	const uint64_t begin = r->offset + TAR_BLOCK;

	if (head->type == TAR_PAX)
		return read_pax(r, begin, size);
	char *name = r->name ? r->name : head_name(head);
	r->name = NULL;
	if (!name)
		return false;
	if (head->type == TAR_FILE || head->type == '\0')
		return add_file(r, name, begin, size);
	const bool good = head->type == TAR_DIRECTORY ||
			  fail_msg("'%s' has '%s' at offset %llu, which is no plain file (type '%c'): \"tp pack\" packs none such",
			       r->path, name, (unsigned long long)r->offset, head->type);
	free(name);
	return good;
}

static bool read_list(struct reading *r)
{
	struct tar_head head = {.name = ""};
	uint64_t size;

	if (r->size < sizeof(head))
		return not_a_pack(r, &head);
	for (;;) {
		if (!read_all(r, &head, sizeof(head), r->offset))
			return false;
		if (is_zero(&head) && r->offset > 0)
			return true;
		if (!check_head(r, &head))
			return false;
		if (!read_octal(head.size, sizeof(head.size), &size))
			return damaged(r, "a file's size can't be read");
		if (size > r->size - r->offset - TAR_BLOCK)
			return fail_msg("'%s' is cut off: it ends at offset %llu, in the file at offset %llu; copy it again", r->path,
				    (unsigned long long)r->size, (unsigned long long)r->offset);
		if (!read_entry(r, &head, size))
			return false;
		r->offset += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
}

/* ---- All of them ---- */

static int compare(const void *a, const void *b)
{
	const struct packed_file *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static bool sort(struct pack *pack, const char *path)
{
	if (pack->nr)
		qsort(pack->files, pack->nr, sizeof(*pack->files), compare);
	for (size_t i = 1; i < pack->nr; i++) {
		if (strcmp(pack->files[i - 1].name, pack->files[i].name) == 0)
			return fail_msg("'%s' has two files '%s', with content at offsets %llu and %llu", path, pack->files[i].name,
				    (unsigned long long)pack->files[i - 1].begin, (unsigned long long)pack->files[i].begin);
	}
	return true;
}

struct pack *pack_open(int fd, const char *path)
{
	struct reading reading = {.pack = calloc(1, sizeof(*reading.pack)), .path = path};
	struct stat status;

	if (!reading.pack) {
		close(fd);
		fail_no_memory();
		return NULL;
	}
	*reading.pack = (struct pack){.users = 1, .fd = fd};
	bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	if (!good)
		fail_msg("'%s' is neither a directory nor a plain file", path);
	reading.size = good ? (uint64_t)status.st_size : 0;
	if (good && reading.size == 0)
		good = fail_msg("'%s' is empty", path);
	good = good && read_list(&reading) && sort(reading.pack, path);
	free(reading.name);
	if (good)
		return reading.pack;
	pack_close(reading.pack);
	return NULL;
}

struct pack *pack_share(struct pack *pack)
{
	pack->users++;
	return pack;
}

void pack_close(struct pack *pack)
{
	if (!pack || --pack->users)
		return;
	close(pack->fd);
	for (size_t i = 0; i < pack->nr; i++)
		free(pack->files[i].name);
	free(pack->files);
	free(pack);
}

size_t pack_find(const struct pack *pack, const char *name)
{
	size_t begin = 0, end = pack->nr;

	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;
		if (strcmp(pack->files[middle].name, name) < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}
