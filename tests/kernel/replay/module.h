/* SPDX-License-Identifier: MIT */
/* module.h - the events for the kernel's macros. */
#if !defined(REPLAY_MODULE_H) || defined(TRACE_HEADER_MULTI_READ)
#define REPLAY_MODULE_H

#include <linux/tracepoint.h>

#include "replay.tp"

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE module
#include <trace/define_trace.h>
