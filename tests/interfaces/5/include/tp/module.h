/* SPDX-License-Identifier: MIT */
#ifndef TP_MODULE_H
#define TP_MODULE_H
#include <stdint.h>
#include <tp/event.h>
#include <tp/site.h>
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
struct tp_site {
	int32_t code;
	int32_t key;
#ifdef __aarch64__
	int32_t target;
#endif
};
struct tp_module {
	struct tracepoint **tracepoints, **tracepoints_end;
	struct tp_event **events, **events_end;
	struct tp_import **imports, **imports_end;
	struct tracepoint **markers, **markers_end;
	const struct tp_site *sites, *sites_end;
	struct tp_module *next;
	const char *path;
	bool loaded;
};
TP_PUBLIC void tp_module_load(struct tp_module *module);
TP_PUBLIC void tp_module_unload(struct tp_module *module);
#ifdef __cplusplus
}
#endif
#endif
