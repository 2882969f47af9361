/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fail_msg.h"
#include "latency/latency.h"

typedef unsigned long long number;

static void put_text(struct tp_buffer *to, const char *name, const char *text)
{
	tp_buffer_printf(to, "\"%s\": ", name);
	tp_json_string(to, text ? text : "");
}

static void put_group(struct tp_buffer *to, const struct latency_group *group)
{
	const char *between = "";

	tp_buffer_printf(to, "{\"by\": %s, \"count\": %llu, \"mean_ns\": %llu, \"min_ns\": %llu, \"max_ns\": %llu, ", group->values,
			 (number)group->count, (number)(group->sum / group->count), (number)group->least, (number)group->most);
	tp_buffer_printf(to, "\"p50_ns\": %llu, \"p90_ns\": %llu, \"p99_ns\": %llu, \"p99.9_ns\": %llu,\n   \"buckets\": [",
			 (number)latency_percentile(group, 0.5), (number)latency_percentile(group, 0.9),
			 (number)latency_percentile(group, 0.99), (number)latency_percentile(group, 0.999));
	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++) {
		if (!group->buckets[i])
			continue;
		tp_buffer_printf(to, "%s[%llu, %llu]", between, (number)tp_bucket_begin(i), (number)group->buckets[i]);
		between = ", ";
	}
	tp_buffer_printf(to, "]}");
}

static void put_all(struct tp_buffer *to, const struct latency *latency)
{
	tp_buffer_printf(to, "{\"version\": 1, ");
	put_text(to, "begin", latency->begin);
	tp_buffer_printf(to, ", ");
	put_text(to, "end", latency->end);
	tp_buffer_printf(to, ", ");
	put_text(to, "key", latency->key);
	tp_buffer_printf(to, ", ");
	put_text(to, "by", latency->by);
	tp_buffer_printf(to, ",\n \"waiting\": %llu, \"oldest_ns\": %llu, \"forgotten\": %llu, \"unmatched\": %llu, \"lost\": %llu,\n \"groups\": [",
			 (number)latency->waiting, (number)latency->oldest_ns, (number)latency->forgotten, (number)latency->unmatched,
			 (number)latency->lost);
	for (size_t i = 0; i < latency->nr_groups; i++) {
		tp_buffer_printf(to, i ? ",\n  " : "\n  ");
		put_group(to, &latency->groups[i]);
	}
	tp_buffer_printf(to, "],\n \"slowest\": [");
	for (size_t i = 0; i < latency->nr_slowest; i++) {
		tp_buffer_printf(to, "%s{\"ns\": %llu, ", i ? ",\n  " : "\n  ", (number)latency->slowest[i].ns);
		put_text(to, "begin", latency->slowest[i].begin);
		tp_buffer_printf(to, ",\n   ");
		put_text(to, "end", latency->slowest[i].end);
		tp_buffer_printf(to, "}");
	}
	tp_buffer_printf(to, "]}\n");
}

bool latency_put_json(const struct latency *latency, struct lines *to)
{
	struct tp_buffer text = {.text = NULL};

	put_all(&text, latency);
	const bool good = (!text.failed && lines_add(to, text.text, text.len)) || fail_no_memory();
	tp_buffer_free(&text);
	return good;
}
