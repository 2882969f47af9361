/* SPDX-License-Identifier: MIT */
#include "elf/layout.h"

#include <stddef.h>

#include <tp/event.h>

/* As 64-bit compilers see the headers. */
#if __SIZEOF_POINTER__ == 8
#define AT(struct_, member, at) _Static_assert(offsetof(struct struct_, member) == (at), #struct_ "." #member)
AT(tracepoint, line, TRACEPOINT_LINE);
AT(tracepoint, name, TRACEPOINT_NAME);
AT(tracepoint, proto, TRACEPOINT_PROTO);
AT(tracepoint, file, TRACEPOINT_FILE);
AT(tp_event, system, EVENT_SYSTEM);
AT(tp_event, name, EVENT_NAME);
AT(tp_event, event_class, EVENT_CLASS);
AT(tp_event, tracepoint, EVENT_TRACEPOINT);
AT(tp_event, loglevel, EVENT_LEVEL);
#endif
