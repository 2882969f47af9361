/* SPDX-License-Identifier: MIT */
/*
 * tp/tracepoint.h - tracepoints and the probes that are called from them.
 *
 * This is all that a call site needs; the headers that tpgen writes include
 * it. The names are the Linux kernel's (include/linux/tracepoint.h) for what
 * the kernel has, and begin with tp_ for what is ours.
 *
 * A tracepoint is "off" while no probe is registered on it, and then costs an
 * instruction that does nothing, or a load and a branch (tp/site.h). While it is
 * "on", each probe is called in the context of the thread that hits it, in
 * order of priority, inside an RCU read-side critical section (liburcu,
 * flavour "bp"): tracepoints may be hit from any thread, from signal handlers,
 * on any stack, inside malloc, in the last destructors of a thread, and
 * from within a probe.
 *
 * Functions that return int return 0 or a negative errno value.
 * Register and unregister may be called from any thread, from constructors,
 * destructors and from inside a probe, of the same tracepoint too; and so may
 * synchronize, but that inside a probe it says -EDEADLK. None of them may be
 * called from a signal handler: they take a lock.
 *
 * A probe that hits its own tracepoint is called again, and so on until the
 * stack is used up, as in the kernel. TP_LIMIT_RECURSION is for probes that
 * may come to that.
 *
 * What can't be made safe:
 *
 * - dlclose() of a module, of the tracepoints or of the probes, waits for the
 *   probe calls that run, and the loader's lock is held then. So a probe must
 *   not use the loader (dlopen, dlsym, dladdr ...) in a program that unloads
 *   modules; nor may a probe unload a module that has tracepoints or probes.
 *   Where a destructor does so at the end of the process, nothing is waited for.
 * - The runtime learns that a module with probes goes because the module
 *   itself has registered them, by a function of this header. A probe that was
 *   registered by another module must be unregistered before.
 * - Fork: where one thread forks inside a probe while another waits for a grace
 *   period, which is for that very probe, the child goes on without tracing: all
 *   its tracepoints are off, and register says -EDEADLK. A message says so. If
 *   the program uses liburcu-bp itself, and waits for a grace period of its own
 *   meanwhile, such a fork never returns; nor does it, with glibc 2.28 to 2.35, if a
 *   third thread forks then. A signal handler must not fork. One that has interrupted
 *   malloc or free, and hits there its thread's first tracepoint or one that a text sink
 *   records, waits for ever if another thread forks at that moment: fork waits for that malloc.
 * - A probe must not throw an exception, nor be left by longjmp(): the read-side
 *   critical section would never end. A thread that is cancelled, or exits, inside
 *   a probe ends it; but where a C++ function with something to clean up has called
 *   the tracepoint, the program terminates.
 * - Asynchronous cancellation: while a thread allows it, it must not register,
 *   unregister or synchronize, nor hit events that a sink records, nor, as its
 *   first, any tracepoint.
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

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The contract between generated headers and the runtime. tpgen writes the
 * number that it was made for into each header; where the two differ, the
 * header says to run tpgen again.
 */
#ifndef TP_INTERFACE_VERSION /* tests set another one */
#define TP_INTERFACE_VERSION 6
#endif

/*
 * A program may be linked with a static library that was compiled years ago: what
 * the linker gathers of a module is only that of one interface, as names and
 * sections end in its number. The files of each are a module of their own.
 */
#define TP_OF_INTERFACE(name) TP_PASTE(name, TP_INTERFACE_VERSION)
#define TP_PASTE(name, number) TP_PASTE_EXPANDED(name, number)
#define TP_PASTE_EXPANDED(name, number) name##_##number
#define TP_SECTION(name) name "_" TP_QUOTE(TP_INTERFACE_VERSION)
#define TP_QUOTE(number) TP_QUOTE_EXPANDED(number)
#define TP_QUOTE_EXPANDED(number) #number

/* The project's version, for the Makefile too. */
#define TP_VERSION_MAJOR 0
#define TP_VERSION_MINOR 2
#define TP_VERSION_PATCH 0

#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_PUBLIC __attribute__((visibility("default")))
#define TP_UNUSED __attribute__((unused))

/* A declaration that C++ can't have as it is in C: TP_CPP_OR_C(int __class_, int class). */
#ifdef __cplusplus
#define TP_CPP_OR_C(cpp, ...) cpp
#else
#define TP_CPP_OR_C(cpp, ...) __VA_ARGS__
#endif

/* The constraint of an assembler operand that is a symbol, in position-independent code, too; where there is one. */
#if defined(__x86_64__) && !defined(__code_model_large__)
#define TP_SYMBOL_OPERAND "i"
#elif defined(__aarch64__)
#define TP_SYMBOL_OPERAND "S"
#endif

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
 * older than gcc 14 and clang 16 would only warn of a wrong pointer type. A
 * union is no argument for a function that takes a probe, whatever the
 * compiler: its error says which type that is.
 */
union tp_probe_of_another_type {
	char unused;
};
#define tp_check_probe(name, probe)                                          \
	_Generic((probe), tp_probe_fn_##name * : (probe), void * : (probe), \
		 default : (union tp_probe_of_another_type){ 0 })

/*
 * An element of a probe array. An array ends with the first NULL func.
 *
 * Of a published array only funcs change, each by one store: to TP_REMOVED,
 * which is no function, where a probe is unregistered. Readers load func
 * once, and skip such an element; data stays, as a reader may have loaded the
 * func before. The next copy of the array leaves it out.
 */
struct tracepoint_func {
	tp_probe_t func;
	void *data;
	int prio;
	const int *gate; /* for the runtime: while it is there and *gate is 0, func need not be called */
};

#define TP_REMOVED ((tp_probe_t)1)

/* Of two probes the one with the higher priority is called first; equal ones in order of registration. */
#define TRACEPOINT_DEFAULT_PRIO 10

enum tp_state {
	TP_STATE_UNLOADED, /* its module is not announced, or has gone */
	TP_STATE_OFF,      /* no probes */
	TP_STATE_ON,
	TP_STATE_REFUSED,  /* another module defines the name with another prototype: off for ever */
	TP_STATE_FAILED,   /* there are probes, but its regfunc, or the switching of its sites, has failed: off */
};

struct tp_module;
struct tp_name;
struct tp_site;

/*
 * One tracepoint as one module (the program or a shared object) defines it.
 * tpgen generates one per tracepoint, named __tracepoint_NAME. All modules'
 * definitions of one name share their probes. Everything but the members
 * that a call site reads belongs to the runtime.
 */
struct tracepoint {
	int enabled;                  /* 1 while there are probes; sites without a static key read it */
	int line;                     /* where it is defined, from 1 ... */
	struct tracepoint_func *funcs; /* the probe array, under RCU; NULL while there are none */
	tp_probe_t iterate;           /* calls the probes: itself of their type, data being the tracepoint; or a gate to it */
	const char *name;             /* "sched_switch": global to the process */
	const char *proto;            /* "struct task_struct *, struct task_struct *", without parameter names */
	const char *file;             /* ... and the .tp file, as tpgen was given it */
	/*
	 * Called where the first probe is about to come, and when the last has
	 * gone, for this module's tracepoint each; NULL where there is nothing to
	 * do. regfunc returns 0, or a negative errno value (-EAGAIN and -EEXIST
	 * become -ECANCELED), and then the probe is not registered; or, if probes were waiting for the module when it was
	 * loaded, this tracepoint stays off, which is said on stderr. Loading,
	 * unloading and the end of the process count as coming and going. When
	 * unregfunc is called, probes may still be running.
	 *
	 * They run under the registry's lock, and under others of the runtime: they
	 * must not register, unregister or synchronize, enable events, open or
	 * close sinks, nor use the loader (dlopen, dlsym, dladdr ...), fork, or wait for
	 * a thread that does. They may hit tracepoints whose probes do none of
	 * that either.
	 */
	int (*regfunc)(void);
	void (*unregfunc)(void);
	/* The rest is the runtime's. */
	struct tp_name *registered;   /* of its name; NULL while it is not loaded, and where it was refused */
	struct tracepoint *next;      /* of the same name, in order of loading */
	struct tracepoint *next_changed; /* whose sites are to be switched, too */
	struct tp_module *module;     /* the first that announced it */
	const struct tp_site *sites, *sites_end; /* between these are its own, unless they import it */
	unsigned int loads;           /* modules that announce one and the same, as it is exported */
	unsigned char state;          /* enum tp_state */
	bool used;                    /* it was on at some time: readers may be in what is its module's */
	bool changed;                 /* in the list of next_changed */
	tp_probe_t behind_gate;       /* what iterate is without a gate; NULL where it never had one */
	const int *gate;
};

/* The load of a site without a static key. Relaxed: it may see a change late, never torn. */
static inline bool tp_tracepoint_is_on(const struct tracepoint *tp)
{
	return __builtin_expect(__atomic_load_n(&tp->enabled, __ATOMIC_RELAXED), 0);
}

/*
 * Whether a tracepoint has probes, for headers that must not include the
 * generated one: DECLARE_TRACEPOINT(name) in front, then
 * tracepoint_enabled(name). The tracepoint must be one of this module's.
 */
#define DECLARE_TRACEPOINT(name) extern struct tracepoint __tracepoint_##name
#define tracepoint_enabled(name) tp_tracepoint_is_on(&__tracepoint_##name)

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

/* The functions behind those below. */
TP_PUBLIC int tp_registry_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio);
TP_PUBLIC void tp_registry_remove_object(const void *address);

#ifdef TP_SYMBOL_OPERAND
/* Removes the probes that are functions of the object that this file is in. */
static inline void tp_object_destructor(void)
{
	tp_registry_remove_object((const void *)(uintptr_t)tp_object_destructor);
}

/*
 * Makes that a destructor of the object, and only of files that register
 * probes, which an attribute of the function could not do. By its priority it
 * runs behind the program's own. On other processors an object must
 * unregister its probes itself.
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
 * attached when a module that defines it is loaded, detached when that module
 * is unloaded, attached again when it comes back. When the function returns,
 * the next hit of the tracepoint by this thread calls the probe; other threads
 * may be a moment late.
 *
 * If it is called by code of a shared object that is unloaded later, that
 * object's probes are removed by then, and waited for: in its last destructor.
 *
 * proto is the prototype's types, as in struct tracepoint; the generated
 * register_trace_NAME() passes it, so that the compiler checks the probe and
 * the runtime checks the module. A module that defines the name with another
 * prototype later does not get the probe.
 *
 * -EEXIST   this func with this data is registered already
 * -EINVAL   func, name or proto is NULL (func: or (tp_probe_t)1), or the name is defined with another prototype
 * -ENOMEM   nothing has changed
 * -EPERM    the system allows no changes of program text (a message names the remedy); nothing has changed
 * -EDEADLK  in a child whose tracing is off, see above
 * Others come from the tracepoint's regfunc.
 */
static inline int tp_probe_register(const char *name, const char *proto, tp_probe_t func, void *data, int prio)
{
	tp_remove_probes_at_unload();
	return tp_registry_register(name, proto, func, data, prio);
}

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

/*
 * Returns when every probe call that was running when it was called has
 * ended: what was unregistered before is certainly not running any more, so
 * that its data can be freed and its code unloaded.
 *
 * Also frees what registering and unregistering have left behind, a few dozen
 * bytes each time: they never wait themselves. A program that does either
 * over and over calls this now and then.
 *
 * Must not be called with a lock held that a probe takes.
 *
 * -EDEADLK  called from inside a probe, which would wait for itself: nothing was done, and a message says so
 */
TP_PUBLIC int tracepoint_synchronize_unregister(void);

/*
 * Calls fct for each tracepoint of each loaded module, those included that
 * were refused, in order of loading and under the registry's lock: fct must
 * not register, unregister or synchronize, enable events, open or close sinks,
 * use the loader (dlopen, dladdr ...), fork, exit, or wait for a thread that does.
 */
TP_PUBLIC void tp_for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *data), void *data);

/* What more there is to know of a tracepoint. */
struct tp_tracepoint_info {
	enum tp_state state;
	const char *module;     /* the file that it was loaded from; valid while it is loaded */
	unsigned int nr_sites;  /* that have a static key, copies by inlining and unrolling included, of all modules */
	unsigned int nr_probes; /* registered on the name; tp->funcs has them while it is on */
};

/* Only in the callback of tp_for_each_tracepoint(), for the tracepoint that it was called with. */
static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info);

/* The function behind it, which is told how long info is where it is called. */
TP_PUBLIC void tp_get_tracepoint_info_sized(const struct tracepoint *tp, struct tp_tracepoint_info *info, size_t size);

static inline void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info)
{
	tp_get_tracepoint_info_sized(tp, info, sizeof(*info));
}

/*
 * As the first statement of a probe: leaves it where this thread is in it limit
 * times already. With 1 the probe is never called from within itself; that
 * also goes for a signal handler that interrupts it, hence volatile.
 */
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

#endif /* TP_TRACEPOINT_H */
