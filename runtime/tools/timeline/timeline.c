/* SPDX-License-Identifier: MIT */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/new_file.h"
#include "export/machines.h"
#include "export/placing.h"
#include "read/known_fields.h"
#include "report/values.h"
#include "report/when.h"
#include "timeline/lanes.h"
#include "timeline/svg.h"
#include "fail_msg.h"

#define TITLE_BYTES 300 /* of a slice or an instant */

struct timeline {
	struct export export;
	struct placing placing;
	struct known_fields fields;
	uint32_t *machines;
	struct lanes lanes;
	bool has_lanes;
	struct keys processes;
	struct svg_group *groups;
	struct legend legend;
	struct line line;
	uint64_t nr, lost;
	bool lost_unknown;
};

/* ---- Whose ---- */

/* Who says best what a process is called: its own trace, or else the kernel, by its first thread. */
static enum svg_named who_names(const struct merged *merged, int32_t pid)
{
	if (!merged->trace->metadata.is_kernel)
		return NAMED_BY_ITSELF;
	return merged->event.tid == pid ? NAMED_BY_KERNEL : NAMED_NOT;
}

static bool name_group(struct svg_group *group, enum svg_named by, const struct merged *merged, int32_t pid)
{
	const char *process = by == NAMED_BY_ITSELF ? merged->trace->metadata.process : by == NAMED_BY_KERNEL ? merged->event.name : "";
	char *name;

	if (asprintf(&name, "%.*s (%d)", COMM_SIZE, process, pid) < 0)
		return fail_no_memory();
	free(group->name);
	*group = (struct svg_group){.name = name, .by = by};
	return true;
}

/* The number of the process's group, from 1 on; 0, and a message: there is no memory. */
static uint64_t group_of(struct timeline *timeline, const struct merged *merged, int32_t pid)
{
	const enum svg_named by = who_names(merged, pid);
	size_t index;
	bool is_new;

	if (!key_index(&timeline->processes, timeline->machines[merged->trace_nr], (uint32_t)pid, &index, &is_new))
		return 0;
	if (is_new) {
		struct svg_group *more = reallocarray(timeline->groups, index + 1, sizeof(*more));
		if (!more) {
			timeline->processes.nr--;
			fail_no_memory();
			return 0;
		}
		timeline->groups = more;
		more[index] = (struct svg_group){.name = NULL};
	}
	struct svg_group *group = &timeline->groups[index];
	return (group->name && by <= group->by) || name_group(group, by, merged, pid) ? index + 1 : 0;
}

static struct lane *named(struct lane *lane, enum lane_kind kind, uint64_t group, const char *format, const char *name, int32_t tid)
{
	lane->kind = kind;
	lane->group = group;
	if (asprintf(&lane->name, format, name, tid) >= 0)
		return lane;
	lane->name = NULL;
	fail_no_memory();
	return NULL;
}

static struct lane *thread_lane(struct timeline *timeline, const struct merged *merged)
{
	const struct event *event = &merged->event;
	const uint64_t group = group_of(timeline, merged, event->pid);
	char name[COMM_SIZE + 1] = "";
	bool is_new;

	if (!group)
		return NULL;
	struct lane *lane = lanes_get(&timeline->lanes, group << 32 | (uint32_t)event->tid, 0, &is_new);
	if (!lane || !is_new)
		return lane;
	memcpy(name, event->name, COMM_SIZE);
	return named(lane, LANE_THREAD, group, "%s %d", name, event->tid);
}

static struct lane *track_lane(struct timeline *timeline, const struct merged *merged, const struct tp_track *track)
{
	const uint64_t group = track->parent == TP_PARENT_NONE ? 0 : group_of(timeline, merged, track->pid);
	const uint64_t owner = track->parent == TP_PARENT_THREAD ? (uint64_t)merged->event.tid : 0;
	bool is_new;

	if (!group && track->parent != TP_PARENT_NONE)
		return NULL;
	struct lane *lane = lanes_get(&timeline->lanes, track->key ^ (group << 40 | owner) * 0x9e3779b97f4a7c15u, track->key_more | 1ull << 63, &is_new);
	if (!lane || !is_new)
		return lane;
	return named(lane, track->is_counter ? LANE_COUNTER : LANE_SLICES, group, owner ? "%s %d" : "%s", track->name, merged->event.tid);
}

/* ---- What ---- */

/* What it is called: a slice may have a name of its own. */
static struct tp_value_bytes shown_name(const struct known *known, const struct tp_placed *placed)
{
	const char *name = known->described->name;

	return placed->name.at ? placed->name : (struct tp_value_bytes){.at = name, .len = (uint32_t)strlen(name)};
}

/* "pgz_block_start 12.345 ms\nblock=1 size=2"; NULL, and a message: there is no memory. */
static char *title_of(struct timeline *timeline, const struct merged *merged, const struct known *known, const struct tp_placed *placed)
{
	const struct event *event = &merged->event;
	const struct fields *fields = known_fields_of(&timeline->fields, merged->trace_nr, event->format);
	const uint64_t at = event->time - timeline->lanes.begin;
	const struct tp_value_bytes name = shown_name(known, placed);
	char *title;

	if (!fields)
		return NULL;
	timeline->line.len = 0;
	timeline->line.is_full = false;
	values_add(&timeline->line, fields, event->record, event->size);
	const int shown = (int)(timeline->line.len < TITLE_BYTES ? timeline->line.len : TITLE_BYTES);
	if (asprintf(&title, "%.*s\n+%llu.%06llu ms, thread %d\n%.*s", (int)name.len, name.at, (unsigned long long)(at / 1000000),
		     (unsigned long long)(at % 1000000), event->tid, shown, timeline->line.bytes) < 0) {
		fail_no_memory();
		return NULL;
	}
	return title;
}

static bool draw_event(struct timeline *timeline, struct lane *lane, const struct merged *merged, const struct known *known, const struct tp_placed *placed)
{
	const struct tp_value_bytes name = shown_name(known, placed);
	struct legend_entry *entry = legend_get(&timeline->legend, name.at, name.len, placed->type == TP_TRACK_BEGIN);
	const uint64_t time = merged->event.time;

	if (!entry)
		return false;
	entry->nr++;
	if (placed->type == TP_TRACK_EVENT_COUNTER)
		return lane_value(&timeline->lanes, lane, time, (double)(int64_t)placed->counter);
	char *title = title_of(timeline, merged, known, placed);
	if (!title)
		return false;
	if (placed->type == TP_TRACK_INSTANT)
		return lane_instant(&timeline->lanes, lane, time, title);
	lane_begin(lane, time, entry->colour, title);
	return true;
}

static bool place(void *data, const struct merged *merged, struct known *known, const struct tp_placed *placed, const struct tp_track *track)
{
	struct timeline *timeline = data;
	struct lane *lane = track ? track_lane(timeline, merged, track) : thread_lane(timeline, merged);

	if (!lane)
		return false;
	if (placed->type == TP_TRACK_END)
		return lane_end(&timeline->lanes, lane, merged->event.time);
	return draw_event(timeline, lane, merged, known, placed);
}

static bool add(void *data, const struct merged *merged)
{
	struct timeline *timeline = data;

	if (!timeline->has_lanes) {
		timeline->has_lanes = lanes_init(&timeline->lanes, merged->event.time, merge_end(&timeline->export.merge));
		if (!timeline->has_lanes)
			return false;
	}
	if (merged->lost == TRACE_LOST_UNKNOWN)
		timeline->lost_unknown = true;
	else
		timeline->lost += merged->lost;
	timeline->nr += merged->event.format != NULL;
	return !merged->event.format || placing_each(&timeline->placing, merged, place, timeline);
}

/* ---- All ---- */

/* "3 processes, 2026-11-27 10:32:09.776 UTC, 1.234 s, 149 events; lost: 0" */
static char *title(const struct timeline *timeline)
{
	const struct lanes *lanes = &timeline->lanes;
	struct when_text when = {.len = 0};
	char *text;

	const size_t len = when_show(&when, WHEN_UTC, lanes->begin);
	if (asprintf(&text, "%.*s UTC, %.6g s, %llu events of %zu process%s; lost: %llu%s", (int)(len - 6), when.text,
		     (double)(lanes->end - lanes->begin) / 1e9, (unsigned long long)timeline->nr, timeline->processes.nr,
		     timeline->processes.nr == 1 ? "" : "es", (unsigned long long)timeline->lost, timeline->lost_unknown ? " and more" : "") < 0) {
		fail_no_memory();
		return NULL;
	}
	return text;
}

static bool is_page(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && strcmp(end, ".html") == 0;
}

static bool write_picture(struct timeline *timeline, struct new_file *new)
{
	struct tp_buffer text = {.text = NULL};
	char *line = title(timeline);

	if (!line)
		return false;
	const struct svg_picture picture = {
		.lanes = &timeline->lanes, .groups = timeline->groups, .nr_groups = timeline->processes.nr, .legend = &timeline->legend,
		.title = line,
	};
	if (is_page(new->path))
		tp_buffer_printf(&text, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", line);
	svg_draw(&text, &picture);
	const bool good = !text.failed || fail_no_memory();
	const bool written = good && fwrite(text.text, 1, text.len, new->file) == text.len;
	if (good && !written)
		new_file_failed(new);
	tp_buffer_free(&text);
	free(line);
	return written;
}

static bool prepare(struct timeline *timeline, const struct export_wanted *wanted)
{
	const struct traces *traces = &timeline->export.traces;

	if (!export_open(&timeline->export, wanted) || !placing_init(&timeline->placing, wanted->spans, traces) ||
	    !known_fields_init(&timeline->fields, traces->nr) || !line_init(&timeline->line))
		return false;
	timeline->machines = machines_of(traces);
	return timeline->machines != NULL;
}

static bool make(struct timeline *timeline, const struct export_wanted *wanted)
{
	struct new_file new = {.path = wanted->to};
	bool good = new_file_open(&new, wanted->to, 0666, true) && export_each(&timeline->export, add, timeline);

	if (good && !timeline->has_lanes)
		good = fail_msg("'%s' has no event to show", wanted->paths[0]);
	good = good && lanes_finish(&timeline->lanes) && write_picture(timeline, &new) && new_file_finish(&new);
	new_file_close(&new);
	return good;
}

static void release(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->processes.nr; i++)
		free(timeline->groups[i].name);
	free(timeline->groups);
	legend_free(&timeline->legend);
	free(timeline->machines);
	free(timeline->line.bytes);
	keys_free(&timeline->processes);
	lanes_free(&timeline->lanes);
	known_fields_free(&timeline->fields);
	placing_free(&timeline->placing);
	export_close(&timeline->export);
}

bool timeline_write(const struct export_wanted *wanted)
{
	struct timeline timeline = {.nr = 0};
	const bool good = prepare(&timeline, wanted) && make(&timeline, wanted);

	release(&timeline);
	return good;
}
