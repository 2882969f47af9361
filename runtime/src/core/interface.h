/* SPDX-License-Identifier: MIT */
/*
 * core/interface.h - which interfaces between generated code and library this
 * library serves: those from TP_OLDEST_INTERFACE to TP_INTERFACE_VERSION, of
 * tp/tracepoint.h. docs/internals/architecture.md says what may change within one.
 * The Makefile and the tests read both numbers here.
 */
#ifndef TP_INTERFACE_H
#define TP_INTERFACE_H

/* The N of libtp.so.N. It is raised when, and only when, TP_OLDEST_INTERFACE is. */
#define TP_SONAME 1
#define TP_OLDEST_INTERFACE 1

#endif /* TP_INTERFACE_H */
