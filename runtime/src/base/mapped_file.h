/* SPDX-License-Identifier: MIT */
/*
 * base/mapped_file.h - files that are mapped while they are written.
 *
 * A store to a mapped file whose page can't be had is a SIGBUS, which would kill the program. Where a file system keeps the
 * promise that posix_fallocate() gives, that does not happen. Where it copies on write (btrfs), or is another machine's, it may
 * happen at any store on a full disk. There, what is to be written goes to memory of its own, and process_vm_writev() copies it
 * into the mapped file: it returns an error in the place of a signal, and it needs no descriptor, which a program may close. If
 * there is no such call (emulators, some containers), it is stored in the file, as elsewhere.
 */
#ifndef TP_MAPPED_FILE_H
#define TP_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Whether the file, which is empty yet and gets a block or not, or all files in the directory, must be copied into, and can be. */
bool tp_mapped_must_be_copied(int at);

/* The file has blocks for these bytes: with a hole in it, a full disk would be a SIGBUS. With all signals blocked. 0, or an errno value. */
int tp_mapped_allocate(int fd, off_t from, size_t size);

/* Copies one piece of memory after the other into mapped files. 0, or an errno value: those behind the first may be missing. */
int tp_mapped_copy(const struct iovec *from, const struct iovec *to, unsigned int nr);

/* The memory's pages are made present at once, as far as the kernel can do it. */
void tp_mapped_populate(void *memory, size_t size);

#endif /* TP_MAPPED_FILE_H */
