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
 * What one module (the program or a shared object) holds. The linker gathers
 * it in sections: of pointers, but for the sites.
 */
struct tp_module {
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
