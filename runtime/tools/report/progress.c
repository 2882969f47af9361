/* SPDX-License-Identifier: MIT */
#include "report/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_MS 1000 /* what takes less is not long */
#define EACH_MS 200
#define WIDTH 50

static struct timespec now_and(long ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ms * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

void progress_begin(struct progress *progress, bool is_output_shown)
{
	*progress = (struct progress){
		.is_wanted = isatty(STDERR_FILENO) && !is_output_shown, .next = now_and(FIRST_MS),
	};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	char bar[WIDTH + 1];
	struct timespec now;

	if (!progress->is_wanted || total == 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < progress->next.tv_sec ||
	    (now.tv_sec == progress->next.tv_sec && now.tv_nsec < progress->next.tv_nsec))
		return;
	const double part = done < total ? (double)done / (double)total : 1;
	const int filled = (int)(part * WIDTH);
	memset(bar, '#', (size_t)filled);
	memset(bar + filled, '.', (size_t)(WIDTH - filled));
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %3d%%", bar, (int)(part * 100));
	progress->is_shown = true;
	progress->next = now_and(EACH_MS);
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\33[K", stderr);
	progress->is_shown = false;
}
