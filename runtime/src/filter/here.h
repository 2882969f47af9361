/* SPDX-License-Identifier: MIT */
/*
 * filter/here.h - what an expression asks for that is in no record: where the hit is. Readers of records that others have
 * made have functions of their own in the place of here.c.
 */
#ifndef TP_FILTER_HERE_H
#define TP_FILTER_HERE_H

#include "base/text.h"
#include "filter/value.h"

/* The calling thread's name, as it was at most 64 calls ago; with a sandbox, at its first. */
struct tp_value_bytes tp_here_comm(void);

/* The processor's number. */
uint64_t tp_here_cpu(void);

/* The machine's last processor; if the system does not say, the last that any has. */
uint32_t tp_here_last_cpu(void);

/*
 * The function of this name, or the one that has the address in it: where it begins, and its size, or 0 where that is not
 * known. False: there is none, and the hint says why that may be. Takes the loader's lock.
 */
bool tp_here_function(const char *name, uint64_t *address, uint64_t *size, struct tp_buffer *hint);
bool tp_here_function_at(uint64_t *address, uint64_t *size, struct tp_buffer *hint);

#endif /* TP_FILTER_HERE_H */
