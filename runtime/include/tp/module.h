/* SPDX-License-Identifier: MIT */
/*
 * tp/module.h - announces a module's tracepoints, events and sites to the
 * runtime. tp/announce.h does this for every program; other uses are rare.
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

/* A site: distances to its instruction and to its tracepoint; on arm64 also to the branch's target. See tp/site.h. */
struct tp_site {
	int32_t code;
	int32_t key;
#ifdef __aarch64__
	int32_t target;
#endif
};

/*
 * What a module says of one of its tracepoints and of its event, or of a marker.
 * From it the runtime fills in struct tracepoint, struct tp_event and struct
 * marker, as soon as somebody asks for a tracepoint; until then they are zeros,
 * for which no file has bytes and the loader has no work.
 *
 * The first members are distances in bytes, each from the member itself; 0: there
 * is none. "tp list FILE" reads them, too.
 */
struct tp_definition {
	int32_t tracepoint;      /* of a marker to its struct marker, of which the tracepoint is the first member */
	int32_t text;            /* its name, prototype and file, then the event's system; a NUL ends each */
	int32_t iterate;         /* none: a marker; or a custom event's, which only names a tracepoint */
	int32_t event;
	int32_t event_class;
	int32_t record, print;
	int32_t line;
	int32_t loglevel;
};

/*
 * A marker: one trace_mark() in a module's code. All markers of one name share their probes.
 */
struct marker {
	struct tracepoint tp;    /* tp.name is "marker:" and the name, tp.proto the format; tp.file, tp.line: its place */
	const char *name;        /* "kernel_sched_switch": global to the process, and so are its probes */
	const char *format;
	struct tp_event *event;  /* the runtime's: the event of all markers of this name and format; NULL: no event */
};

/* The definition of a marker where assembler code can't make a struct tp_definition for it; aligned to 8 bytes. */
struct tp_marker_pointers {
	struct marker *marker;
	const char *text;
	int line;
} __attribute__((aligned(8)));

enum tp_module_state {
	TP_MODULE_UNLOADED,
	TP_MODULE_LISTED, /* its tracepoints are off: nobody has asked for one yet */
	TP_MODULE_LINKED, /* they have what is registered on their names */
};

/*
 * The contents of one module (the program or a shared object). The linker
 * gathers them in sections.
 *
 * The first members tell the library which interface and which sizes of
 * structures the module was compiled with. If the library does not serve that
 * interface, the module stays off, after a message. The member interface
 * stays the first one for ever.
 */
struct tp_module {
	uint32_t interface;       /* TP_INTERFACE_VERSION */
	uint16_t size;            /* bytes of this structure; the next members are those of structures that it leads to */
	uint16_t tracepoint_size;
	uint16_t probe_size;      /* of struct tracepoint_func: iterators walk over an array of these */
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
	/* The rest is the runtime's. The lists are in its memory; a module without definitions brings its own. */
	struct tracepoint **tracepoints, **tracepoints_end;
	struct tp_event **events, **events_end;
	struct marker **markers, **markers_end;
	struct tp_module *next; /* in order of loading */
	const char *path;
	int state;              /* enum tp_module_state */
};

/* The initializers of those first members, in order. */
#define TP_MODULE_HEAD                                                                                       \
	TP_INTERFACE_VERSION, sizeof(struct tp_module), sizeof(struct tracepoint),                           \
		sizeof(struct tracepoint_func), sizeof(struct tp_event), sizeof(struct marker),              \
		sizeof(struct tp_site), sizeof(struct tp_import), sizeof(struct tp_definition)

/*
 * Each file that creates or imports tracepoints announces its module in a
 * constructor, and unloads it in a destructor. If several files of a module
 * do so, only the first announcement and the first unload count.
 *
 * tp_module_announce() does the same as tp_module_load(). Its first call also
 * looks at TP_ENABLE and TP_OUTPUT.
 *
 * After tp_module_unload() the runtime uses nothing of the module's code and
 * data any more: if one of the tracepoints was ever on, it waits for the
 * readers. It does not wait
 * - inside a probe (only a probe that calls exit() can get there),
 * - at the end of the process, when nothing is unmapped.
 */
TP_PUBLIC void tp_module_announce(struct tp_module *module);
TP_PUBLIC void tp_module_load(struct tp_module *module);
TP_PUBLIC void tp_module_unload(struct tp_module *module);

#ifdef __cplusplus
}
#endif

#endif /* TP_MODULE_H */
