/* SPDX-License-Identifier: MIT */
#include "report/code_files.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symbols.h"

/* A trace may name any number of files: when so many bytes of symbols are in memory, the other files' are not read. */
#define MEMORY_MAX ((size_t)1 << 30)

struct code_file {
	const char *path, *build_id;
	bool is_read;
	struct symbols *symbols; /* NULL: the file is gone, or is another one */
};

static int compare(const void *a, const void *b)
{
	const struct code_file *one = a, *other = b;
	const int result = strcmp(one->path, other->path);

	return result ? result : strcmp(one->build_id, other->build_id);
}

struct code_file *code_files_get(struct code_files *files, const char *path, const char *build_id)
{
	const struct code_file wanted = {.path = path, .build_id = build_id};
	struct code_file **found = tfind(&wanted, &files->tree, compare);
	const size_t path_size = strlen(path) + 1, build_id_size = strlen(build_id) + 1;

	if (found)
		return *found;
	struct code_file *file = malloc(sizeof(*file) + path_size + build_id_size);
	if (!file)
		return NULL;
	char *texts = (char *)(file + 1);
	*file = (struct code_file){
		.path = memcpy(texts, path, path_size), .build_id = memcpy(texts + path_size, build_id, build_id_size),
	};
	if (tsearch(file, &files->tree, compare))
		return file;
	free(file);
	return NULL;
}

static void free_one(void *data)
{
	struct code_file *file = data;

	symbols_free(file->symbols);
	free(file);
}

void code_files_free(struct code_files *files)
{
	tdestroy(files->tree, free_one);
	files->tree = NULL;
}

/* A path that is not absolute was so for the process, and may lead anywhere here, unless the build id says otherwise. */
static struct symbols *symbols_of(struct code_files *files, struct code_file *file)
{
	if (!file->is_read && files->used < MEMORY_MAX && (*file->path == '/' || *file->build_id)) {
		file->symbols = symbols_open(file->path, file->build_id);
		files->used += file->symbols ? symbols_size(file->symbols) : 0;
	}
	file->is_read = true;
	return file->symbols;
}

/* What counts is the call in front of the address: that may be behind its function's last instruction. */
void code_file_put(struct line *line, struct code_files *files, struct code_file *file, uint64_t offset)
{
	const struct symbols *symbols = symbols_of(files, file);
	uint64_t call = offset - 1, begin;
	const bool is_loaded = symbols && symbols_address(symbols, offset - 1, &call);
	const char *name = is_loaded ? symbols_name(symbols, call, &begin) : NULL;
	const char *slash = strrchr(file->path, '/');

	if (name) {
		line_add_escaped(line, name, strlen(name));
		line_printf(line, "+0x%" PRIx64, call + 1 - begin);
		return;
	}
	const char *file_name = slash ? slash + 1 : file->path;
	line_add_escaped(line, file_name, strlen(file_name));
	line_printf(line, "(+0x%" PRIx64 ")", call + 1);
}
