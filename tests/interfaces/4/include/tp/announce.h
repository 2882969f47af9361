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
#endif
#endif
#ifndef TP_RETAIN
#define TP_RETAIN
#endif
#define TP_ANNOUNCE(type, section_name, symbol) \
	static struct type *__##symbol##_ptr __attribute__((used, section(section_name) TP_RETAIN)) = &symbol
extern struct tracepoint *__start_tp_tracepoints[] TP_HIDDEN __attribute__((weak));
extern struct tracepoint *__stop_tp_tracepoints[] TP_HIDDEN __attribute__((weak));
extern struct tp_event *__start_tp_events[] TP_HIDDEN __attribute__((weak));
extern struct tp_event *__stop_tp_events[] TP_HIDDEN __attribute__((weak));
extern struct tp_import *__start_tp_imports[] TP_HIDDEN __attribute__((weak));
extern struct tp_import *__stop_tp_imports[] TP_HIDDEN __attribute__((weak));
extern const struct tp_site __start_tp_sites[] TP_HIDDEN __attribute__((weak));
extern const struct tp_site __stop_tp_sites[] TP_HIDDEN __attribute__((weak));
struct tp_module __tp_module TP_HIDDEN __attribute__((weak)) = {
	__start_tp_tracepoints, __stop_tp_tracepoints,
	__start_tp_events,      __stop_tp_events,
	__start_tp_imports,     __stop_tp_imports,
	__start_tp_sites,       __stop_tp_sites,
	NULL,                   NULL,
	false,
};
static void __attribute__((constructor(101))) __tp_module_constructor(void)
{
	tp_module_load(&__tp_module);
}
static void __attribute__((destructor(101))) __tp_module_destructor(void)
{
	tp_module_unload(&__tp_module);
}
#ifdef __cplusplus
}
#endif
#endif
