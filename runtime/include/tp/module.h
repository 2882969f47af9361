/* SPDX-License-Identifier: MIT */
/*
 * tp/module.h - how a module's tracepoints and events become known to the
 * runtime. tp/define_trace.h does this for every program; other uses are rare.
 */
#ifndef TP_MODULE_H
#define TP_MODULE_H

#include <tp/event.h>
#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one module (the program or a shared object) holds; the linker gathers it in two sections of pointers. */
struct tp_module {
	struct tracepoint **tracepoints, **tracepoints_end;
	struct tp_event **events, **events_end;
	void *reserved[4]; /* for the runtime */
};

/*
 * Announced by a constructor, taken back by a destructor of each file that
 * creates tracepoints; only the module's first call counts.
 * After tp_module_unload() none of its code or data is used any more: it
 * waits for the readers, if one of the tracepoints was ever on. It does not
 * where it is called from inside a probe (which can only be a probe that calls
 * exit()), nor at the end of the process, when nothing is unmapped.
 */
TP_PUBLIC void tp_module_load(struct tp_module *module);
TP_PUBLIC void tp_module_unload(struct tp_module *module);

#ifdef __cplusplus
}
#endif

#endif /* TP_MODULE_H */
