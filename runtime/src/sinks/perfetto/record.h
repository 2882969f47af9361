/* SPDX-License-Identifier: MIT */
/* sinks/perfetto/record.h - the way of a record into a Perfetto sink: record.c. */
#ifndef TP_PERFETTO_RECORD_H
#define TP_PERFETTO_RECORD_H

#include <tp/sink.h>

bool tp_perfetto_reserve(struct tp_record *rec);
void tp_perfetto_commit(struct tp_record *rec);
void tp_perfetto_lost(struct tp_sink *sink, enum tp_lost cause);

#endif /* TP_PERFETTO_RECORD_H */
