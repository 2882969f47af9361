/* SPDX-License-Identifier: MIT */
/* Has the inline functions that test_barriers.py looks at. */
#include "record/stream.h"

#include <tp/read.h>

/* Global, so that the compiler needs the functions. */
extern const struct barriers {
	const struct tracepoint_func *(*lock)(const struct tracepoint *tp);
	tp_probe_t (*func)(const struct tracepoint_func *it);
	void (*publish)(struct tp_stream *stream, uint64_t position);
} barriers;

const struct barriers barriers = {tp_read_lock, tp_probe_func, tp_stream_publish};
