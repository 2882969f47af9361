/* SPDX-License-Identifier: MIT */
#include "read/threads.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

#define SIZE_FIRST ((size_t)64)
#define TID_MAX (1 << 22) /* the system gives none above it; so the table of a damaged trace ends somewhere, too */

static struct thread *find(const struct threads *threads, int32_t tid)
{
	size_t at = (uint32_t)tid * 2654435761u & (threads->size - 1);

	while (threads->places[at].tid && threads->places[at].tid != tid)
		at = (at + 1) & (threads->size - 1);
	return &threads->places[at];
}

static bool grow(struct threads *threads)
{
	struct threads larger = {.size = threads->size ? 2 * threads->size : SIZE_FIRST, .nr = threads->nr};

	larger.places = calloc(larger.size, sizeof(*larger.places));
	if (!larger.places)
		return fail_no_memory();
	for (size_t i = 0; i < threads->size; i++) {
		if (threads->places[i].tid)
			*find(&larger, threads->places[i].tid) = threads->places[i];
	}
	free(threads->places);
	*threads = larger;
	return true;
}

bool threads_add(struct threads *threads, int32_t tid, const char *name)
{
	if (tid <= 0 || tid > TID_MAX)
		return true;
	if (threads->nr * 2 >= threads->size && !grow(threads))
		return false;
	struct thread *thread = find(threads, tid);
	if (!thread->tid)
		threads->nr++;
	thread->tid = tid;
	size_t len = strnlen(name, sizeof(thread->name) - 1);
	memcpy(thread->name, name, len);
	thread->name[len] = '\0';
	return true;
}

void threads_free(struct threads *threads)
{
	free(threads->places);
	*threads = (struct threads){.places = NULL};
}
