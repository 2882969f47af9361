/* SPDX-License-Identifier: MIT */
/*
 * base/error_name.h - the names of errors, which not every C library has.
 */
#ifndef TP_ERROR_NAME_H
#define TP_ERROR_NAME_H

/* "EINVAL"; NULL: there is no such error. Safe in signal handlers. */
const char *tp_error_name(int error);

#endif /* TP_ERROR_NAME_H */
