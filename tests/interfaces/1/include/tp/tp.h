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
TP_PUBLIC struct tp_sink *tp_perfetto_sink(const char *file, const char *options);
TP_PUBLIC struct tp_sink *tp_ftrace_sink(const char *instance);
TP_PUBLIC struct tp_sink *tp_sdt_sink(void);
TP_PUBLIC struct tp_sink *tp_lttng_sink(void);
TP_PUBLIC struct tp_sink *tp_stats_sink(const char *file, const char *options);
TP_PUBLIC int tp_stats_write(struct tp_sink *sink);
TP_PUBLIC struct tp_sink *tp_output(const char *name);
TP_PUBLIC int tp_enable(struct tp_sink *sink, const char *patterns);
TP_PUBLIC int tp_enable_if(struct tp_sink *sink, const char *patterns, const char *filter, char **error);
TP_PUBLIC int tp_disable(struct tp_sink *sink, const char *patterns);
TP_PUBLIC void tp_tracing_off(struct tp_sink *sink);
TP_PUBLIC void tp_tracing_on(struct tp_sink *sink);
TP_PUBLIC bool tp_tracing_is_on(const struct tp_sink *sink);
TP_PUBLIC int tp_synthetic_event(const char *definition, char **error);
TP_PUBLIC int tp_trigger(struct tp_sink *sink, const char *patterns, const char *trigger, char **error);
TP_PUBLIC char *tp_hist_text(const char *patterns, bool json);
TP_PUBLIC void tp_enable_wait(void);
#ifdef __cplusplus
}
#endif
#endif
