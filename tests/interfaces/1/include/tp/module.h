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
struct tp_definition {
	int32_t tracepoint;
	int32_t text;
	int32_t iterate;
	int32_t event;
	int32_t event_class;
	int32_t record, print;
	int32_t line;
	int32_t loglevel;
};
struct marker {
	struct tracepoint tp;
	const char *name;
	const char *format;
	struct tp_event *event;
};
struct tp_marker_pointers {
	struct marker *marker;
	const char *text;
	int line;
} __attribute__((aligned(8)));
enum tp_module_state {
	TP_MODULE_UNLOADED,
	TP_MODULE_LISTED,
	TP_MODULE_LINKED,
};
struct tp_module {
	uint32_t interface;
	uint16_t size;
	uint16_t tracepoint_size;
	uint16_t probe_size;
	uint16_t event_size;
	uint16_t marker_size;
	uint16_t site_size;
	uint16_t import_size;
	uint16_t definition_size;
	const struct tp_definition *definitions, *definitions_end;
	const struct tp_definition *markers_defined, *markers_defined_end;
	struct tp_marker_pointers *marker_pointers, *marker_pointers_end;
	struct tp_import **imports, **imports_end;
	const struct tp_site *sites, *sites_end;
	struct tracepoint **tracepoints, **tracepoints_end;
	struct tp_event **events, **events_end;
	struct marker **markers, **markers_end;
	struct tp_module *next;
	const char *path;
	int state;
};
#define TP_MODULE_HEAD                                                                                       \
	TP_INTERFACE_VERSION, sizeof(struct tp_module), sizeof(struct tracepoint),                           \
		sizeof(struct tracepoint_func), sizeof(struct tp_event), sizeof(struct marker),              \
		sizeof(struct tp_site), sizeof(struct tp_import), sizeof(struct tp_definition)
TP_PUBLIC void tp_module_announce(struct tp_module *module);
TP_PUBLIC void tp_module_load(struct tp_module *module);
TP_PUBLIC void tp_module_unload(struct tp_module *module);
#ifdef __cplusplus
}
#endif
#endif
