/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/memory.h - memory for descriptions, that handlers can have: memory.c.
 */
#ifndef TP_CTF_MEMORY_H
#define TP_CTF_MEMORY_H

#include <stddef.h>

struct tp_ctf_sink;

/* Zeroed memory for a description, which stays until the sink is closed. Under tp_ctf_lock. NULL where there is none. */
void *tp_ctf_description_new(struct tp_ctf_sink *sink, size_t size);
void tp_ctf_descriptions_free(struct tp_ctf_sink *sink);

#endif /* TP_CTF_MEMORY_H */
