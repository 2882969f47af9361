/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <tp/tracepoint.h>

#include "base/file.h"
#include "read/field_types.h"
#include "read/fields.h"
#include "read/packet_reader.h"
#include "select/description.h"
#include "sinks/ctf/describe/metadata.h"
#include "sinks/ctf/options.h"
#include "fail_msg.h"

#define CONTEXT (TP_CTF_CPU | TP_CTF_PID | TP_CTF_NAME)
#define NS_PER_S 1000000000

/* ---- Records: payloads are laid out as libtp does it, which readers of the metadata count on ---- */

struct payload {
	uint32_t offset; /* of its word */
	bool relative;
	uint32_t element; /* bytes */
};

struct kernel_layout {
	uint32_t fixed;
	size_t nr;
	struct payload payloads[];
};

static struct kernel_layout *layout_of(const struct event_format *format)
{
	struct fields fields = {.fields = NULL};
	struct kernel_layout *layout = NULL;

	if (fields_of(&fields, format))
		layout = calloc(1, sizeof(*layout) + fields.nr * sizeof(layout->payloads[0]));
	for (size_t i = 0; layout && i < fields.nr; i++) {
		const struct field *field = &fields.fields[i];
		if (field->is_payload)
			layout->payloads[layout->nr++] = (struct payload){field->place.offset, field->place.relative, field->element_size};
	}
	free(fields.fields);
	if (layout)
		layout->fixed = format->fixed;
	else
		fail_no_memory();
	return layout;
}

/* Where the payload is in the kernel's record; none where it is not inside of it. */
static const unsigned char *find_payload(const struct payload *payload, const unsigned char *record, size_t size, uint32_t *len)
{
	uint32_t word = 0;

	if (payload->offset + sizeof(word) <= size)
		memcpy(&word, record + payload->offset, sizeof(word));
	size_t at = word & 0xffff;
	if (payload->relative)
		at += payload->offset + sizeof(word);
	*len = word >> 16;
	if (at > size || *len > size - at)
		*len = 0;
	return *len ? record + at : record;
}

/* Appends it; wider elements have their number in front. Where the record ends; behind RECORD_MAX: there is no room for it. */
static size_t put_payload(struct kernel_trace *trace, const struct payload *payload, const struct ring_event *event, size_t size)
{
	unsigned char *to = trace->record;
	uint32_t len;
	const unsigned char *from = find_payload(payload, event->record, event->size, &len);
	const bool is_wide = payload->element > 1;
	const size_t at = is_wide ? (size + 1) / 2 * 2 + sizeof(uint16_t) : size;

	if (at + len > RECORD_MAX)
		return at + len;
	if (is_wide) {
		const uint16_t nr = (uint16_t)(len / payload->element);
		len = nr * payload->element;
		memset(to + size, 0, at - size);
		memcpy(to + at - sizeof(nr), &nr, sizeof(nr));
	}
	memcpy(to + at, from, len);
	const uint32_t word = len << 16 | (uint32_t)(payload->relative ? at - payload->offset - sizeof(word) : at);
	memcpy(to + payload->offset, &word, sizeof(word));
	return at + len;
}

const unsigned char *kernel_trace_record(struct kernel_trace *trace, const struct ring_event *event, size_t *size)
{
	uint16_t id;

	if (event->size < RECORD_HEAD)
		return NULL;
	memcpy(&id, event->record, sizeof(id));
	const struct kernel_layout *layout = trace->layouts[id];
	if (!layout)
		return NULL;
	const size_t have = event->size < layout->fixed ? event->size : layout->fixed;
	memcpy(trace->record, event->record, have);
	memset(trace->record + have, 0, layout->fixed - have);
	*size = layout->fixed;
	for (size_t i = 0; i < layout->nr && *size <= RECORD_MAX; i++)
		*size = put_payload(trace, &layout->payloads[i], event, *size);
	return *size <= RECORD_MAX ? trace->record : NULL;
}

/* ---- Format files ---- */

static bool failed(const struct kernel_trace *trace, const char *file)
{
	return fail_msg("'%s/%s' can't be written: %s", trace->path, file, strerror(errno));
}

struct text {
	const char *text;
	size_t len;
};

/* False, and errno. */
static bool write_texts(int fd, const struct text *texts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		errno = tp_file_write(fd, texts[i].text, texts[i].len);
		if (errno)
			return false;
	}
	return true;
}

static bool append_format(const struct kernel_trace *trace, const char *system, size_t system_len, const char *text, size_t len)
{
	char file[EVENT_PATH_SIZE];

	snprintf(file, sizeof(file), "format/%.*s", (int)system_len, system);
	int fd = openat(trace->fd, file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return failed(trace, file);
	const bool good = write_texts(fd, (const struct text[]){{text, len}, {"\n", 1}}, 2);
	close(fd);
	return good || failed(trace, file);
}

static bool write_formats(const struct kernel_trace *trace, const struct instance *instance, const struct kernel_events *events)
{
	char path[EVENT_PATH_SIZE];
	bool good = mkdirat(trace->fd, "format", 0700) == 0 || failed(trace, "format");

	for (size_t i = 0; i < events->nr && good; i++) {
		size_t len;
		kernel_event_path(path, events->names[i], "format");
		char *text = tracefs_read(instance->dir, path, &len);
		good = text ? append_format(trace, events->names[i], strcspn(events->names[i], ":"), text, len)
			    : fail_msg("the kernel's format of %s can't be read: %s", events->names[i], strerror(errno));
		free(text);
	}
	return good;
}

static bool read_formats(struct kernel_trace *trace, const struct ring_layout *layout)
{
	const struct field_types types = {.word = layout->word};

	trace->layouts = calloc(NR_EVENT_IDS, sizeof(struct kernel_layout *));
	trace->record = malloc(RECORD_MAX + 1);
	if (!trace->layouts || !trace->record)
		return fail_no_memory();
	if (!trace_dir_open(&trace->dir, trace->path) || !formats_read(&trace->formats, &trace->dir, &types))
		return false;
	for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
		const struct event_format *format = trace->formats.by_id[id];
		if (format && !(trace->layouts[id] = layout_of(format)))
			return false;
	}
	return true;
}

/* ---- Metadata ---- */

static int64_t ns_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void put_text(struct tp_buffer *b, const char *name, const char *text)
{
	tp_buffer_printf(b, "\t%s = ", name);
	tp_ctf_put_string(b, text);
	tp_buffer_printf(b, ";\n");
}

/* boot_ns is when CLOCK_BOOTTIME began, for readers whose clock that is; kernel_release says what states of threads mean. */
static void put_environment(struct tp_buffer *b, const struct ring_layout *layout)
{
	const int64_t boot_ns = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_BOOTTIME);
	struct utsname name = {.nodename = ""};

	uname(&name);
	tp_buffer_printf(b, "env {\n");
	put_text(b, "tracer_name", "tp");
	tp_buffer_printf(b, "\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttracer_patch = %d;\n", TP_VERSION_MAJOR, TP_VERSION_MINOR,
			 TP_VERSION_PATCH);
	put_text(b, "hostname", name.nodename);
	put_text(b, "procname", "kernel");
	put_text(b, "domain", "kernel");
	put_text(b, "kernel_release", name.release);
	tp_buffer_printf(b, "\tarchitecture_bit_width = %u;\n\tboot_ns = %lld;\n};\n\n", layout->word * CHAR_BIT, (long long)boot_ns);
}

static bool put_event(struct tp_buffer *b, const struct event_format *format)
{
	struct tp_event *event = description_new(format);

	if (!event)
		return false;
	event->loglevel = TP_LOGLEVEL_INFO;
	const bool good = tp_ctf_metadata_event(b, event) == 0 || fail_no_memory();
	description_free(event);
	return good;
}

static bool describe(struct kernel_trace *trace, const struct ring_layout *layout, const char *clock)
{
	struct tp_buffer *b = &trace->metadata;

	tp_ctf_metadata_head(b);
	put_environment(b, layout);
	trace->clock_at = b->len;
	tp_ctf_metadata_stream(b, clock, CONTEXT);
	for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
		if (trace->formats.by_id[id] && !put_event(b, trace->formats.by_id[id]))
			return false;
	}
	return !b->failed || fail_no_memory();
}

bool kernel_trace_set_clock(struct kernel_trace *trace, const struct tp_clock *clock)
{
	static const char hidden[] = ".metadata";
	const struct tp_buffer *b = &trace->metadata;
	char text[TP_CTF_CLOCK_TEXT];

	tp_ctf_metadata_clock(text, clock);
	int fd = openat(trace->fd, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return failed(trace, hidden);
	const bool good = write_texts(fd, (const struct text[]){{b->text, trace->clock_at}, {text, strlen(text)},
								{b->text + trace->clock_at, b->len - trace->clock_at}}, 3);
	close(fd);
	return (good && renameat(trace->fd, hidden, trace->fd, "metadata") == 0) || failed(trace, "metadata");
}

/* ---- All ---- */

bool kernel_trace_make(struct kernel_trace *trace, const char *path, const struct instance *instance, const struct kernel_events *events,
		       const struct ring_layout *layout, const struct tp_clock *clock)
{
	trace->path = strdup(path);
	if (!trace->path)
		return fail_no_memory();
	if (mkdir(path, 0700) != 0 || (trace->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return fail_msg("'%s' can't be made: %s", path, strerror(errno));
	return write_formats(trace, instance, events) && read_formats(trace, layout) && describe(trace, layout, clock->name) &&
	       kernel_trace_set_clock(trace, clock);
}

void kernel_trace_free(struct kernel_trace *trace)
{
	for (uint32_t id = 0; trace->layouts && id < NR_EVENT_IDS; id++)
		free(trace->layouts[id]);
	free(trace->layouts);
	free(trace->record);
	formats_free(&trace->formats);
	trace_dir_close(&trace->dir);
	tp_buffer_free(&trace->metadata);
	free(trace->path);
	if (trace->fd >= 0)
		close(trace->fd);
	*trace = (struct kernel_trace){.fd = -1};
}
