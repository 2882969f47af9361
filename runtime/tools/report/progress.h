/* SPDX-License-Identifier: MIT */
/* progress.h - a bar on stderr while something takes long, for a person who waits. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
	bool is_wanted, is_shown;
	struct timespec next;
};

/* There is none where stderr is no terminal, or where the output itself comes to one. */
void progress_begin(struct progress *progress, bool is_output_shown);
void progress_show(struct progress *progress, uint64_t done, uint64_t total);

/* Removes the bar. */
void progress_end(struct progress *progress);

#endif /* PROGRESS_H */
