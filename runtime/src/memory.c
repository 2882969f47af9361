/* SPDX-License-Identifier: MIT */
/*
 * memory.c - where the runtime has its memory from, but for what a signal
 * handler needs: that is from mmap.
 */
#include <stdlib.h>

#include "internal.h"

void *(*tp_malloc)(size_t size) = malloc;
