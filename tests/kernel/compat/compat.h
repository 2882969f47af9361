/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's trace headers take for granted, for user space: as much
 * of it as the headers that tests/kernel/test_compat.py carries over need.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* ---- linux/types.h ---- */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16, __be16, __le16;
typedef u32 __u32, __be32, __le32;
typedef u64 __u64, __be64, __le64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef unsigned int gfp_t, fmode_t, blk_opf_t;
typedef u64 phys_addr_t, dma_addr_t, resource_size_t, sector_t;
typedef unsigned long pgoff_t;
typedef s64 ktime_t, time64_t;
typedef s32 dma_cookie_t;
/* In the kernel these are of other types than in the C library, which its formats rely on. */
#define uint64_t u64
#define int64_t s64
#define loff_t s64
#define dev_t u32

#endif /* COMPAT_H */
