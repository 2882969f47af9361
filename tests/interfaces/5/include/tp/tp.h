/* SPDX-License-Identifier: MIT */
#ifndef TP_TP_H
#define TP_TP_H
#include <stdio.h>
#include <tp/sink.h>
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
TP_PUBLIC struct tp_sink *tp_text_sink(FILE *file);
TP_PUBLIC struct tp_sink *tp_ctf_sink(const char *dir, const char *options);
TP_PUBLIC int tp_ctf_snapshot(struct tp_sink *sink, const char *dir);
TP_PUBLIC struct tp_sink *tp_ftrace_sink(const char *instance);
TP_PUBLIC struct tp_sink *tp_sdt_sink(void);
TP_PUBLIC struct tp_sink *tp_lttng_sink(void);
TP_PUBLIC struct tp_sink *tp_stats_sink(const char *file, const char *options);
TP_PUBLIC int tp_stats_write(struct tp_sink *sink);
TP_PUBLIC int tp_enable(struct tp_sink *sink, const char *patterns);
TP_PUBLIC int tp_disable(struct tp_sink *sink, const char *patterns);
TP_PUBLIC unsigned long tp_sink_lost(struct tp_sink *sink);
TP_PUBLIC unsigned long tp_sink_lost_by(struct tp_sink *sink, enum tp_lost cause);
TP_PUBLIC int tp_sink_close(struct tp_sink *sink);
#ifdef __cplusplus
}
#endif
#endif
