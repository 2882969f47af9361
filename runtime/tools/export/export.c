/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include <string.h>
#include <unistd.h>

#include "select/selection.h"

#define EACH 1024 /* events between two looks at the bar */

bool export_open(struct export *export, const struct export_wanted *wanted)
{
	const char *events = wanted->events;

	export->is_shown = strcmp(wanted->to, "-") == 0 && isatty(STDOUT_FILENO);
	if (!traces_open(&export->traces, wanted->paths, wanted->nr_paths))
		return false;
	export->selection = events ? selection_new(events) : NULL;
	return (!events || (export->selection && selection_check(export->selection, &export->traces))) &&
	       merge_begin(&export->merge, export->traces.traces, export->traces.nr, NULL);
}

void export_close(struct export *export)
{
	merge_free(&export->merge);
	selection_free(export->selection);
	traces_close(&export->traces);
}

static bool is_wanted(const struct export *export, const struct merged *merged)
{
	return merged->event.format && (!export->selection ||
					selection_wants(export->selection, merged->trace_nr, merged->trace, &merged->event));
}

static bool each(struct export *export, bool (*fn)(void *data, const struct merged *merged), void *data)
{
	enum packet_result result;
	struct merged merged;
	uint64_t nr = 0;

	while ((result = merge_next(&export->merge, &merged)) == PACKET_EVENT) {
		if (!is_wanted(export, &merged))
			merged.event.format = NULL;
		if ((merged.event.format || merged.lost) && !fn(data, &merged))
			return false;
		if (++nr % EACH == 0)
			progress_show(&export->progress, export->merge.done, export->merge.total);
	}
	return result == PACKET_END;
}

bool export_each(struct export *export, bool (*fn)(void *data, const struct merged *merged), void *data)
{
	progress_begin(&export->progress, export->is_shown);
	const bool good = each(export, fn, data);
	progress_end(&export->progress);
	return good;
}
