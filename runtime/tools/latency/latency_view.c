/* SPDX-License-Identifier: MIT */
#include "latency/latency.h"

static bool put(const void *data, const struct statistics *statistics, const struct area *area)
{
	const struct latency_view *view = data;
	struct latency latency = {.groups = NULL};
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++) {
		const struct json *report = &statistics->all[i].now.root;
		good = report->kind != JSON_OBJECT || latency_add_report(&latency, report, view->slowest);
	}
	latency_sort(&latency);
	if (good && latency.begin)
		good = view->json ? latency_put_json(&latency, area->text) : latency_put_text(&latency, area);
	latency_free(&latency);
	return good;
}

struct view latency_view_of(struct latency_view *view)
{
	return (struct view){.put = put, .view = view};
}
