/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - reads the metadata of a trace; of TSDL, only what sinks/ctf/describe/metadata.c
 * writes, word for word: where one of these words changes, so does the layout of
 * the trace, which is better refused than misread.
 */
#include "read/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"
#include "record/packet.h"

#define METADATA_MAX ((size_t)256 << 20)
#define NS_PER_S 1000000000u
#define FREQUENCY_MAX (UINT64_MAX / NS_PER_S) /* a second's ticks times that fit into 64 bits */

static const char packet_header[] = TP_PACKET_HEADER;

#define STREAM "stream {\n\tid = 0;\n"
#define EVENT_HEADER                                                                                              \
	"\tevent.header := struct {\n"                                                                            \
	"\t\ttimestamp_t timestamp;\n"                                                                            \
	"\t\tuint16_t id;\n"                                                                                      \
	"\t} align(64);\n"                                                                                        \
	"\tevent.context := struct {\n"

static const char event_header[] = STREAM TP_PACKET_CONTEXT EVENT_HEADER;

/* What an event may have more, in this order. */
static const struct {
	const char *text;
	uint32_t size;
	size_t offset; /* of the member that says where it is */
} contexts[] = {
	{"\t\tint32_t cpu_id;\n", 4, offsetof(struct metadata, cpu_offset)},
	{"\t\tint32_t pid;\n", 4, offsetof(struct metadata, pid_offset)},
	{"\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; } procname[16];\n", COMM_SIZE,
	 offsetof(struct metadata, name_offset)},
};

static const char record_id[] = "\t\tinteger { size = 16; align = 64; signed = false; } record_id;\n";
static const char event_tail[] = "\t\t/* The alignment skips the flags and the preempt count, which are 0. */\n"
				 "\t\tint32_t tid;\n"
				 "\t};\n"
				 "};\n";

/* ---- Words ---- */

static bool step_over(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Where the block's first line begins; NULL where there is no such block. */
static const char *block(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : NULL;
}

/* Where the text has this, or its end: so that messages can say where something is wrong. */
static const char *place_of(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at : text + strlen(text);
}

/* What stands behind the line's "NAME = " in the block; NULL where there is none. */
static const char *value(const char *at, const char *name)
{
	size_t len = strlen(name);

	while (at && *at == '\t') {
		if (strncmp(at + 1, name, len) == 0 && strncmp(at + 1 + len, " = ", 3) == 0)
			return at + 1 + len + 3;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

static bool number(const char *at, const char *name, uint64_t *result)
{
	const char *text = value(at, name);
	char *end;

	if (!text)
		return false;
	*result = strtoull(text, &end, 10);
	return end != text && *end == ';';
}

/* ---- What it says ---- */

/* NULL, or where there is something else. */
static const char *read_layout(struct metadata *m, const char *text)
{
	const char *at = block(text, event_header);
	uint32_t offset = TP_STREAM_TIME + TP_STREAM_ALIGN; /* of the context: the header's id is alone in front of it */

	if (!strstr(text, packet_header))
		return place_of(text, "\ntrace {\n");
	if (!at)
		return place_of(text, "\nstream {\n");
	m->name_offset = m->cpu_offset = m->pid_offset = 0;
	m->record_offset = TP_STREAM_TIME;
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		if (!step_over(&at, contexts[i].text))
			continue;
		memcpy((char *)m + contexts[i].offset, &offset, sizeof(offset));
		offset += contexts[i].size;
		m->record_offset = (offset + TP_STREAM_ALIGN - 1) / TP_STREAM_ALIGN * TP_STREAM_ALIGN;
	}
	/* The record's first word is the header's id, where nothing stands between. */
	if (m->record_offset != TP_STREAM_TIME && !step_over(&at, record_id))
		return at;
	return step_over(&at, event_tail) ? NULL : at;
}

static bool read_clock(struct metadata *m, const char *text)
{
	const char *clock = block(text, "\nclock {\n");

	if (!number(clock, "freq", &m->frequency) || !number(clock, "offset_s", &m->offset_s) ||
	    !number(clock, "offset", &m->offset) || m->frequency == 0 || m->frequency > FREQUENCY_MAX)
		return false;
	m->offset_s += m->offset / m->frequency;
	m->offset %= m->frequency;
	return true;
}

/* Its name, as far as it needs no escapes: those that do are no names of programs. */
static void read_process(struct metadata *m, const char *env)
{
	const char *text = value(env, "procname");
	size_t len = 0;

	if (text && *text == '"')
		len = strcspn(text + 1, "\"\\\n");
	if (len >= sizeof(m->process))
		len = sizeof(m->process) - 1;
	if (len)
		memcpy(m->process, text + 1, len);
	m->process[len] = '\0';
}

static bool read_all(struct metadata *m, const char *text, const char *path)
{
	const char *env = block(text, "\nenv {\n");
	const char *tracer = value(env, "tracer_name");

	if (strncmp(text, "/* CTF 1.8 */\n", 14) != 0)
		return fail_msg("'%s/metadata' is no text description of a CTF 1.8 trace: it does not begin as one, at offset 0",
			    path);
	if (!tracer || strncmp(tracer, "\"tp\";", 5) != 0)
		return fail_msg("'%s/metadata' is of no trace of tpgen's CTF output: at offset %td, it has no tracer_name = \"tp\"", path,
			    (tracer ? tracer : place_of(text, "\nenv {\n")) - text);
	if (!strstr(text, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "\n\tbyte_order = le;\n" : "\n\tbyte_order = be;\n"))
		return fail_msg("'%s/metadata' is of a machine with another byte order, at offset %td: read it there", path,
			    place_of(text, "\n\tbyte_order = ") - text);
	const char *other = read_layout(m, text);
	if (other)
		return fail_msg("'%s/metadata' describes events that are laid out as this version does not know them, at offset %td: use the "
			    "tp of the runtime that the trace was recorded with", path, other - text);
	if (!read_clock(m, text))
		return fail_msg("'%s/metadata' describes no clock that can be understood, at offset %td", path,
			    place_of(text, "\nclock {\n") - text);
	read_process(m, env);
	const char *domain = value(env, "domain");
	m->is_kernel = domain && strncmp(domain, "\"kernel\";", 9) == 0 && number(env, "boot_ns", &m->boot_ns);
	return true;
}

char *metadata_text(const struct trace_dir *dir, size_t *len)
{
	return folder_read_text(&dir->folder, "metadata", METADATA_MAX, len);
}

bool metadata_read(struct metadata *metadata, const struct trace_dir *dir)
{
	size_t len;
	char *text = metadata_text(dir, &len);

	if (text && read_all(metadata, text, dir->folder.path))
		return field_types_read(&metadata->types, text);
	free(text);
	return false;
}

void metadata_free(struct metadata *metadata)
{
	field_types_free(&metadata->types);
}

/* A word, or a text in quotes, whose escapes are left out. */
static size_t copy_value(const char *text, char *to, size_t size)
{
	const bool quoted = text && *text == '"';
	size_t len = 0;

	for (text += quoted; text && *text && !strchr(quoted ? "\"\n" : ";\n", *text) && len < size - 1; text++) {
		if (*text == '\\' && text[1] && text[1] != '\n')
			text++;
		to[len++] = *text;
	}
	to[len] = '\0';
	return len;
}

size_t metadata_origin(const struct metadata *metadata, const char *name, char *to, size_t size)
{
	return copy_value(value(block(metadata->types.text, "\nenv {\n"), name), to, size);
}

size_t metadata_clock(const struct metadata *metadata, const char *name, char *to, size_t size)
{
	return copy_value(value(block(metadata->types.text, "\nclock {\n"), name), to, size);
}

uint64_t metadata_time(const struct metadata *metadata, uint64_t ticks)
{
	uint64_t seconds = metadata->offset_s + ticks / metadata->frequency;
	uint64_t part = metadata->offset + ticks % metadata->frequency;

	if (part >= metadata->frequency) {
		part -= metadata->frequency;
		seconds++;
	}
	return seconds * NS_PER_S + part * NS_PER_S / metadata->frequency;
}
