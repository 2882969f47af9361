/* SPDX-License-Identifier: MIT */
/*
 * base/memory.c - where the runtime has its memory from, but for what a signal
 * handler needs: that is from mmap.
 */
#include <stdlib.h>

#include "base/memory.h"

void *(*tp_malloc)(size_t size) = malloc;
