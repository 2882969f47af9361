/* SPDX-License-Identifier: MIT */
#ifndef TP_ANNOUNCE_H
#define TP_ANNOUNCE_H
#include <tp/module.h>
#ifdef __cplusplus
extern "C" {
#endif
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
#endif
