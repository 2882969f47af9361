/* SPDX-License-Identifier: MIT */
/*
 * pack_traces.c - copies traces into an archive. Of a packet comes what counts, without the room behind it. A program may go on
 * recording: what a packet's head said when the trace was opened is what the copy's head says.
 */
#include "pack/pack_traces.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack/archive.h"
#include "read/traces.h"
#include "record/packet.h"
#include "fail_msg.h"

#define WINDOW_SIZE ((size_t)1 << 20)
#define LOG_MAX ((size_t)64 << 20)

struct packer {
	const struct packing *packing;
	struct archive archive;
	unsigned char *window;
	char **names; /* of the traces so far, in the archive */
	size_t nr;
};

/* ---- A file ---- */

/* A path in the archive, for free(); NULL, and a message. */
static char *path_of(const char *trace, const char *folder, const char *file)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", trace, folder, file) >= 0)
		return path;
	fail_no_memory();
	return NULL;
}

static bool put_text(struct packer *packer, char *path, const char *text, size_t len)
{
	const bool good = path && archive_begin_file(&packer->archive, path, len) &&
			  archive_write(&packer->archive, text, len) && archive_end_file(&packer->archive, len);

	free(path);
	return good;
}

static bool put_content(struct packer *packer, const struct trace_dir *dir, const struct packet *packet)
{
	uint64_t offset = 0;

	while (offset < packet->content) {
		const uint64_t left = packet->content - offset;
		const size_t size = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;
		ssize_t n = trace_dir_read(dir, packet, packer->window, size, offset);
		if (n < 0)
			return false;
		if ((size_t)n < size)
			return fail_msg("'%s/%s' is damaged: at offset %llu it ends, before its content does", dir->folder.path,
				    packet->name, (unsigned long long)(offset + (uint64_t)n));
		if (offset == 0) {
			struct tp_packet head;
			memcpy(&head, packer->window, sizeof(head));
			head.content_size = head.packet_size = packet->content * CHAR_BIT;
			head.timestamp_end = packet->end;
			head.events_discarded = packet->discarded;
			memcpy(packer->window, &head, sizeof(head));
		}
		if (!archive_write(&packer->archive, packer->window, size))
			return false;
		offset += size;
	}
	return true;
}

static bool put_packet(struct packer *packer, const struct trace_dir *dir, const struct packet *packet, const char *name)
{
	char *path = path_of(name, "", packet->name);
	const bool good = path && archive_begin_file(&packer->archive, path, packet->content) &&
			  put_content(packer, dir, packet) && archive_end_file(&packer->archive, packet->content);

	free(path);
	return good;
}

/* ---- The texts ---- */

/* Takes the line out that has the program's arguments. The text of a line has its newlines escaped. */
static void cut_command(char *text, size_t *len)
{
	char *env = strstr(text, "\nenv {\n");
	char *line = env ? strstr(env, "\n\tcommand = ") : NULL;

	if (!line || line >= strstr(env, "\n};\n"))
		return;
	char *next = strchr(line + 1, '\n');
	memmove(line, next, *len - (size_t)(next - text) + 1);
	*len -= (size_t)(next - line);
}

static bool put_metadata(struct packer *packer, const struct trace_dir *dir, const char *name)
{
	size_t len;
	char *text = metadata_text(dir, &len);

	if (text && packer->packing->without_command_line)
		cut_command(text, &len);
	const bool good = text && put_text(packer, path_of(name, "", "metadata"), text, len);
	free(text);
	return good;
}

static bool put_formats(struct packer *packer, const struct formats *formats, const char *name)
{
	for (size_t i = 0; i < formats->nr; i++) {
		const struct system_format *system = &formats->systems[i];
		if (!put_text(packer, path_of(name, "format/", system->file), system->text, strlen(system->text)))
			return false;
	}
	return true;
}

struct log {
	struct packer *packer;
	const struct folder *folder;
	const char *trace;
};

static bool put_log(void *data, const char *file)
{
	const struct log *log = data;
	size_t len;
	char *text = folder_read_text(log->folder, file, LOG_MAX, &len);
	const bool good = text && put_text(log->packer, path_of(log->trace, "log/", file), text, len);

	free(text);
	return good;
}

static bool put_logs(struct packer *packer, const struct trace_dir *dir, const char *name)
{
	struct folder folder;
	bool absent;

	if (packer->packing->without_command_line)
		return true;
	bool good = folder_open_below(&folder, &dir->folder, "log", &absent);
	struct log log = {.packer = packer, .folder = &folder, .trace = name};
	if (good && !absent)
		good = folder_each(&folder, put_log, &log);
	folder_close(&folder);
	return good;
}

/* ---- A trace ---- */

static bool put_trace(struct packer *packer, const struct trace *trace, const char *name)
{
	const struct trace_dir *dir = &trace->dir;
	bool good = put_metadata(packer, dir, name) && put_formats(packer, &trace->formats, name) &&
		    put_logs(packer, dir, name);

	for (size_t i = 0; i < dir->nr && good; i++)
		good = put_packet(packer, dir, &dir->packets[i], name);
	return good;
}

/* The name is the list's from here on; it may be NULL. */
static bool add_name(struct packer *packer, char *name)
{
	char **names = name ? reallocarray(packer->names, packer->nr + 1, sizeof(*names)) : NULL;

	if (!names) {
		free(name);
		return fail_no_memory();
	}
	packer->names = names;
	names[packer->nr++] = name;
	for (size_t i = 0; i + 1 < packer->nr; i++) {
		if (strcmp(names[i], name) == 0)
			return fail_msg("two traces are called '%s': rename one, or pack them one by one", name);
	}
	return true;
}

/* The last part of the path, whatever that is: "." has one, too. For free(); NULL, and a message. */
static char *last_part(const char *path)
{
	char whole[PATH_MAX];

	if (!realpath(path, whole)) {
		fail_msg("'%s' can't be found: %s", path, strerror(errno));
		return NULL;
	}
	const char *last = strrchr(whole, '/') + 1;
	char *copy = strdup(*last ? last : "trace");
	if (!copy)
		fail_no_memory();
	return copy;
}

/* What the trace is called in the archive: by the directory that was given, and what is below it. Of a pack, as there. */
static char *name_of(const char *path, const char *last, const struct trace *trace, const char *full)
{
	const char *below = full + strlen(path);
	char *name;

	if (trace->dir.folder.pack && *below)
		return strdup(below + 1);
	return asprintf(&name, "%s%s", last, below) < 0 ? NULL : name;
}

/* One that was given: a trace, or several. */
static bool put_path(struct packer *packer, char *path, const char *last)
{
	struct traces traces;
	bool good = traces_open(&traces, &path, 1);

	for (size_t i = 0; i < traces.nr && good; i++) {
		good = add_name(packer, name_of(path, last, &traces.traces[i], traces.paths[i])) &&
		       put_trace(packer, &traces.traces[i], packer->names[packer->nr - 1]);
	}
	traces_close(&traces);
	return good;
}

/* ---- All of them ---- */

static bool put_all(struct packer *packer)
{
	bool good = true;

	for (size_t i = 0; i < packer->packing->nr_paths && good; i++) {
		char *last = last_part(packer->packing->paths[i]);
		good = last && put_path(packer, packer->packing->paths[i], last);
		free(last);
	}
	return good;
}

static bool pack_to(const struct packing *packing, const char *to)
{
	struct packer packer = {.packing = packing, .window = malloc(WINDOW_SIZE)};
	bool good = packer.window || fail_no_memory();

	good = good && archive_open(&packer.archive, to) && put_all(&packer) && archive_finish(&packer.archive);
	if (good)
		printf("%s: %zu trace%s, %llu bytes\n", to, packer.nr, packer.nr == 1 ? "" : "s",
		       (unsigned long long)packer.archive.bytes);
	archive_close(&packer.archive);
	free(packer.window);
	for (size_t i = 0; i < packer.nr; i++)
		free(packer.names[i]);
	free(packer.names);
	return good;
}

bool pack_traces(const struct packing *packing)
{
	char *last = packing->to ? NULL : last_part(packing->paths[0]);
	char *to = NULL;

	if (packing->to)
		return pack_to(packing, packing->to);
	if (last && asprintf(&to, "%s.tar", last) < 0) {
		to = NULL;
		fail_no_memory();
	}
	const bool good = to && pack_to(packing, to);
	free(last);
	free(to);
	return good;
}
