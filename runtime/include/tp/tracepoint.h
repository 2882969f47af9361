/* SPDX-License-Identifier: MIT */
/*
 * tp/tracepoint.h - tracepoints and the probes that are called from them.
 *
 * This is all that a call site needs; the headers that tpgen writes include
 * it. The names are the Linux kernel's (include/linux/tracepoint.h) for what
 * the kernel has, and begin with tp_ for what is ours.
 *
 * A tracepoint is "off" while no probe is registered on it, and then costs a
 * load and a branch. While it is "on", each probe is called in the context of
 * the thread that hits it, in order of priority, inside an RCU read-side
 * critical section (liburcu, flavour "bp"): tracepoints may be hit from any
 * thread, from signal handlers, and from within a probe.
 *
 * Functions that return int return 0 or a negative errno value.
 * Register, unregister and synchronize may be called from any thread and,
 * but for synchronize, from inside a probe. None of them may be called from
 * a signal handler: they take a lock and allocate memory.
 *
 * A module that is unloaded (dlclose) waits for all probe calls that run, if
 * one of its tracepoints was ever on; and the loader's lock is held then. So
 * a probe must not use the loader (dlopen, dlsym, dladdr ...) in a program
 * that unloads modules. At the end of the process nothing waits for probes.
 *
 * After a fork inside a probe the child must do nothing but exec or _exit:
 * liburcu's locks may be those of a thread that the child doesn't have.
 */
#ifndef TP_TRACEPOINT_H
#define TP_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The contract between generated headers and the runtime. tpgen writes the
 * number that it was made for into each header; where the two differ, the
 * header says to run tpgen again.
 */
#define TP_INTERFACE_VERSION 2

#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_PUBLIC __attribute__((visibility("default")))
#define TP_UNUSED __attribute__((unused))

/*
 * A string that a record may keep a pointer to, as it stays where it is. The
 * kernel puts such strings where its tools find them; here they are what they
 * are, and their module must be loaded when the record is printed.
 */
#define tracepoint_string(str) (str)
#define __tracepoint_string __attribute__((used))

/*
 * Any probe. A probe takes the data pointer that it was registered with,
 * then the arguments of the tracepoint's prototype; it is called through a
 * pointer of that exact type only.
 */
typedef void (*tp_probe_t)(void);

/*
 * probe, if it is one for the tracepoint name (or NULL, which registration
 * answers with -EINVAL); otherwise the program does not compile. Compilers
 * older than gcc 14 and clang 16 would only warn of a wrong pointer type.
 */
#define tp_check_probe(name, probe) _Generic((probe), tp_probe_fn_##name * : (probe), void * : (probe))

/*
 * An element of a probe array. An array ends with the first NULL func.
 *
 * A published array changes in one way only: where there is no memory for a
 * copy without a removed element, its func becomes TP_REMOVED, which is
 * no function. Readers load func once, and skip such an element; data stays,
 * as a reader may have loaded the func before. The next copy leaves it out.
 */
struct tracepoint_func {
	tp_probe_t func;
	void *data;
	int prio;
};

#define TP_REMOVED ((tp_probe_t)1)

/* Of two probes the one with the higher priority is called first; equal ones in order of registration. */
#define TRACEPOINT_DEFAULT_PRIO 10

/*
 * One tracepoint as one module (the program or a shared object) defines it.
 * tpgen generates one per tracepoint, named __tracepoint_NAME. All modules'
 * definitions of one name share their probes. Everything but the members
 * that a call site reads belongs to the runtime.
 */
struct tracepoint {
	int enabled;                  /* read by call sites; 1 while there are probes */
	struct tracepoint_func *funcs; /* the probe array, under RCU; NULL while there are none */
	const char *name;             /* "sched_switch": global to the process */
	const char *proto;            /* "struct task_struct *, struct task_struct *", without parameter names */
	const char *file;             /* where it is defined: the .tp file as tpgen was given it, ... */
	int line;                     /* ... and the line, from 1 */
	/*
	 * Called where the first probe is about to come, and when the last has
	 * gone, for this module's tracepoint each; NULL where there is nothing to
	 * do. regfunc returns 0, or a negative errno value, and then the probe is
	 * not registered; or, if probes were waiting for the module when it was
	 * loaded, this tracepoint stays off, which is said on stderr. Loading,
	 * unloading and the end of the process count as coming and going. When
	 * unregfunc is called, probes may still be running.
	 *
	 * They run under the registry's lock, and under others of the runtime: they
	 * must not register, unregister or synchronize, enable events, open or
	 * close sinks, nor use the loader (dlopen, dlsym, dladdr ...), fork, or wait for
	 * a thread that does. They may hit tracepoints.
	 */
	int (*regfunc)(void);
	void (*unregfunc)(void);
	void *reserved[2];            /* for the runtime */
};

/* The load of the off state. Relaxed: a site may see a change late, never torn. */
static inline bool tp_enabled(const struct tracepoint *tp)
{
	return __builtin_expect(__atomic_load_n(&tp->enabled, __ATOMIC_RELAXED), 0);
}

/*
 * Whether a tracepoint has probes, for headers that must not include the
 * generated one: DECLARE_TRACEPOINT(name) in front, then
 * tracepoint_enabled(name). The tracepoint must be one of this module's.
 */
#define DECLARE_TRACEPOINT(name) extern struct tracepoint __tracepoint_##name
#define tracepoint_enabled(name) tp_enabled(&__tracepoint_##name)

/* For a header that defines a declaration macro itself, to make nothing but an empty function of it. */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__

/*
 * In a C file, both only say what must be so already: CREATE_TRACE_POINTS
 * has made the definition, and the .tp file the export, as every module
 * that links to the tracepoint must see it.
 */
#define DEFINE_TRACE(...) TP_DEFINE_TRACE(__VA_ARGS__, 0)
#define TP_DEFINE_TRACE(name, ...) extern struct tracepoint __tracepoint_##name
#define EXPORT_TRACEPOINT_SYMBOL(name) \
	_Static_assert(EXPORT_TRACEPOINT_SYMBOL_of_##name##_belongs_in_its_tp_file, "")
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_TRACEPOINT_SYMBOL(name)

/*
 * Registers a probe by name. The tracepoint need not exist yet: the probe is
 * attached when a module that defines it is loaded, detached when that module
 * is unloaded, attached again when it comes back.
 *
 * proto is the prototype's types, as in struct tracepoint; the generated
 * register_trace_NAME() passes it, so that the compiler checks the probe and
 * the runtime checks the module.
 *
 * -EEXIST  this func with this data is registered already
 * -EINVAL  func, name or proto is NULL, or the name is known with another prototype
 * -ENOMEM  nothing has changed
 */
TP_PUBLIC int tp_probe_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio);

/*
 * Takes a probe off. After the return no new call of it begins; a call that
 * another thread is in may still run until the next
 * tracepoint_synchronize_unregister() returns. Needs no memory, so it can't
 * fail for the want of it.
 *
 * -ENOENT  this func with this data is not registered
 * -EINVAL  func or name is NULL
 */
TP_PUBLIC int tp_probe_unregister(const char *name, tp_probe_t func, void *data);

/* The kernel's calls for one tracepoint; the same as above with its name and prototype. */
TP_PUBLIC int tracepoint_probe_register(struct tracepoint *tp, tp_probe_t func, void *data);
TP_PUBLIC int tracepoint_probe_register_prio(struct tracepoint *tp, tp_probe_t func, void *data, int prio);
TP_PUBLIC int tracepoint_probe_unregister(struct tracepoint *tp, tp_probe_t func, void *data);

/*
 * Returns when every probe call that was running when it was called has
 * ended: what was unregistered before is certainly not running any more, so
 * that its data can be freed and its code unloaded.
 *
 * Also frees what registering and unregistering have left behind, a few dozen
 * bytes each time: they never wait themselves. A program that does either
 * over and over calls this now and then.
 *
 * Must not be called from inside a probe, which would wait for itself (it
 * says so on stderr, and returns at once), nor with a lock held that a probe
 * takes.
 */
TP_PUBLIC void tracepoint_synchronize_unregister(void);

/*
 * Calls fct for each tracepoint of each loaded module, in no particular
 * order, under the registry's lock: fct must not register, unregister or
 * load modules.
 */
TP_PUBLIC void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv);

#ifdef __cplusplus
}
#endif

#endif /* TP_TRACEPOINT_H */
