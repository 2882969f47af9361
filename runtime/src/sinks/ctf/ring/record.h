/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/record.h - the operations of the sink on a record: record.c.
 */
#ifndef TP_CTF_RECORD_H
#define TP_CTF_RECORD_H

#include <stdbool.h>

#include <tp/sink.h>

bool tp_ctf_reserve(struct tp_record *rec);
void tp_ctf_commit(struct tp_record *rec); /* only where records are copied */
void tp_ctf_lost(struct tp_sink *head, enum tp_lost cause);

#endif /* TP_CTF_RECORD_H */
