/* SPDX-License-Identifier: MIT */
/*
 * base/memory.h - malloc, which tests make fail.
 */
#ifndef TP_MEMORY_H
#define TP_MEMORY_H

#include <stddef.h>

extern void *(*tp_malloc)(size_t size);

#endif /* TP_MEMORY_H */
