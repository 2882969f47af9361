/* SPDX-License-Identifier: MIT */
/*
 * triggers/mapping.c - see mapping.h.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/assign.h>
#include <tp/describe.h>
#include <tp/trace_seq.h>

#include "base/guard.h"
#include "base/text.h"
#include "record/record.h"
#include "triggers/mapping.h"

/* ---- The event ---- */

struct trace_event_raw_mapping {
	struct trace_entry ent;
	unsigned long start, end, offset;
	tp_data_loc_t __data_loc_path;
	tp_data_loc_t __data_loc_build_id;
	TP_DYNAMIC_DATA
};

#define TP_NUMBERS_OF_ADDRESS(record, name, loc, rel, table) \
	TP_NUMBERS_OF(TP_FIELD | 1 << TP_BIT_HEXADECIMAL, 0, ~0, record, name, TP_MEMBER(record, name), table)
#define tp_fields_mapping(TP_F, TP_R) \
	TP_F(ADDRESS, TP_R, start, "unsigned long", 0) \
	TP_F(ADDRESS, TP_R, end, "unsigned long", 0) \
	TP_F(ADDRESS, TP_R, offset, "unsigned long", 0) \
	TP_F(STRING, TP_R, path, "char", char) \
	TP_F(STRING, TP_R, build_id, "char", char)
TP_DEFINE_CLASS(static, mapping, 5, 0,) = {
	TP_DESCRIBE(mapping, trace_event_raw_mapping, 5, 0),
	.text = tp_fields_mapping(TP_TEXTS, )
		"\"0x%lx-0x%lx offset=0x%lx path=%s build_id=%s\", REC->start, REC->end, REC->offset, __get_str(path), "
		"__get_str(build_id)",
};

static void print(struct trace_seq *p, const void *data)
{
	const struct trace_event_raw_mapping *__entry = data;

	trace_seq_printf(p, "0x%lx-0x%lx offset=0x%lx path=%s build_id=%s", __entry->start, __entry->end, __entry->offset,
			 __get_str(path), __get_str(build_id));
}

struct mapping;
static void write_record(void *data, const struct mapping *mapping);

struct tracepoint tp_trigger_mapping_tracepoint = {
	.name = "tp:mapping", .proto = "const struct mapping *", .file = __FILE__, .line = __LINE__,
};

struct tp_event tp_trigger_mapping_event = {
	.system = "tp", .name = "mapping", .event_class = &__tp_class_mapping.head, .tracepoint = &tp_trigger_mapping_tracepoint,
	.record = (tp_probe_t)write_record, .print = print, .loglevel = TP_LOGLEVEL_DEBUG_LINE,
};

/* ---- A record ---- */

#define BUILD_ID_BYTES 32u

struct mapping {
	struct mapping *next;
	unsigned long start, end, offset;
	char build_id[2 * BUILD_ID_BYTES + 1]; /* in hexadecimal digits; "": it has none */
	char path[];
};

static void write_record(void *data, const struct mapping *mapping)
{
	struct trace_event_raw_mapping *__entry;
	struct {
		struct tp_dynamic path, build_id;
	} __dyn;
	struct tp_record record;
	size_t size = offsetof(struct trace_event_raw_mapping, __data);

	size = tp_size_string(&__dyn.path, size, mapping->path);
	size = tp_size_string(&__dyn.build_id, size, mapping->build_id);
	__entry = tp_reserve_although_off(&record, data, &tp_trigger_mapping_event, size);
	if (!__entry)
		return;
	__entry->__data_loc_path = tp_place(__entry, &__dyn.path);
	__entry->__data_loc_build_id = tp_place(__entry, &__dyn.build_id);
	__entry->start = mapping->start;
	__entry->end = mapping->end;
	__entry->offset = mapping->offset;
	__assign_str(path);
	__assign_str(build_id);
	tp_commit(&record);
}

/* ---- What is loaded ---- */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Of one PT_NOTE: entries of a head, a name and a text, which begin at multiples of 4. */
static bool build_id_of(const char *at, size_t size, char *to)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const char *name = at + sizeof(*note);
		const unsigned char *text = (const void *)(name + padded(note->n_namesz));
		const size_t whole = sizeof(*note) + padded(note->n_namesz) + padded(note->n_descsz);
		if (whole > size)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
			for (unsigned int i = 0; i < note->n_descsz && i < BUILD_ID_BYTES; i++, to += 2)
				snprintf(to, 3, "%02x", text[i]);
			return true;
		}
		at += whole;
		size -= whole;
	}
	return false;
}

/* The loader does not name the program. */
static const char *path_of(const struct dl_phdr_info *info, char program[PATH_MAX])
{
	if (*info->dlpi_name)
		return info->dlpi_name;
	const ssize_t len = readlink("/proc/self/exe", program, PATH_MAX - 1);
	program[len < 0 ? 0 : len] = '\0';
	return program;
}

static struct mapping *mapping_new(const struct dl_phdr_info *info, const ElfW(Phdr) *code, const char *path)
{
	struct mapping *mapping = tp_malloc(sizeof(*mapping) + strlen(path) + 1);

	if (!mapping)
		return NULL;
	*mapping = (struct mapping){
		.start = info->dlpi_addr + code->p_vaddr, .end = info->dlpi_addr + code->p_vaddr + code->p_memsz,
		.offset = code->p_offset,
	};
	strcpy(mapping->path, path);
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type == PT_NOTE &&
		    build_id_of((const char *)(info->dlpi_addr + part->p_vaddr), part->p_memsz, mapping->build_id))
			break;
	}
	return mapping;
}

/* Under the loader's lock, which a record's way through a sink does not know: so it is only noted. */
static int note(struct dl_phdr_info *info, size_t size, void *data)
{
	struct mapping ***end = data;
	char program[PATH_MAX];
	const char *path = path_of(info, program);

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		struct mapping *mapping = mapping_new(info, part, path);
		if (!mapping)
			return -ENOMEM;
		**end = mapping;
		*end = &mapping->next;
	}
	return 0;
}

void tp_trigger_write_mappings(struct tp_sink *sink)
{
	struct mapping *first = NULL, **end = &first;

	dl_iterate_phdr(note, &end);
	const bool was_guarded = tp_guard_pause(); /* if it is a helper thread */
	for (const struct mapping *mapping = first; mapping; mapping = mapping->next)
		write_record(sink, mapping);
	tp_guard_resume(was_guarded);
	while (first) {
		struct mapping *mapping = first;
		first = mapping->next;
		free(mapping);
	}
}
