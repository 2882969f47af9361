/* SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/counts.h"
#include "fail_msg.h"

#define NS_PER_S 1000000000u

/* Of an event, a process or a thread. */
struct row {
	struct counts counts;
	char *event;        /* "system:name"; NULL: of a thread or process */
	int32_t pid, tid;   /* tid is 0: of a process */
	size_t trace_nr;
	char name[COMM_SIZE];
};

struct rows {
	struct row *rows;
	size_t nr;
};

struct summary {
	struct counts all;
	struct rows events, processes, threads;
	struct keys process_keys, thread_keys; /* by trace and id */
	struct keys hit_keys;                    /* by event and thread: the last hit */
	struct rows hits;
	size_t **event_rows; /* of each trace, by the event's id: the row's number + 1 */
	size_t nr_traces;
};

struct summary *summary_new(size_t nr_traces)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (summary)
		summary->event_rows = calloc(nr_traces + 1, sizeof(*summary->event_rows));
	if (summary && summary->event_rows) {
		summary->nr_traces = nr_traces;
		return summary;
	}
	free(summary);
	fail_no_memory();
	return NULL;
}

void summary_free(struct summary *summary)
{
	if (!summary)
		return;
	for (size_t i = 0; i < summary->events.nr; i++)
		free(summary->events.rows[i].event);
	for (size_t t = 0; t < summary->nr_traces; t++)
		free(summary->event_rows[t]);
	free(summary->event_rows);
	free(summary->events.rows);
	free(summary->processes.rows);
	free(summary->threads.rows);
	free(summary->hits.rows);
	keys_free(&summary->process_keys);
	keys_free(&summary->thread_keys);
	keys_free(&summary->hit_keys);
	free(summary);
}

/* ---- Counting ---- */

static struct row *add_row(struct rows *rows)
{
	/* Twice as many whenever their number is a power of two. */
	if ((rows->nr & (rows->nr - 1)) == 0) {
		struct row *more = reallocarray(rows->rows, rows->nr ? 2 * rows->nr : 1, sizeof(*more));
		if (!more) {
			fail_no_memory();
			return NULL;
		}
		rows->rows = more;
	}
	rows->rows[rows->nr] = (struct row){.event = NULL};
	return &rows->rows[rows->nr++];
}

/* The row of the key; a new one where there is none. */
static struct row *row_of(struct rows *rows, struct keys *keys, uint64_t a, uint64_t b)
{
	size_t index;
	bool is_new;

	if (!key_index(keys, a, b, &index, &is_new))
		return NULL;
	return is_new ? add_row(rows) : &rows->rows[index];
}

/* Events of one name are one, whichever traces they are of. */
static struct row *new_event_row(struct summary *summary, const struct event_format *format)
{
	char *full_name;
	size_t len;
	const char *name = format_event_name(format, &len);

	if (asprintf(&full_name, "%s:%.*s", format->system, (int)len, name) < 0) {
		fail_no_memory();
		return NULL;
	}
	for (size_t i = 0; i < summary->events.nr; i++) {
		if (strcmp(summary->events.rows[i].event, full_name) == 0) {
			free(full_name);
			return &summary->events.rows[i];
		}
	}
	struct row *row = add_row(&summary->events);
	if (row)
		row->event = full_name;
	else
		free(full_name);
	return row;
}

static struct row *event_row(struct summary *summary, size_t trace_nr, const struct event_format *format)
{
	size_t **rows = &summary->event_rows[trace_nr];

	if (!*rows)
		*rows = calloc(NR_EVENT_IDS, sizeof(**rows));
	if (!*rows) {
		fail_no_memory();
		return NULL;
	}
	if ((*rows)[format->id])
		return &summary->events.rows[(*rows)[format->id] - 1];
	struct row *row = new_event_row(summary, format);
	if (row)
		(*rows)[format->id] = (size_t)(row - summary->events.rows) + 1;
	return row;
}

static struct row *task_row(struct rows *rows, struct keys *keys, const struct merged *merged, int32_t tid)
{
	const struct event *event = &merged->event;
	struct row *row = row_of(rows, keys, merged->trace_nr, (uint64_t)(uint32_t)event->pid << 32 | (uint32_t)tid);

	if (!row)
		return NULL;
	row->pid = event->pid;
	row->tid = tid;
	row->trace_nr = merged->trace_nr;
	memcpy(row->name, tid ? event->name : merged->trace->metadata.process, sizeof(row->name));
	return row;
}

/* The interval since the event's hit before, in this thread. */
static bool count_interval(struct summary *summary, struct row *event, struct row *thread, struct row *process, uint64_t time)
{
	struct row *hit = row_of(&summary->hits, &summary->hit_keys, (uint64_t)(event - summary->events.rows),
				 (uint64_t)(thread - summary->threads.rows));

	if (!hit)
		return false;
	if (hit->counts.hits) {
		const uint64_t ns = time - hit->counts.last;
		counts_interval(&event->counts, ns);
		counts_interval(&thread->counts, ns);
		counts_interval(&process->counts, ns);
		counts_interval(&summary->all, ns);
	}
	counts_hit(&hit->counts, time);
	return true;
}

bool summary_add(struct summary *summary, const struct merged *merged, bool is_counted)
{
	struct row *thread = task_row(&summary->threads, &summary->thread_keys, merged, merged->event.tid);
	struct row *process = thread ? task_row(&summary->processes, &summary->process_keys, merged, 0) : NULL;

	if (!process)
		return false;
	if (merged->lost) {
		counts_lost(&thread->counts, merged->lost);
		counts_lost(&process->counts, merged->lost);
		counts_lost(&summary->all, merged->lost);
	}
	if (!is_counted)
		return true;
	struct row *event = event_row(summary, merged->trace_nr, merged->event.format);
	if (!event || !count_interval(summary, event, thread, process, merged->event.time))
		return false;
	counts_hit(&event->counts, merged->event.time);
	counts_hit(&thread->counts, merged->event.time);
	counts_hit(&process->counts, merged->event.time);
	counts_hit(&summary->all, merged->event.time);
	return true;
}

/* ---- As text ---- */

#define SHORT 32
#define MEASURES "%10s  %10s  %10s  %10s  %10s" /* as "tp stat" has them */
#define MEASURES_WIDTH 58
#define TIMES_WIDTH 34

static int compare(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	if (one->counts.hits != other->counts.hits)
		return one->counts.hits > other->counts.hits ? -1 : 1;
	if (one->event)
		return strcmp(one->event, other->event);
	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static void put_label(struct tp_buffer *label, const struct row *row)
{
	char name[COMM_SIZE + 1] = "";

	if (row->event) {
		tp_buffer_put_plain(label, row->event, strlen(row->event));
		return;
	}
	memcpy(name, row->name, COMM_SIZE);
	tp_buffer_put_plain(label, name, strlen(name));
	tp_buffer_printf(label, row->tid ? " %d/%d" : " %d", row->pid, row->tid);
}

/* Columns of a terminal, if all characters are as wide as a letter. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void put_duration(char text[SHORT], long double ns)
{
	static const struct {
		long double ns;
		const char *name;
	} units[] = {{1e9L, "s"}, {1e6L, "ms"}, {1e3L, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ns >= units[i].ns) {
			snprintf(text, SHORT, "%.2Lf %s", ns / units[i].ns, units[i].name);
			return;
		}
	}
	snprintf(text, SHORT, "%.0Lf ns", ns);
}

static long double seconds_of(const struct counts *all)
{
	return (long double)(all->last - all->first) / NS_PER_S;
}

static double rate_of(const struct counts *counts, const struct counts *all)
{
	const long double seconds = seconds_of(all);

	return seconds > 0 ? (double)((long double)counts->hits / seconds) : 0;
}

/* From the beginning. */
static void put_offset(char text[SHORT], const struct counts *counts, const struct counts *all, uint64_t time)
{
	if (counts->hits)
		snprintf(text, SHORT, "+%.6f s", (double)(time - all->first) / NS_PER_S);
	else
		snprintf(text, SHORT, "-");
}

struct table {
	const struct summary *summary;
	struct tp_buffer text;
	int label_width;
	bool has_times, has_lost;
};

static void put_row(struct table *table, const char *label, const struct counts *counts)
{
	char hits[SHORT], rate[SHORT], min[SHORT] = "-", mean[SHORT] = "-", max[SHORT] = "-", first[SHORT], last[SHORT];
	const struct counts *all = &table->summary->all;

	snprintf(hits, sizeof(hits), "%llu", (unsigned long long)counts->hits);
	snprintf(rate, sizeof(rate), "%.1f", rate_of(counts, all));
	if (counts->intervals) {
		put_duration(min, (long double)counts->min);
		put_duration(mean, counts->sum / (long double)counts->intervals);
		put_duration(max, (long double)counts->max);
	}
	tp_buffer_printf(&table->text, "%s%*s  " MEASURES, label, table->label_width - width_of(label), "", hits, rate, min, mean, max);
	put_offset(first, counts, all, counts->first);
	put_offset(last, counts, all, counts->last);
	if (table->has_times)
		tp_buffer_printf(&table->text, "  %15s  %15s", first, last);
	if (table->has_lost)
		tp_buffer_printf(&table->text, "  %llu%s", (unsigned long long)counts->lost, counts->lost_unknown ? "+?" : "");
	tp_buffer_printf(&table->text, "\n");
}

static void put_heads(struct table *table, const char *title)
{
	tp_buffer_printf(&table->text, "\n%-*s  " MEASURES, table->label_width, title, "HITS", "RATE/s", "MIN", "MEAN", "MAX");
	if (table->has_times)
		tp_buffer_printf(&table->text, "  %15s  %15s", "FIRST", "LAST");
	tp_buffer_printf(&table->text, "%s\n", table->has_lost ? "  LOST" : "");
}

static void put_table(struct table *table, const char *title, const struct rows *rows, int columns, bool has_lost)
{
	table->label_width = width_of(title);
	table->has_lost = has_lost;
	for (size_t i = 0; i < rows->nr; i++) {
		struct tp_buffer label = {.text = NULL};
		put_label(&label, &rows->rows[i]);
		if (label.text && width_of(label.text) > table->label_width)
			table->label_width = width_of(label.text);
		tp_buffer_free(&label);
	}
	table->has_times = columns == 0 || table->label_width + 2 + MEASURES_WIDTH + TIMES_WIDTH + (has_lost ? 6 : 0) <= columns;
	put_heads(table, title);
	for (size_t i = 0; i < rows->nr; i++) {
		struct tp_buffer label = {.text = NULL};
		put_label(&label, &rows->rows[i]);
		put_row(table, label.text ? label.text : "", &rows->rows[i].counts);
		table->text.failed = table->text.failed || label.failed;
		tp_buffer_free(&label);
	}
}

static void put_moment(struct tp_buffer *text, uint64_t ns)
{
	const struct tp_utc utc = tp_utc_of((int64_t)(ns / NS_PER_S));

	tp_buffer_printf(text, "%04lld-%02u-%02u %02u:%02u:%02u.%06u", (long long)utc.year, utc.month, utc.day, utc.hour, utc.minute,
			 utc.second, (unsigned int)(ns % NS_PER_S / 1000));
}

static void put_beginning(struct tp_buffer *text, const struct summary *summary)
{
	const struct counts *all = &summary->all;

	if (all->hits) {
		tp_buffer_printf(text, "from ");
		put_moment(text, all->first);
		tp_buffer_printf(text, " to ");
		put_moment(text, all->last);
		tp_buffer_printf(text, " UTC, %.6Lf s\n", seconds_of(all));
	}
	tp_buffer_printf(text, "%llu events of %zu process%s and %zu thread%s; lost: %llu%s\n", (unsigned long long)all->hits,
			 summary->processes.nr, summary->processes.nr == 1 ? "" : "es", summary->threads.nr,
			 summary->threads.nr == 1 ? "" : "s", (unsigned long long)all->lost,
			 all->lost_unknown ? ", and those of packets that are missing" : "");
}

static void sort(struct rows *rows)
{
	if (rows->nr)
		qsort(rows->rows, rows->nr, sizeof(rows->rows[0]), compare);
}

static bool write_out(struct tp_buffer *text)
{
	const bool whole = text->text && !text->failed;
	const bool good = whole && fwrite(text->text, 1, text->len, stdout) == text->len;
	const int error = errno;

	tp_buffer_free(text);
	if (!whole)
		return fail_no_memory();
	return good || fail_msg("the output can't be written: %s", strerror(error));
}

/* Rows are sorted for showing: nothing can be added after that. */
static void sort_all(struct summary *summary)
{
	sort(&summary->events);
	sort(&summary->processes);
	sort(&summary->threads);
}

bool summary_print_text(struct summary *summary, int columns)
{
	struct table table = {.summary = summary};
	const bool has_lost = summary->all.lost || summary->all.lost_unknown;

	sort_all(summary);
	put_beginning(&table.text, summary);
	if (summary->events.nr) {
		put_table(&table, "EVENT", &summary->events, columns, false);
		put_row(&table, "all", &summary->all);
	}
	if (summary->processes.nr > 1)
		put_table(&table, "PROCESS", &summary->processes, columns, has_lost);
	if (summary->threads.nr)
		put_table(&table, "THREAD", &summary->threads, columns, has_lost);
	return write_out(&table.text);
}

/* ---- As JSON ---- */

static void put_counts(struct tp_buffer *text, const struct counts *counts, const struct counts *all)
{
	tp_buffer_printf(text, "\"hits\": %llu, \"rate\": %.6g", (unsigned long long)counts->hits, rate_of(counts, all));
	if (counts->hits)
		tp_buffer_printf(text, ", \"first_ns\": %llu, \"last_ns\": %llu", (unsigned long long)counts->first,
				 (unsigned long long)counts->last);
	tp_buffer_printf(text, ", \"intervals\": %llu", (unsigned long long)counts->intervals);
	if (counts->intervals)
		tp_buffer_printf(text, ", \"interval_min_ns\": %llu, \"interval_mean_ns\": %.1Lf, \"interval_max_ns\": %llu",
				 (unsigned long long)counts->min, counts->sum / (long double)counts->intervals,
				 (unsigned long long)counts->max);
}

static void put_loss(struct tp_buffer *text, const struct counts *counts)
{
	tp_buffer_printf(text, ", \"lost\": %llu, \"packets_missing\": %s", (unsigned long long)counts->lost,
			 counts->lost_unknown ? "true" : "false");
}

static void put_json_row(struct tp_buffer *text, const struct row *row, const struct counts *all)
{
	char name[COMM_SIZE + 1] = "";

	if (row->event) {
		tp_buffer_printf(text, "{\"event\": ");
		tp_json_string(text, row->event);
	} else {
		memcpy(name, row->name, COMM_SIZE);
		tp_buffer_printf(text, "{\"pid\": %d, ", row->pid);
		if (row->tid)
			tp_buffer_printf(text, "\"tid\": %d, ", row->tid);
		tp_buffer_printf(text, "\"name\": ");
		tp_json_string(text, name);
	}
	tp_buffer_printf(text, ", ");
	put_counts(text, &row->counts, all);
	if (!row->event)
		put_loss(text, &row->counts);
	tp_buffer_printf(text, "}");
}

static void put_json_rows(struct tp_buffer *text, const char *key, const struct rows *rows, const struct counts *all)
{
	tp_buffer_printf(text, ",\n \"%s\": [", key);
	for (size_t i = 0; i < rows->nr; i++) {
		tp_buffer_printf(text, "%s\n  ", i ? "," : "");
		put_json_row(text, &rows->rows[i], all);
	}
	tp_buffer_printf(text, "]");
}

bool summary_print_json(struct summary *summary)
{
	const struct counts *all = &summary->all;
	struct tp_buffer text = {.text = NULL};

	sort_all(summary);
	tp_buffer_printf(&text, "{\"version\": 1, \"seconds\": %.9Lf, ", seconds_of(all));
	put_counts(&text, all, all);
	put_loss(&text, all);
	put_json_rows(&text, "events", &summary->events, all);
	put_json_rows(&text, "processes", &summary->processes, all);
	put_json_rows(&text, "threads", &summary->threads, all);
	tp_buffer_printf(&text, "}\n");
	return write_out(&text);
}
