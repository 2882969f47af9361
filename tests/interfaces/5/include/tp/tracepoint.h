/* SPDX-License-Identifier: MIT */
#ifndef TP_TRACEPOINT_H
#define TP_TRACEPOINT_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define TP_INTERFACE_VERSION 5
#define TP_VERSION_MAJOR 0
#define TP_VERSION_MINOR 1
#define TP_VERSION_PATCH 0
#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_PUBLIC __attribute__((visibility("default")))
#define TP_UNUSED __attribute__((unused))
#if defined(__x86_64__) && !defined(__code_model_large__)
#define TP_SYMBOL_OPERAND "i"
#elif defined(__aarch64__)
#define TP_SYMBOL_OPERAND "S"
#endif
#define tracepoint_string(str) (str)
#define __tracepoint_string __attribute__((used))
typedef void (*tp_probe_t)(void);
#define tp_check_probe(name, probe) _Generic((probe), tp_probe_fn_##name * : (probe), void * : (probe))
struct tracepoint_func {
	tp_probe_t func;
	void *data;
	int prio;
	const int *gate;
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
	unsigned int loads;
	unsigned char state;
	bool used;
	bool changed;
	tp_probe_t behind_gate;
	const int *gate;
};
static inline bool tp_enabled(const struct tracepoint *tp)
{
	return __builtin_expect(__atomic_load_n(&tp->enabled, __ATOMIC_RELAXED), 0);
}
#define DECLARE_TRACEPOINT(name) extern struct tracepoint __tracepoint_##name
#define tracepoint_enabled(name) tp_enabled(&__tracepoint_##name)
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__
#define DEFINE_TRACE(...) TP_DEFINE_TRACE(__VA_ARGS__, 0)
#define TP_DEFINE_TRACE(name, ...) extern struct tracepoint __tracepoint_##name
#define EXPORT_TRACEPOINT_SYMBOL(name) \
	_Static_assert(EXPORT_TRACEPOINT_SYMBOL_of_##name##_belongs_in_its_tp_file, "")
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_TRACEPOINT_SYMBOL(name)
TP_PUBLIC int tp_registry_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio);
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
	return tp ? tp_probe_register(tp->name, tp->proto, func, data, prio) : -EINVAL;
}
static inline int tracepoint_probe_register(struct tracepoint *tp, tp_probe_t func, void *data)
{
	return tracepoint_probe_register_prio(tp, func, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int tracepoint_probe_unregister(struct tracepoint *tp, tp_probe_t func, void *data)
{
	return tp ? tp_probe_unregister(tp->name, func, data) : -EINVAL;
}
TP_PUBLIC int tracepoint_synchronize_unregister(void);
TP_PUBLIC void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv);
struct tp_tracepoint_info {
	enum tp_state state;
	const char *module;
	unsigned int nr_sites;
	unsigned int nr_probes;
};
TP_PUBLIC void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info);
#define TP_LIMIT_RECURSION(limit)                                                                    \
	static __thread volatile unsigned int __tp_depth __attribute__((tls_model("initial-exec"))); \
	if (__tp_depth >= (limit))                                                                   \
		return;                                                                              \
	__attribute__((cleanup(tp_leave_recursion), unused)) volatile unsigned int *__tp_level =     \
		&__tp_depth;                                                                          \
	__tp_depth = __tp_depth + 1
static inline void tp_leave_recursion(volatile unsigned int **depth)
{
	**depth = **depth - 1;
}
#ifdef __cplusplus
}
#endif
#endif
