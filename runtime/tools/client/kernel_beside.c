/* SPDX-License-Identifier: MIT */
#include "client/kernel_beside.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/recording.h"
#include "client/signals.h"
#include "fail_msg.h"

static void take_away(const char *dir)
{
	char *path;

	if (asprintf(&path, "%s/" KERNEL_DIR, dir) < 0)
		return;
	recorded_remove(path);
	free(path);
}

bool kernel_beside_start(struct kernel_recording *kernel, const char *dir)
{
	if (kernel_start(kernel, dir))
		return true;
	take_away(dir);
	return false;
}

static void tell(const struct kernel_recording *kernel, const char *dir, uint64_t lost)
{
	char *path;

	if (asprintf(&path, "%s/" KERNEL_DIR, dir) < 0)
		return;
	tell_recorded(path, path, "the kernel", NULL);
	free(path);
	if (lost && lost != UINT64_MAX)
		fail_msg("the kernel's trace buffer, %llu KiB for each processor, was too small: give --kernel-buffer more, or --kernel fewer events",
			 (unsigned long long)kernel->buffer_kib);
}

static bool may_wait(void)
{
	return signals_patience(1) > 0;
}

void kernel_beside_stop(struct kernel_recording *kernel, const char *dir, bool is_wanted)
{
	const uint64_t lost = kernel_stop(kernel, dir, may_wait);

	if (is_wanted)
		tell(kernel, dir, lost);
	else
		take_away(dir);
}
