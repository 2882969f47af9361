/* SPDX-License-Identifier: MIT */
/* kernel_beside.h - the kernel's events beside those of processes: "tp record --kernel". */
#ifndef KERNEL_BESIDE_H
#define KERNEL_BESIDE_H

#include <stdbool.h>

#include "kernel/kernel_recording.h"

/* Below dir. False, and a message; then nothing is left there. */
bool kernel_beside_start(struct kernel_recording *kernel, const char *dir);

/* Ends it, and tells what was recorded; or takes it away. */
void kernel_beside_stop(struct kernel_recording *kernel, const char *dir, bool is_wanted);

#endif /* KERNEL_BESIDE_H */
