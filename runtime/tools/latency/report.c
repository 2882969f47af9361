/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fail_msg.h"
#include "latency/latency.h"

/* The texts, with ", " between them. */
static char *join(const struct json *first)
{
	struct tp_buffer text = {.text = NULL};

	tp_buffer_printf(&text, "%s", "");
	for (const struct json *one = first; one; one = one->next)
		tp_buffer_printf(&text, "%s%s", one == first ? "" : ", ", one->text ? one->text : "");
	return text.text;
}

/* For people, and as JSON. */
static void put_values(struct tp_buffer *name, struct tp_buffer *values, const struct json *first)
{
	tp_buffer_printf(name, "%s", "");
	tp_buffer_printf(values, "[");
	for (const struct json *one = first; one; one = one->next) {
		const struct json *value = json_member(one, "value");
		const char *named = json_text(one, "name"), *text = value && value->text ? value->text : "";
		tp_buffer_printf(name, "%s%s", one == first ? "" : ", ", *named ? named : text);
		tp_buffer_printf(values, "%s{\"value\": ", one == first ? "" : ", ");
		if (value && value->kind == JSON_STRING)
			tp_json_string(values, text);
		else
			tp_buffer_printf(values, "%s", *text ? text : "null");
		if (*named) {
			tp_buffer_printf(values, ", \"name\": ");
			tp_json_string(values, named);
		}
		tp_buffer_printf(values, "}");
	}
	tp_buffer_printf(values, "]");
}

static void read_buckets(uint64_t *buckets, const struct json *first)
{
	for (const struct json *one = first; one; one = one->next) {
		const struct json *begin = one->first, *hits = begin ? begin->next : NULL;
		if (hits && begin->text && hits->text)
			buckets[tp_bucket_of(strtoull(begin->text, NULL, 10))] += strtoull(hits->text, NULL, 10);
	}
}

static bool add_group(struct latency *latency, const struct json *one)
{
	struct tp_buffer name = {.text = NULL}, values = {.text = NULL};
	struct latency_group *group = NULL;

	put_values(&name, &values, json_first(one, "by"));
	if (name.failed || values.failed)
		fail_no_memory();
	else
		group = latency_group(latency, name.text, values.text);
	tp_buffer_free(&name);
	tp_buffer_free(&values);
	if (!group)
		return false;
	uint64_t buckets[TP_NR_BUCKETS] = {0};
	const struct latency_group reported = {
		.count = json_uint64(one, "count"), .sum = json_uint64(one, "sum_ns"), .least = json_uint64(one, "min_ns"),
		.most = json_uint64(one, "max_ns"), .buckets = buckets,
	};
	read_buckets(buckets, json_first(one, "buckets"));
	latency_group_merge(group, &reported);
	return true;
}

static void add_slowest(struct latency *latency, const struct json *report, size_t wanted)
{
	for (const struct json *one = json_first(report, "slowest"); one; one = one->next) {
		const struct latency_pair pair = {
			.ns = json_uint64(one, "ns"), .begin = strdup(json_text(one, "begin")), .end = strdup(json_text(one, "end")),
		};
		latency_keep(latency, wanted, pair);
	}
}

bool latency_add_report(struct latency *latency, const struct json *report, size_t slowest)
{
	if (!json_member(report, "begin") || !json_member(report, "groups"))
		return fail_msg("this is no latency as a process writes it, or of another version of the library");
	if (!latency->begin) {
		latency->begin = strdup(json_text(report, "begin"));
		latency->end = strdup(json_text(report, "end"));
		latency->key = join(json_first(report, "key"));
		latency->by = join(json_first(report, "by"));
	}
	if (!latency->begin || !latency->end || !latency->key || !latency->by)
		return fail_no_memory();
	for (const struct json *one = json_first(report, "groups"); one; one = one->next) {
		if (!add_group(latency, one))
			return false;
	}
	add_slowest(latency, report, slowest);
	latency->waiting += json_uint64(report, "waiting");
	latency->forgotten += json_uint64(report, "forgotten");
	latency->unmatched += json_uint64(report, "unmatched");
	latency->lost += json_uint64(report, "lost");
	const uint64_t oldest = json_uint64(report, "oldest_ns");
	latency->oldest_ns = oldest > latency->oldest_ns ? oldest : latency->oldest_ns;
	return true;
}
