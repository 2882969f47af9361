/* SPDX-License-Identifier: MIT */
/*
 * filter/cpus.c - see cpus.h. The syntax is that of the kernel's bitmap_parselist().
 */
#include <string.h>
#include <unistd.h>

#include "filter/cpus.h"

struct list {
	const char *at, *end;
};

static bool take(struct list *list, char c)
{
	if (list->at == list->end || *list->at != c)
		return false;
	list->at++;
	return true;
}

/* Of the machine. */
static uint32_t last_processor(void)
{
	const long nr = sysconf(_SC_NPROCESSORS_CONF);

	return nr > 0 && nr <= (long)TP_CPUS_MAX ? (uint32_t)nr - 1 : 0;
}

/* "N" is the last processor. */
static bool number(struct list *list, uint32_t *value)
{
	const char *begin = list->at;

	if (take(list, 'N')) {
		*value = last_processor();
		return true;
	}
	*value = 0;
	for (; list->at < list->end && *list->at >= '0' && *list->at <= '9'; list->at++) {
		*value = *value * 10 + (uint32_t)(*list->at - '0');
		if (*value > TP_CPUS_MAX)
			return false;
	}
	return list->at > begin;
}

static void add(struct tp_cpus *cpus, uint32_t cpu)
{
	if (!tp_cpus_has(cpus->bytes, TP_CPUS_BYTES, cpu)) {
		cpus->bytes[cpu / 8] = (uint8_t)(cpus->bytes[cpu / 8] | 1u << cpu % 8);
		cpus->nr++;
	}
	if (cpu > cpus->last)
		cpus->last = cpu;
}

/* FIRST[-LAST[:USED/GROUP]]: of each group of so many, the first USED. */
static bool range(struct list *list, struct tp_cpus *cpus)
{
	uint32_t first, last, used = 1, group = 1;

	if (list->end - list->at >= 3 && strncmp(list->at, "all", 3) == 0) {
		list->at += 3;
		for (uint32_t cpu = 0; cpu <= last_processor(); cpu++)
			add(cpus, cpu);
		return true;
	}
	if (!number(list, &first))
		return false;
	last = first;
	if (take(list, '-')) {
		if (!number(list, &last))
			return false;
		if (take(list, ':') && !(number(list, &used) && take(list, '/') && number(list, &group)))
			return false;
	}
	if (first > last || last >= TP_CPUS_MAX || !group || used > group)
		return false;
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			add(cpus, cpu);
	}
	return true;
}

bool tp_cpus_parse(struct tp_cpus *cpus, const char *text, size_t len)
{
	struct list list = {text, text + len};

	*cpus = (struct tp_cpus){.nr = 0};
	while (list.at < list.end) {
		if (take(&list, ' ') || take(&list, '\t') || take(&list, ','))
			continue;
		if (!range(&list, cpus))
			return false;
		if (list.at < list.end && *list.at != ',' && *list.at != ' ' && *list.at != '\t')
			return false;
	}
	return cpus->nr != 0;
}
