/* SPDX-License-Identifier: MIT */
/*
 * tp/announce.h - announces a module to the runtime when the module is loaded,
 * and removes it when it is unloaded. Included by files that create
 * tracepoints, and by files that use another module's.
 *
 * A file that is compiled with -DTP_ENVIRONMENT=0 announces the module without
 * looking at TP_ENABLE and TP_OUTPUT. If all files of all modules of a process
 * do so, the environment switches nothing on, and the linker takes from
 * libtp.a only the parts that the program calls. The program's own probes and
 * sinks still work.
 */
#ifndef TP_ANNOUNCE_H
#define TP_ANNOUNCE_H

#include <tp/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing refers to the contents of these sections, and lld would drop them with --gc-sections. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define TP_RETAIN , retain
#define TP_RETAIN_FLAG "R"
#endif
#endif
#ifndef TP_RETAIN
#define TP_RETAIN
#define TP_RETAIN_FLAG ""
#endif

/* A pointer, not the structure itself: AddressSanitizer puts red zones between structures. */
#define TP_ANNOUNCE(type, section_name, symbol) \
	static struct type *__##symbol##_ptr __attribute__((used, section(TP_SECTION(section_name)) TP_RETAIN)) = &symbol

extern const struct tp_definition TP_OF_INTERFACE(__start_tp_definitions)[] TP_HIDDEN __attribute__((weak));
extern const struct tp_definition TP_OF_INTERFACE(__stop_tp_definitions)[] TP_HIDDEN __attribute__((weak));
extern const struct tp_definition TP_OF_INTERFACE(__start_tp_markers)[] TP_HIDDEN __attribute__((weak));
extern const struct tp_definition TP_OF_INTERFACE(__stop_tp_markers)[] TP_HIDDEN __attribute__((weak));
extern struct tp_marker_pointers TP_OF_INTERFACE(__start_tp_marker_pointers)[] TP_HIDDEN __attribute__((weak));
extern struct tp_marker_pointers TP_OF_INTERFACE(__stop_tp_marker_pointers)[] TP_HIDDEN __attribute__((weak));
extern struct tp_import *TP_OF_INTERFACE(__start_tp_imports)[] TP_HIDDEN __attribute__((weak));
extern struct tp_import *TP_OF_INTERFACE(__stop_tp_imports)[] TP_HIDDEN __attribute__((weak));
extern const struct tp_site TP_OF_INTERFACE(__start_tp_sites)[] TP_HIDDEN __attribute__((weak));
extern const struct tp_site TP_OF_INTERFACE(__stop_tp_sites)[] TP_HIDDEN __attribute__((weak));

/* Weak and hidden: each module has one, even if several of its files announce it. */
struct tp_module TP_OF_INTERFACE(__tp_module) TP_HIDDEN __attribute__((weak)) = {
	TP_MODULE_HEAD,
	TP_OF_INTERFACE(__start_tp_definitions), TP_OF_INTERFACE(__stop_tp_definitions),
	TP_OF_INTERFACE(__start_tp_markers), TP_OF_INTERFACE(__stop_tp_markers),
	TP_OF_INTERFACE(__start_tp_marker_pointers), TP_OF_INTERFACE(__stop_tp_marker_pointers),
	TP_OF_INTERFACE(__start_tp_imports), TP_OF_INTERFACE(__stop_tp_imports),
	TP_OF_INTERFACE(__start_tp_sites), TP_OF_INTERFACE(__stop_tp_sites),
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, TP_MODULE_UNLOADED,
};

#ifndef TP_ENVIRONMENT
#define TP_ENVIRONMENT 1
#endif

/* 101 is the earliest priority that programs may use, so the program's own constructors can hit tracepoints. */
static void __attribute__((constructor(101))) __tp_module_constructor(void)
{
#if TP_ENVIRONMENT
	tp_module_announce(&TP_OF_INTERFACE(__tp_module));
#else
	tp_module_load(&TP_OF_INTERFACE(__tp_module));
#endif
}

static void __attribute__((destructor(101))) __tp_module_destructor(void)
{
	tp_module_unload(&TP_OF_INTERFACE(__tp_module));
}

#ifdef __cplusplus
}
#endif

#endif /* TP_ANNOUNCE_H */
