/* SPDX-License-Identifier: MIT */
/*
 * Types of the kernel's that its packaged headers do not have: as wide as
 * they are there, so that the records of ext4, f2fs and rxrpc can be laid out.
 */
#include <linux/types.h>

typedef u32 ext4_lblk_t;
typedef unsigned long long ext4_fsblk_t;
typedef int ext4_grpblk_t;
typedef unsigned int ext4_group_t;
typedef u32 nid_t;
typedef u32 block_t;
typedef u32 rxrpc_seq_t;
typedef u32 rxrpc_serial_t;
