/* SPDX-License-Identifier: MIT */
/*
 * tp/module.h - how a module's tracepoints, events and sites become known to
 * the runtime. tp/announce.h does this for every program; other uses are rare.
 */
#ifndef TP_MODULE_H
#define TP_MODULE_H

#include <stdint.h>

#include <tp/event.h>
#include <tp/site.h>
#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A site: its static key, and that of which tracepoint. tp/site.h says what the distances are. */
struct tp_site {
	int32_t code;
	int32_t key;
#ifdef __aarch64__
	int32_t target;
#endif
};

/*
 * One place in a module where trace_mark() stands. All of one name share their probes.
 */
struct marker {
	struct tracepoint tp;    /* tp.name is "marker:" and the name, tp.proto the format; tp.file, tp.line: where */
	const char *name;        /* "kernel_sched_switch": global to the process, as are its probes */
	const char *format;
	struct tp_event *event;  /* the runtime's: what all of this name and format are to sinks. NULL: no event */
};

/*
 * What one module (the program or a shared object) holds. The linker gathers
 * it in sections: of pointers, but for the sites.
 *
 * The first members say what its files were compiled with, so that a library
 * knows what it is given. A module of an interface that it does not serve stays
 * off, after a message. interface stays the first member for ever.
 */
struct tp_module {
	uint32_t interface;       /* TP_INTERFACE_VERSION */
	uint16_t size;            /* bytes of this structure, and of those that it leads to */
	uint16_t tracepoint_size;
	uint16_t probe_size;      /* struct tracepoint_func, which the iterators walk over */
	uint16_t event_size;
	uint16_t class_size;
	uint16_t field_size;
	uint16_t marker_size;
	uint16_t site_size;
	uint16_t import_size;
	struct tracepoint **tracepoints, **tracepoints_end;
	struct tp_event **events, **events_end;
	struct tp_import **imports, **imports_end;
	struct tracepoint **markers, **markers_end; /* the first members of struct marker: tp/marker.h */
	const struct tp_site *sites, *sites_end;
	/* The rest is the runtime's. */
	struct tp_module *next; /* in order of loading */
	const char *path;
	bool loaded;
};

/* Those first members, in their order. */
#define TP_MODULE_HEAD                                                                                       \
	TP_INTERFACE_VERSION, sizeof(struct tp_module), sizeof(struct tracepoint),                           \
		sizeof(struct tracepoint_func), sizeof(struct tp_event), sizeof(struct tp_event_class),      \
		sizeof(struct tp_event_field), sizeof(struct marker), sizeof(struct tp_site),                \
		sizeof(struct tp_import)

/*
 * Each file that creates or imports tracepoints announces its module in a
 * constructor, and takes it back in a destructor. Of several calls for one
 * module the first counts, and of unload, too.
 *
 * tp_module_announce() is tp_module_load(), and looks at TP_ENABLE and
 * TP_OUTPUT, when it is first called.
 *
 * After tp_module_unload() nothing of the module's code and data is used any
 * more: it waits for the readers, if one of the tracepoints was ever on. It
 * does not wait where it is called from inside a probe (which can only be a
 * probe that calls exit()), nor at the end of the process, when nothing is
 * unmapped.
 */
TP_PUBLIC void tp_module_announce(struct tp_module *module);
TP_PUBLIC void tp_module_load(struct tp_module *module);
TP_PUBLIC void tp_module_unload(struct tp_module *module);

#ifdef __cplusplus
}
#endif

#endif /* TP_MODULE_H */
