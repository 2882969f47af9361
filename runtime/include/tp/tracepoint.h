/* SPDX-License-Identifier: MIT */
/*
 * tp/tracepoint.h - tracepoints, and the probes that they call.
 *
 * The headers that tpgen writes include this one. Names that the Linux kernel
 * has too are the kernel's (include/linux/tracepoint.h); all others begin with
 * tp_ or TP_.
 *
 * A tracepoint is "off" while no probe is registered on it. Each of its sites
 * then costs one instruction that does nothing, or a load and a branch
 * (tp/site.h). While it is "on", a hit calls each probe in the thread that hits
 * the tracepoint, in order of priority, inside an RCU read-side critical section
 * (liburcu, flavour "bp"). Code can hit tracepoints in any thread, in signal
 * handlers, on any stack, inside malloc, in the last destructors of a thread,
 * and inside a probe.
 *
 * Functions that return int return 0 or a negative errno value.
 *
 * Register and unregister can be called from any thread, from constructors and
 * destructors, and inside a probe, even a probe of the same tracepoint.
 * Synchronize can be called there too, but inside a probe it only returns
 * -EDEADLK. None of the three may be called from a signal handler: they take a
 * lock.
 *
 * A probe that hits its own tracepoint is called again, and so on until the
 * stack overflows, as in the kernel. TP_LIMIT_RECURSION prevents this.
 *
 * The runtime can't make the following safe:
 *
 * - dlclose() of a module that has tracepoints or probes waits for the probe
 *   calls that are running. The loader's lock is held meanwhile. So a probe must
 *   not unload such a module; and in a program that unloads modules, a probe
 *   must not use the loader (dlopen, dlsym, dladdr ...). If a destructor unloads
 *   a module at the end of the process, nothing waits.
 * - When a module is unloaded, the runtime removes its probes only if the module
 *   itself has registered them, by a function of this header. A probe that
 *   another module has registered must be unregistered before.
 * - Fork inside a probe, while another thread waits for a grace period that this
 *   probe delays: the child goes on without tracing. All its tracepoints are
 *   off, register returns -EDEADLK, and a message says so. Such a fork never
 *   returns in two cases: the program uses liburcu-bp itself and waits for a
 *   grace period of its own at that time; or, with glibc 2.28 to 2.35, a third
 *   thread forks at that time.
 * - A signal handler must not fork.
 * - A probe must not throw an exception: the read-side critical section would not
 *   end. If a thread is cancelled or exits inside a probe, the critical section
 *   ends. But if the tracepoint was called by a C++ function that has something
 *   to clean up, the program terminates.
 * - If a probe is left by longjmp(), as by a handler of SIGSEGV, the critical
 *   section ends at the thread's next hit, or its next synchronize, that is called
 *   where the stack is as high, or higher. Until then others wait for it. What the
 *   probe was recording is lost, and counted. With TP_SANDBOX=1 it never ends.
 *   TP_LIMIT_RECURSION takes the thread for being inside for ever. A probe must
 *   not switch to another stack and hit a tracepoint there: that may be taken for
 *   such a longjmp().
 * - While a thread allows asynchronous cancellation, it must not register,
 *   unregister or synchronize, nor hit an event that a sink records, nor hit its
 *   first tracepoint.
 * - At the end of the process nothing waits for probes.
 */
#ifndef TP_TRACEPOINT_H
#define TP_TRACEPOINT_H

#if !defined(__cplusplus) && defined(__STRICT_ANSI__) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "tracepoints need C99: compile with -std=c99, -std=gnu89 or anything later; best is -std=gnu11"
#endif

#ifdef TP_DISABLED /* by a header of "tpgen gen --backend nop", or by -DTP_DISABLED */
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

/*
 * The version of the contract between generated headers and the runtime. tpgen
 * writes the version that it was made for into each header. If it differs from
 * this one, an #error in the header says to run tpgen again.
 */
#ifndef TP_INTERFACE_VERSION /* tests set other versions */
#define TP_INTERFACE_VERSION 1
#endif

/*
 * A program can be linked with a static library that was compiled years ago,
 * for another interface version. So the names and sections by which the linker
 * gathers tracepoints and sites end in the version: the files of each version
 * form a module of their own.
 */
#define TP_OF_INTERFACE(name) TP_PASTE(name, TP_INTERFACE_VERSION)
#define TP_PASTE(name, number) TP_PASTE_EXPANDED(name, number)
#define TP_PASTE_EXPANDED(name, number) name##_##number
#define TP_SECTION(name) name "_" TP_QUOTE(TP_INTERFACE_VERSION)
#define TP_QUOTE(number) TP_QUOTE_EXPANDED(number)
#define TP_QUOTE_EXPANDED(number) #number

/* The project's version, for the Makefile too. Debian's rule: 1.0.0~rc1 is before 1.0.0. */
#define TP_VERSION "1.0.0~rc1"
#define TP_VERSION_MAJOR 1
#define TP_VERSION_MINOR 0
#define TP_VERSION_PATCH 0

#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_PUBLIC __attribute__((visibility("default")))
#define TP_UNUSED __attribute__((unused))

/* A declaration that is not valid in C++: its form for C++, then that for C. TP_CPP_OR_C(int __class_, int class). */
#ifdef __cplusplus
#define TP_CPP_OR_C(cpp, ...) cpp
#else
#define TP_CPP_OR_C(cpp, ...) __VA_ARGS__
#endif

/* The constraint for an operand of asm that is a symbol, even in position-independent code; undefined if none fits. */
#if defined(__x86_64__) && !defined(__code_model_large__)
#define TP_SYMBOL_OPERAND "i"
#elif defined(__aarch64__)
#define TP_SYMBOL_OPERAND "S"
#endif

/*
 * For strings whose address never changes, so that a record can keep a pointer
 * instead of a copy. The kernel puts such strings where its tools find them.
 * Here they stay where they are: the module that contains the string must be
 * loaded when the record is printed.
 */
#define tracepoint_string(str) (str)
#define __tracepoint_string __attribute__((used))

/*
 * A probe of any type. A probe takes the data pointer that it was registered
 * with, then the arguments of the tracepoint's prototype. It is only called
 * through a pointer of its exact type.
 */
typedef void (*tp_probe_t)(void);

/*
 * In C, TP_PROBE_OF(type, probe) is probe, if probe has this type or is NULL
 * (then register returns -EINVAL). Otherwise it is a union, which no compiler
 * accepts as an argument for a function that takes a probe: the program does not
 * compile, and the error names the type that is expected. Without the union,
 * compilers older than gcc 14 and clang 16 would only warn of the pointer's type.
 */
union tp_probe_of_another_type {
	char unused;
};
#define TP_PROBE_OF(type, probe)                                    \
	_Generic((probe), type * : (probe), void * : (probe), \
		 default : (union tp_probe_of_another_type){ 0 })
#define tp_check_probe(name, probe) TP_PROBE_OF(tp_probe_fn_##name, probe)

/*
 * An element of a probe array. The first element with a NULL func ends the array.
 *
 * In a published array only func changes, each time by one store. The runtime
 * can replace it by another function that takes the same data. If the probe is
 * unregistered, func becomes TP_REMOVED, which is not a function: readers load
 * func once, and skip the element if it is TP_REMOVED. data stays, as a reader
 * can have loaded func before the store. The next copy of the array leaves the
 * element out.
 */
struct tracepoint_func {
	tp_probe_t func;
	void *data;
	int prio;
	const int *enable_flag; /* the runtime's; unless it is NULL, func need not be called while *enable_flag is 0 */
};

#define TP_REMOVED ((tp_probe_t)1)

/* Probes with a higher priority are called first, those of equal priority in order of registration. */
#define TRACEPOINT_DEFAULT_PRIO 10

enum tp_state {
	TP_STATE_UNLOADED, /* its module is not announced yet, or is unloaded, or nobody has asked for a tracepoint yet */
	TP_STATE_OFF,      /* no probes */
	TP_STATE_ON,
	TP_STATE_REFUSED,  /* off for ever: another module defines the name with another prototype */
	TP_STATE_FAILED,   /* off: its regfunc, or the switching of its sites has failed */
};

struct tp_module;
struct tp_name;
struct tp_site;

/*
 * One tracepoint, as one module (the program or a shared object) defines it.
 * tpgen generates one per tracepoint, named __tracepoint_NAME. If several
 * modules define one name, their tracepoints share the probes. Call sites read
 * some of the members; the others belong to the runtime.
 *
 * Until somebody asks for a tracepoint, all is 0 but regfunc and unregfunc: then
 * the runtime fills in what the module's struct tp_definition says (tp/module.h).
 */
struct tracepoint {
	int enabled;                  /* 1 while there are probes; sites without a static key read it */
	int line;                     /* the line of its definition in file, from 1 */
	struct tracepoint_func *funcs; /* the probe array, under RCU; NULL while there are none */
	tp_probe_t iterate;           /* calls the probes; has their type, with the tracepoint as data */
	const char *name;             /* "sched_switch"; a name is global to the process */
	const char *proto;            /* "struct task_struct *, struct task_struct *", without parameter names */
	const char *file;             /* the .tp file, by the path that tpgen was given */
	/*
	 * The runtime calls regfunc before this module's tracepoint gets its
	 * first probe, and unregfunc after it has lost its last one. Loading the
	 * module counts as getting the probes that wait for it; unloading it, and
	 * the end of the process, count as losing them. Either can be NULL.
	 *
	 * regfunc returns
	 *	0
	 *	a negative errno value: the probe is not registered, and register
	 *	returns this value (-ECANCELED for -EAGAIN and -EEXIST). At loading,
	 *	this tracepoint stays off instead, and a message on stderr says so.
	 *
	 * If register fails after a regfunc has returned 0, unregfunc is called.
	 * When unregfunc is called, probes can still be running.
	 *
	 * Both run under the registry's lock and other locks of the runtime.
	 * They must not register, unregister or synchronize, enable events, open
	 * or close sinks, use the loader (dlopen, dlsym, dladdr ...), fork, or
	 * wait for a thread that does any of this. They can hit tracepoints
	 * whose probes do none of this either.
	 */
	int (*regfunc)(void);
	void (*unregfunc)(void);
	/* The rest is the runtime's. */
	struct tp_name *registered;   /* its name; NULL while it is not loaded, and if it was refused */
	struct tracepoint *next;      /* the next one of the same name, in order of loading */
	struct tracepoint *next_changed; /* the next one whose sites are to be switched */
	struct tp_module *module;     /* its own; NULL while that is not loaded */
	const struct tp_site *sites, *sites_end; /* its sites are between these, except those that import it */
	unsigned char state;          /* enum tp_state */
	bool used;                    /* it was on at some time: readers can be in its module's code or data */
	bool changed;                 /* it is in the list of next_changed */
	tp_probe_t flag_iterate;       /* while *enable_flag is not 0, iterate calls this; NULL if there never was a check */
	const int *enable_flag;
};

/* The load that a site without a static key does. It is relaxed: it can see a change late, but never half of it. */
static inline bool tp_tracepoint_is_on(const struct tracepoint *tp)
{
	return __builtin_expect(__atomic_load_n(&tp->enabled, __ATOMIC_RELAXED), 0);
}

/*
 * For headers that must not include the generated one: after
 * DECLARE_TRACEPOINT(name), tracepoint_enabled(name) tells whether the
 * tracepoint has probes. The tracepoint must be one of this module's.
 */
#define DECLARE_TRACEPOINT(name) extern struct tracepoint __tracepoint_##name
#define tracepoint_enabled(name) tp_tracepoint_is_on(&__tracepoint_##name)

/* For headers that define TRACE_EVENT (or the like) themselves, to make each event an empty function. */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__

/*
 * Kernel code has these two in C files. Here they only repeat what must be so
 * already: CREATE_TRACE_POINTS has defined the tracepoint, and the .tp file
 * exports it, as every module that links to the tracepoint must see the export.
 */
#define DEFINE_TRACE(...) TP_DEFINE_TRACE(__VA_ARGS__, 0)
#define TP_DEFINE_TRACE(name, ...) extern struct tracepoint __tracepoint_##name
#define EXPORT_TRACEPOINT_SYMBOL(name) \
	extern const char tp_exported[EXPORT_TRACEPOINT_SYMBOL_of_##name##_belongs_in_its_tp_file]
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_TRACEPOINT_SYMBOL(name)

/* The inline functions below call these. */
TP_PUBLIC int tp_registry_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio);
TP_PUBLIC int tp_registry_register_on(const struct tracepoint *tp, tp_probe_t func, void *data, int prio);
TP_PUBLIC void tp_registry_remove_object(const void *address);

#ifdef TP_SYMBOL_OPERAND
/* Removes the probes that are functions of this object, the program or shared object that contains this file. */
static inline void tp_object_destructor(void)
{
	tp_registry_remove_object((const void *)(uintptr_t)tp_object_destructor);
}

/*
 * Makes tp_object_destructor() a destructor of the object, but only in files
 * that register probes: an attribute of the function would do so in every file.
 * Its priority makes it run after the object's own destructors. On processors
 * other than x86-64 and arm64, an object must unregister its probes itself.
 */
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

/*
 * Registers a probe by name. The tracepoint need not exist yet: the probe is
 * attached when a module that defines the tracepoint is loaded, detached when
 * that module is unloaded, and attached again when it is loaded again. After the
 * function has returned, the next hit of the tracepoint in this thread calls the
 * probe; other threads can be a moment late.
 *
 * If a shared object calls this function and is unloaded later, its last
 * destructor removes the probes that the object contains, and waits for their
 * calls to end.
 *
 * proto is the text of the prototype's types, as in struct tracepoint. The
 * generated register_trace_NAME() passes it: the compiler then checks the type of
 * the probe, and the runtime that of the tracepoint. If a module defines the name
 * with another prototype later, its tracepoint does not get the probe.
 *
 * 0
 * -EEXIST   this func with this data is registered already
 * -EINVAL   name or proto is NULL; func is NULL or TP_REMOVED; or the name is defined with another prototype
 * -ENOMEM   nothing has changed
 * -EPERM    the system forbids changing program text (a message names the remedy); nothing has changed
 * -EDEADLK  in a forked child whose tracing is off, see above
 * Other values come from the tracepoint's regfunc.
 */
static inline int tp_probe_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio)
{
	tp_remove_probes_at_unload();
	return tp_registry_register(name, proto, func, data, prio);
}

/*
 * Unregisters a probe. After the return no new call of it begins. A call that is
 * running in another thread can last until the next
 * tracepoint_synchronize_unregister() returns. The function allocates no memory,
 * so it never fails for lack of it.
 *
 * 0
 * -ENOENT  this func with this data is not registered
 * -EINVAL  func or name is NULL
 */
TP_PUBLIC int tp_probe_unregister(const char *name, tp_probe_t func, void *data);

/*
 * The kernel's calls: the functions above, with the name and prototype of a tracepoint. -EINVAL if tp is NULL, or is of a
 * module that is not announced yet.
 */
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
	if (tp && !tp->name) /* nobody has asked for a tracepoint yet */
		return -ENOENT;
	return tp ? tp_probe_unregister(tp->name, func, data) : -EINVAL;
}

/*
 * Waits until every probe call that is running now has ended. Then no probe that
 * was unregistered before this call is running any more: its data can be freed
 * and its code unloaded.
 *
 * Also frees the memory that register and unregister have left over, a few dozen
 * bytes each time, because they never wait. A program that registers or
 * unregisters over and over should call this now and then.
 *
 * Must not be called with a lock held that a probe takes.
 *
 * 0
 * -EDEADLK  called inside a probe, which would wait for itself: nothing was done, and a message says so
 */
TP_PUBLIC int tracepoint_synchronize_unregister(void);

/*
 * Calls fct for each tracepoint of each loaded module, in order of loading,
 * including those that were refused. The registry's lock is held: fct must not
 * register, unregister or synchronize, enable events, open or close sinks, use
 * the loader (dlopen, dladdr ...), fork, exit, or wait for a thread that does any
 * of this.
 */
TP_PUBLIC void tp_for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *data), void *data);

/* What tp_get_tracepoint_info() tells about a tracepoint. */
struct tp_tracepoint_info {
	enum tp_state state;
	const char *module;     /* the file that it was loaded from; valid while that is loaded */
	unsigned int nr_sites;  /* its sites with a static key in all modules, each copy by inlining or unrolling */
	unsigned int nr_probes; /* the probes registered on its name; they are in tp->funcs while it is on */
};

/* Fills *info. May only be called in the callback of tp_for_each_tracepoint(), for the callback's own tracepoint. */
static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info);

/* The function that does it. size is that of the caller's structure; a newer library can have a larger one. */
TP_PUBLIC void tp_get_tracepoint_info_sized(const struct tracepoint *tp, struct tp_tracepoint_info *info, size_t size);

static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info)
{
	tp_get_tracepoint_info_sized(tp, info, sizeof(*info));
}

/*
 * How a thread's own variables are reached. glibc makes room for those of a library that is loaded late only at a thread's
 * first access, but not for those of this model, so that a signal handler may have them. Other C libraries, such as musl,
 * make the room when they load a library, and load none late whose variables are of this model.
 */
#ifdef __GLIBC__
#define TP_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TP_TLS_MODEL
#endif

/*
 * The first statement of a probe. It returns from the probe if this thread is
 * inside the probe limit times already. With 1 the probe never runs inside
 * itself, not even in a signal handler that interrupts it: hence volatile.
 */
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

#endif /* TP_TRACEPOINT_H */
