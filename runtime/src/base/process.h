/* SPDX-License-Identifier: MIT */
/*
 * base/process.h - what the runtime needs once a process.
 */
#ifndef TP_PROCESS_H
#define TP_PROCESS_H

/* Called wherever the runtime is entered; only the first call does something. */
void tp_process_start(void);

#endif /* TP_PROCESS_H */
