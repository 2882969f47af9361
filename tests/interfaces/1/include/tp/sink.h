/* SPDX-License-Identifier: MIT */
#ifndef TP_SINK_H
#define TP_SINK_H
#include <tp/event.h>
#include <tp/scratch.h>
#ifdef __cplusplus
extern "C" {
#endif
struct tp_sink;
enum tp_lost {
	TP_LOST_NO_FILE,
	TP_LOST_LIMIT,
	TP_LOST_NESTED,
	TP_LOST_TOO_LARGE,
	TP_LOST_OTHER,
	TP_NR_LOST,
};
struct tp_stream;
struct tp_record {
	struct tp_sink *sink;
	const struct tp_event *event;
	struct trace_entry *entry;
	uint32_t size;
	uint64_t time;
	void *sink_data[2];
	struct tp_stream *stream;
	uint64_t position;
};
struct tp_sink_ops {
	const char *name;
	bool (*reserve)(struct tp_record *rec);
	void (*lost)(struct tp_sink *sink, enum tp_lost cause);
	void (*commit)(struct tp_record *rec);
	int (*describe_event)(struct tp_sink *sink, const struct tp_event *event);
	int (*write_descriptions)(struct tp_sink *sink);
	void (*before_fork)(struct tp_sink *sink);
	void (*after_fork_parent)(struct tp_sink *sink);
	void (*after_fork_child)(struct tp_sink *sink);
	const int *(*enable_flag)(struct tp_sink *sink, const struct tp_event *event);
	int (*close)(struct tp_sink *sink);
};
struct tp_sink {
	const struct tp_sink_ops *ops;
	uint64_t key __attribute__((aligned(8)));
	uint32_t slot;
	unsigned long lost[TP_NR_LOST];
	void *reserved[6];
};
TP_PUBLIC void tp_sink_count_for_opener(struct tp_sink *sink, enum tp_lost cause, unsigned long nr);
static inline void tp_sink_count_all_lost(struct tp_sink *sink, enum tp_lost cause, unsigned long nr)
{
	__atomic_fetch_add(&sink->lost[cause], nr, __ATOMIC_RELAXED);
	if (sink->reserved[2])
		tp_sink_count_for_opener(sink, cause, nr);
}
static inline void tp_sink_count_lost(struct tp_sink *sink, enum tp_lost cause)
{
	tp_sink_count_all_lost(sink, cause, 1);
}
static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops);
TP_PUBLIC int tp_sink_open_sized(struct tp_sink *sink, size_t sink_size, const struct tp_sink_ops *ops, size_t ops_size);
static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops)
{
	return tp_sink_open_sized(sink, sizeof(*sink), ops, sizeof(*ops));
}
TP_PUBLIC unsigned long tp_sink_lost(struct tp_sink *sink);
TP_PUBLIC unsigned long tp_sink_lost_by(struct tp_sink *sink, enum tp_lost cause);
TP_PUBLIC int tp_sink_close(struct tp_sink *sink);
TP_PUBLIC void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size);
TP_PUBLIC void tp_commit(struct tp_record *rec);
TP_PUBLIC struct tp_sink *tp_early_sink(struct tp_sink *sink, const struct tp_event *event, struct trace_entry *early,
					uint64_t fields) __attribute__((weak));
#ifdef __cplusplus
}
#endif
#endif
