/* SPDX-License-Identifier: MIT */
/*
 * sample.h - tracepoints and events written by hand, in the shape that
 * tpgen generates: what the tests of the runtime work with. That they don't
 * come from tpgen makes a failure here the runtime's.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdint.h>

#include <tp/event.h>
#include <tp/module.h>
#include <tp/tracepoint.h>

/* What one header has for each tracepoint. */
#define SAMPLE_DECLARE(name, proto, args)                                                             \
	extern struct tracepoint __tracepoint_##name TP_HIDDEN;                                               \
	extern struct tp_event tp_event_##name TP_HIDDEN;                                                     \
	void __traceiter_##name(proto);                                                               \
	TP_HIDDEN void tp_record_##name(void *data, proto);                                                  \
	static inline void trace_##name(proto)                                                        \
	{                                                                                             \
		if (tp_tracepoint_is_on(&__tracepoint_##name))                                                 \
			__traceiter_##name(args);                                                     \
	}                                                                                             \
	static inline TP_UNUSED int register_trace_prio_##name(void (*probe)(void *, proto), void *data, int prio) \
	{                                                                                             \
		return tracepoint_probe_register_prio(&__tracepoint_##name, (tp_probe_t)probe, data, prio); \
	}                                                                                             \
	static inline TP_UNUSED int register_trace_##name(void (*probe)(void *, proto), void *data)   \
	{                                                                                             \
		return register_trace_prio_##name(probe, data, TRACEPOINT_DEFAULT_PRIO);              \
	}                                                                                             \
	static inline TP_UNUSED int unregister_trace_##name(void (*probe)(void *, proto), void *data) \
	{                                                                                             \
		return tracepoint_probe_unregister(&__tracepoint_##name, (tp_probe_t)probe, data);    \
	}

#define PROTO(...) __VA_ARGS__
#define ARGS(...) __VA_ARGS__

/* sample:sample_int: a single number, and the least that an event costs. */
SAMPLE_DECLARE(sample_int, PROTO(int value), ARGS(value))

/* sample:sample_text: a string. */
SAMPLE_DECLARE(sample_text, PROTO(const char *text), ARGS(text))

/* sample:sample_kinds: a field of each kind, and names that are TSDL's keywords. */
struct sample_point {
	int16_t x, y;
	uint8_t z;
};

struct sample_values {
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	bool flag;
	float single;
	double wide;
	const void *pointer;
	int level; /* with names: 1 LOW, 2 "HIGH", -1 NONE */
	char comm[8];
	int32_t numbers[3];
	struct sample_point point;
	const char *text;
	const uint8_t *bytes;
	size_t nr_bytes;
	const uint32_t *words;
	size_t nr_words;
	const struct sample_point *points;
	size_t nr_points;
	const char *last;
};

SAMPLE_DECLARE(sample_kinds, PROTO(const struct sample_values *v), ARGS(v))

/*
 * A module beside this program's own, as a shared object would bring it: one
 * tracepoint with a single int, and its event.
 */
struct sample_module {
	struct tracepoint tp;
	struct tp_event event;
	struct tracepoint *tps[1];
	struct tp_event *events[1];
	struct tp_module module;
};

/* Makes it, not loaded yet. The names must stay where they are. */
void sample_module_init(struct sample_module *m, const char *system, const char *name, const char *proto);

/* Its trace_NAME(). */
void sample_module_hit(struct sample_module *m, int value);

#endif /* SAMPLE_H */
