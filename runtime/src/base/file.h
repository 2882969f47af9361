/* SPDX-License-Identifier: MIT */
/*
 * base/file.h - writing to files. Errors are errno values.
 */
#ifndef TP_FILE_H
#define TP_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* False where posix_fallocate or write would be answered with SIGXFSZ. */
bool tp_file_size_allowed(size_t size);

/* Writes all of it. 0 or an error. */
int tp_file_write(int fd, const void *data, size_t len);

#endif /* TP_FILE_H */
