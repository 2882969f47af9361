/* SPDX-License-Identifier: MIT */
/*
 * base/hit.h - whether this thread is in a hit.
 */
#ifndef TP_HIT_H
#define TP_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/read.h>

/*
 * Whether this thread is inside a probe, and so is what has this frame. If a handler has left the probe by siglongjmp(),
 * it is ended, as if the thread had exited there.
 */
bool tp_reading_at(uintptr_t frame);

/* Whether what has a frame, and was on the stack of this thread, is there no more: what has the other frame is not inside it. */
bool tp_frame_was_left(uintptr_t outermost, uintptr_t frame);

/* The same of the function that calls. */
static inline __attribute__((always_inline)) bool tp_reading(void)
{
	return tp_reading_at(TP_HIT_FRAME);
}

#endif /* TP_HIT_H */
