/* SPDX-License-Identifier: MIT */
#ifndef TP_TRACEPOINT_H
#define TP_TRACEPOINT_H
#if !defined(__cplusplus) && defined(__STRICT_ANSI__) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "tracepoints need C99: compile with -std=c99, -std=gnu89 or anything later; best is -std=gnu11"
#endif
#ifdef TP_DISABLED
#error "TP_DISABLED is defined, which is for builds without this runtime: put the #include of <tp/...> into #ifndef TP_DISABLED"
#endif
#ifdef tracepoint
#error "<lttng/tracepoint.h> has made a macro of the name tracepoint: include it after this header, or compile with -DLTTNG_UST_COMPAT_API_VERSION=1"
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef TP_INTERFACE_VERSION
#define TP_INTERFACE_VERSION 1
#endif
#define TP_OF_INTERFACE(name) TP_PASTE(name, TP_INTERFACE_VERSION)
#define TP_PASTE(name, number) TP_PASTE_EXPANDED(name, number)
#define TP_PASTE_EXPANDED(name, number) name##_##number
#define TP_SECTION(name) name "_" TP_QUOTE(TP_INTERFACE_VERSION)
#define TP_QUOTE(number) TP_QUOTE_EXPANDED(number)
#define TP_QUOTE_EXPANDED(number) #number
#define TP_VERSION "1.0.0~rc1"
#define TP_VERSION_MAJOR 1
#define TP_VERSION_MINOR 0
#define TP_VERSION_PATCH 0
#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_PUBLIC __attribute__((visibility("default")))
#define TP_UNUSED __attribute__((unused))
#ifdef __cplusplus
#define TP_CPP_OR_C(cpp, ...) cpp
#else
#define TP_CPP_OR_C(cpp, ...) __VA_ARGS__
#endif
#if defined(__x86_64__) && !defined(__code_model_large__)
#define TP_SYMBOL_OPERAND "i"
#elif defined(__aarch64__)
#define TP_SYMBOL_OPERAND "S"
#endif
#define tracepoint_string(str) (str)
#define __tracepoint_string __attribute__((used))
typedef void (*tp_probe_t)(void);
union tp_probe_of_another_type {
	char unused;
};
#define TP_PROBE_OF(type, probe)                                    \
	_Generic((probe), type * : (probe), void * : (probe), \
		 default : (union tp_probe_of_another_type){ 0 })
#define tp_check_probe(name, probe) TP_PROBE_OF(tp_probe_fn_##name, probe)
struct tracepoint_func {
	tp_probe_t func;
	void *data;
	int prio;
	const int *enable_flag;
};
#define TP_REMOVED ((tp_probe_t)1)
#define TRACEPOINT_DEFAULT_PRIO 10
enum tp_state {
	TP_STATE_UNLOADED,
	TP_STATE_OFF,
	TP_STATE_ON,
	TP_STATE_REFUSED,
	TP_STATE_FAILED,
};
struct tp_module;
struct tp_name;
struct tp_site;
struct tracepoint {
	int enabled;
	int line;
	struct tracepoint_func *funcs;
	tp_probe_t iterate;
	const char *name;
	const char *proto;
	const char *file;
	int (*regfunc)(void);
	void (*unregfunc)(void);
	struct tp_name *registered;
	struct tracepoint *next;
	struct tracepoint *next_changed;
	struct tp_module *module;
	const struct tp_site *sites, *sites_end;
	unsigned char state;
	bool used;
	bool changed;
	tp_probe_t flag_iterate;
	const int *enable_flag;
};
static inline bool tp_tracepoint_is_on(const struct tracepoint *tp)
{
	return __builtin_expect(__atomic_load_n(&tp->enabled, __ATOMIC_RELAXED), 0);
}
#define DECLARE_TRACEPOINT(name) extern struct tracepoint __tracepoint_##name
#define tracepoint_enabled(name) tp_tracepoint_is_on(&__tracepoint_##name)
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__
#define DEFINE_TRACE(...) TP_DEFINE_TRACE(__VA_ARGS__, 0)
#define TP_DEFINE_TRACE(name, ...) extern struct tracepoint __tracepoint_##name
#define EXPORT_TRACEPOINT_SYMBOL(name) \
	extern const char tp_exported[EXPORT_TRACEPOINT_SYMBOL_of_##name##_belongs_in_its_tp_file]
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_TRACEPOINT_SYMBOL(name)
TP_PUBLIC int tp_registry_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio);
TP_PUBLIC int tp_registry_register_on(const struct tracepoint *tp, tp_probe_t func, void *data, int prio);
TP_PUBLIC void tp_registry_remove_object(const void *address);
#ifdef TP_SYMBOL_OPERAND
static inline void tp_object_destructor(void)
{
	tp_registry_remove_object((const void *)(uintptr_t)tp_object_destructor);
}
static inline void tp_remove_probes_at_unload(void)
{
	__asm__ volatile(".ifndef .Ltp_object_destructor\n\t"
			 ".set .Ltp_object_destructor, 1\n\t"
			 ".pushsection .fini_array.00100, \"aw\", %%fini_array\n\t"
			 ".balign 8\n\t"
			 ".dc.a %c0\n\t"
			 ".popsection\n\t"
			 ".endif"
			 :
			 : TP_SYMBOL_OPERAND(tp_object_destructor));
}
#else
static inline void tp_remove_probes_at_unload(void)
{
}
#endif
static inline int tp_probe_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio)
{
	tp_remove_probes_at_unload();
	return tp_registry_register(name, proto, func, data, prio);
}
TP_PUBLIC int tp_probe_unregister(const char *name, tp_probe_t func, void *data);
static inline int tracepoint_probe_register_prio(struct tracepoint *tp, tp_probe_t func, void *data, int prio)
{
	tp_remove_probes_at_unload();
	return tp_registry_register_on(tp, func, data, prio);
}
static inline int tracepoint_probe_register(struct tracepoint *tp, tp_probe_t func, void *data)
{
	return tracepoint_probe_register_prio(tp, func, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int tracepoint_probe_unregister(struct tracepoint *tp, tp_probe_t func, void *data)
{
	if (tp && !tp->name)
		return -ENOENT;
	return tp ? tp_probe_unregister(tp->name, func, data) : -EINVAL;
}
TP_PUBLIC int tracepoint_synchronize_unregister(void);
TP_PUBLIC void tp_for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *data), void *data);
struct tp_tracepoint_info {
	enum tp_state state;
	const char *module;
	unsigned int nr_sites;
	unsigned int nr_probes;
};
static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info);
TP_PUBLIC void tp_get_tracepoint_info_sized(const struct tracepoint *tp, struct tp_tracepoint_info *info, size_t size);
static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info)
{
	tp_get_tracepoint_info_sized(tp, info, sizeof(*info));
}
#ifdef __GLIBC__
#define TP_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TP_TLS_MODEL
#endif
#define TP_LIMIT_RECURSION(limit)                                                                    \
	static __thread volatile unsigned int __tp_depth TP_TLS_MODEL;                           \
	if (__tp_depth >= (limit))                                                               \
		return;                                                                          \
	__attribute__((cleanup(tp_leave_recursion), unused)) volatile unsigned int *__tp_level = \
		&__tp_depth;                                                                     \
	__tp_depth = __tp_depth + 1
static inline void tp_leave_recursion(volatile unsigned int **depth)
{
	**depth = **depth - 1;
}
#ifdef __cplusplus
}
#endif
#endif
