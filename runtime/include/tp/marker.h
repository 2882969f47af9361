/* SPDX-License-Identifier: MIT */
/*
 * tp/marker.h - markers: trace_mark() in any C or C++ file, without a .tp file.
 *
 *	trace_mark(kernel_sched_switch, "prev_pid %d next_pid %d prev_state %ld", prev->pid, next->pid, prev->state);
 *
 * The names are those of Linux 2.6.24 to 2.6.31 (include/linux/marker.h). A
 * marker has a name and a format, as for printf; its arguments are of basic
 * types only, as general-purpose tools need them. Each marker is also an
 * event, "marker:kernel_sched_switch", which tp_enable() sends to any sink.
 * The format gives the event's fields their names and types: see below.
 *
 * A marker is a kind of tracepoint, and everything that tp/tracepoint.h says
 * about tracepoints, probes and threads holds for it. While off, it costs the
 * same as a tracepoint. Several places can have markers of one name, in one
 * module or several, if they have the same format: the format takes the place
 * of the prototype.
 *
 * A program with markers links to libtp and nothing else.
 */
#ifndef TP_MARKER_H
#define TP_MARKER_H

#include <stdarg.h>

#ifndef TP_RUNTIME /* the runtime has no markers, so it is no module */
#include <tp/announce.h>
#endif
#include <tp/call.h>
#include <tp/module.h>
#include <tp/sdt.h>
#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The format of a marker without arguments. */
#define MARK_NOARGS " "

/* The maximum length of a marker's name, in bytes. */
#define TP_MARKER_NAME_MAX 255

/* The maximum number of a marker's arguments, including those for a * in its format. */
#define TP_MARKER_ARGS_MAX 32

/* Each trace_mark() in the code is a struct marker: tp/module.h. */

/*
 * A probe. data is the pointer that was registered with it, call_private the
 * struct marker that was hit, fmt its format. args are the arguments, of the
 * types that the format says: va_arg(*args, int) takes an int. Each probe gets
 * a list of its own, which begins at the first argument.
 */
typedef void marker_probe_func(void *data, void *call_private, const char *fmt, va_list *args);

/*
 * trace_mark(name, format, arguments...): calls the probes of the marker.
 *
 * name is an identifier. format is one or more string literals; compilers
 * check the arguments against it (-Wformat). Without arguments, format is
 * MARK_NOARGS.
 *
 * The arguments are evaluated only while the marker is on. So a call among them
 * costs nothing while it is off, and code that must run in any case does not
 * belong there. With -DTP_SDT=1 the marker is also a USDT probe, of the
 * provider "marker" (tp/sdt.h). Then the first twelve arguments are always
 * evaluated, once.
 *
 * The event's record has a field for each conversion of the format. The
 * field's name is the last identifier in the text between the preceding
 * conversion and this one ("pid %d", "pid=%d", "(pid: %d"); if there is none,
 * arg1, arg2 ... A second field of a name gets _2 appended, and so on. A
 * keyword of C, and a name that begins with common_, gets a _ appended.
 *
 *	%d %i %u %o %x %X, also with hh, h, l, ll, q, j, z, t: an integer of that type
 *	%c: a char         %p: a void *
 *	%s: a copy of the string, "(null)" for NULL; with a precision, no more of it than that
 *	%e %f %g %a: a double, also with L
 *
 * The event prints as printf would print it, with one exception: a width or a
 * precision that is a * is not recorded, and pads or rounds nothing. (For a
 * string, the precision does limit the copy.)
 *
 * With %n, %m, %lc, %ls, %C, %S, the flags ' and I, or numbered arguments
 * (%1$d), the marker has probes like any other, but is no event; a message says
 * so when its module is loaded.
 *
 * In C, a marker can't be in an inline function with external linkage ("inline"
 * without "static"). In C++ it can be anywhere on x86-64 and arm64; on other
 * processors it can't be in inline functions and templates.
 */
#define trace_mark(name, ...)                                                                      \
	do {                                                                                       \
		TP_MARKER_DEFINE(__marker_##name, #name, TP_MARKER_FORMAT(__VA_ARGS__, 0));        \
		if (0)                                                                             \
			tp_marker_check_format(__VA_ARGS__);                                       \
		TP_MARKER_SITE(__marker_##name, #name, __VA_ARGS__);                               \
	} while (0)

/*
 * Registers a probe for all markers of that name and format, including those of
 * modules that are loaded later. tp_probe_register() says more. If the module
 * that calls this is unloaded, the probes that it contains are removed.
 *
 * 0         success
 * -EEXIST   this probe with this data is registered already
 * -EINVAL   name, format or probe is NULL; name is longer than TP_MARKER_NAME_MAX; or the name is in use with another
 *           format, and then a message says so
 * -ENOMEM, -EPERM, -EDEADLK   as for tp_probe_register()
 */
static inline int marker_probe_register(const char *name, const char *format, marker_probe_func *probe,
					void *data);

/*
 * Unregisters a probe, like tp_probe_unregister(). Calls of the probe that are
 * running can go on until marker_synchronize_unregister() returns.
 *
 * 0         success
 * -ENOENT   this probe with this data is not registered
 * -EINVAL   name or probe is NULL, or name is too long
 */
TP_PUBLIC int marker_probe_unregister(const char *name, marker_probe_func *probe, void *data);

/* The same as tracepoint_synchronize_unregister(), which waits for probes of both kinds. */
static inline int marker_synchronize_unregister(void)
{
	return tracepoint_synchronize_unregister();
}

/*
 * Calls fct for each marker of each loaded module, including refused ones, under
 * the registry's lock: the rules of tp_for_each_tracepoint() hold, which itself
 * leaves markers out. tp_get_tracepoint_info(&marker->tp, ...) tells more.
 */
TP_PUBLIC void tp_for_each_marker(void (*fct)(struct marker *marker, void *data), void *data);

/* ---- Implementation ---- */

TP_PUBLIC int tp_marker_register(const char *name, const char *format, marker_probe_func *probe, void *data);

static inline int marker_probe_register(const char *name, const char *format, marker_probe_func *probe,
					void *data)
{
	tp_remove_probes_at_unload();
	return tp_marker_register(name, format, probe, data);
}

/* Lets compilers check the arguments against the format. Never called. */
static inline void tp_marker_check_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void tp_marker_check_format(const char *format, ...)
{
	(void)format;
}

/* The type that sites call the iterator with, which is the runtime's. */
typedef void tp_marker_iterate_t(struct tracepoint *tp, ...);

#define TP_MARKER_FORMAT(format, ...) format

/* The texts of struct tp_definition. */
#define TP_MARKER_TEXT(name, format) "marker:" name "\0" format "\0" __FILE__ "\0marker"

/*
 * Announces the site's struct marker: its struct tp_definition is in a section
 * that belongs to the group of the code's section, as tp/site.h does for imports.
 */
#ifdef TP_SYMBOL_OPERAND
#define TP_MARKER_DEFINITION(tag)                                                 \
	".pushsection " TP_SECTION("tp_markers") ", \"ao?\", %%progbits, " tag "\n\t" \
	".balign 4\n\t"                                                           \
	".long %c0 - ., %c1 - ., 0, 0, 0, 0, 0, %c2, 0\n\t"                       \
	".popsection"
#define TP_MARKER_OPERANDS(...) TP_MARKER_OPERANDS_OF(__VA_ARGS__)
#define TP_MARKER_OPERANDS_OF(marker, text, line) \
	TP_SYMBOL_OPERAND(marker), TP_SYMBOL_OPERAND(text), "i"(line)
#define TP_MARKER_ANNOUNCE(site, text)
#else
#define TP_MARKER_ANNOUNCE(site, text)                                                                      \
	; static struct tp_marker_pointers site##_pointers                                                  \
		__attribute__((used, aligned(8), section(TP_SECTION("tp_marker_pointers")) TP_RETAIN)) = {  \
			&TP_MARKER(site), text, __LINE__}
#endif

#ifdef __cplusplus
/*
 * The loader merges static variables of inline functions and of templates, so
 * such a variable could be another module's. It does not merge those of a
 * hidden class. site is a class that each trace_mark() defines for itself; it
 * has the marker's texts and line.
 */
extern "C++" {
template <class site> struct TP_HIDDEN tp_marker_of {
	static struct marker marker;
	static constexpr const char *text = site::text();
	static constexpr int line = site::line();
};
template <class site> struct marker tp_marker_of<site>::marker = {};
}
#define TP_MARKER(site) (tp_marker_of<site>::marker)
#define TP_MARKER_PLACE(site) &tp_marker_of<site>::marker, tp_marker_of<site>::text, tp_marker_of<site>::line
#define TP_MARKER_DEFINE(site, name, format)                                                            \
	static_assert(sizeof(name) <= TP_MARKER_NAME_MAX + 1, "the marker's name is too long");         \
	struct site {                                                                                   \
		static constexpr const char *text() { return TP_MARKER_TEXT(name, format); }            \
		static constexpr int line() { return __LINE__; }                                        \
	}                                                                                               \
	TP_MARKER_ANNOUNCE(site, tp_marker_of<site>::text)
#else
#define TP_MARKER(site) site
#define TP_MARKER_PLACE(site) &site, site##_text, __LINE__
#define TP_MARKER_DEFINE(site, name, format)                                                        \
	_Static_assert(sizeof(name) <= TP_MARKER_NAME_MAX + 1, "the marker's name is too long");    \
	static const char site##_text[] TP_UNUSED = TP_MARKER_TEXT(name, format);                   \
	static struct marker site                                                                   \
	TP_MARKER_ANNOUNCE(site, site##_text)
#endif

/* ---- The site ---- */

/*
 * Whether the marker is on, as in tp/site.h for a tracepoint. The operand of
 * the instruction must be a constant:
 * - In C++, a template makes it one.
 * - With gcc in C, the instruction is in the macro itself.
 * - With clang in C, it is in an inline function, since clang before 17 refuses
 *   a function that has two asm gotos and variables with a scope. There the
 *   operand is a constant only when clang optimizes.
 */
#if TP_STATIC_KEYS && (defined(__cplusplus) || !defined(__clang__) || defined(__OPTIMIZE__))
#define TP_MARKER_KEY(...) \
	TP_KEY_INSTRUCTION("") "\n\t" TP_MARKER_DEFINITION(".Ltp_site%=") : : TP_MARKER_OPERANDS(__VA_ARGS__) : : on
#if defined(__cplusplus)
extern "C++" {
template <class site> TP_SITE_INLINE bool tp_marker_is_on()
{
	__asm__ __inline__ goto(TP_MARKER_KEY(TP_MARKER_PLACE(site)));
	return false;
on:
	return true;
}
}
#define TP_MARKER_IS_ON(site) tp_marker_is_on<site>()
#elif defined(__clang__)
static TP_SITE_INLINE bool tp_marker_is_on(const struct marker *marker, const char *text, int line)
{
	__asm__ __inline__ goto(TP_MARKER_KEY(marker, text, line));
	return false;
on:
	return true;
}
#define TP_MARKER_IS_ON(site) tp_marker_is_on(TP_MARKER_PLACE(site))
#else
#define TP_MARKER_IS_ON(site)                                               \
	__extension__({                                                     \
		__label__ on, known;                                        \
		bool __is_on;                                               \
		__asm__ __inline__ goto(TP_MARKER_KEY(TP_MARKER_PLACE(site))); \
		__is_on = false;                                            \
		goto known;                                                 \
	on:                                                                 \
		__is_on = true;                                             \
	known:                                                              \
		__is_on;                                                    \
	})
#endif
#elif defined(TP_SYMBOL_OPERAND)
#define TP_MARKER_IS_ON(site)                                                                    \
	__extension__({                                                                          \
		__asm__ __inline__ volatile(".Ltp_marker%=:\n\t" TP_MARKER_DEFINITION(".Ltp_marker%=") \
					    : : TP_MARKER_OPERANDS(TP_MARKER_PLACE(site)));                    \
		tp_tracepoint_is_on(&TP_MARKER(site).tp);                                        \
	})
#else
#define TP_MARKER_IS_ON(site) tp_tracepoint_is_on(&TP_MARKER(site).tp)
#endif

/*
 * Calls the probes. Arguments are converted as for any function with variable
 * arguments; in C, ?: does this. No argument is evaluated twice.
 */
#ifdef __cplusplus
extern "C++" {
TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *)
{
	TP_CALL_WORDS_0(tp_marker_iterate_t, tp);
}

template <class A> TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, A a)
{
	TP_CALL_WORDS_1(tp_marker_iterate_t, tp, a);
}

template <class A, class B> TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, A a, B b)
{
	TP_CALL_WORDS_2(tp_marker_iterate_t, tp, a, b);
}

template <class A, class B, class C>
TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, A a, B b, C c)
{
	TP_CALL_WORDS_3(tp_marker_iterate_t, tp, a, b, c);
}

template <class A, class B, class C, class D>
TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, A a, B b, C c, D d)
{
	TP_CALL_WORDS_4(tp_marker_iterate_t, tp, a, b, c, d);
}

template <class A, class B, class C, class D, class E>
TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, A a, B b, C c, D d, E e)
{
	TP_CALL_WORDS_5(tp_marker_iterate_t, tp, a, b, c, d, e);
}

template <class... more> TP_SITE_INLINE void tp_marker_hit(struct tracepoint *tp, const char *, more... arguments)
{
	TP_CALL_MANY(tp_marker_iterate_t, tp, arguments...);
}
}
#define TP_MARKER_HIT(tp, ...) tp_marker_hit(tp, __VA_ARGS__)
#else
#define TP_MARKER_ARG(name, argument) __typeof__(1 ? (argument) : (argument)) name = (argument)
#define TP_MARKER_HIT_0(tp, format) TP_CALL_WORDS_0(tp_marker_iterate_t, tp)
#define TP_MARKER_HIT_1(tp, format, a)                     \
	do {                                               \
		TP_MARKER_ARG(__tp_a, a);                  \
		TP_CALL_WORDS_1(tp_marker_iterate_t, tp, __tp_a); \
	} while (0)
#define TP_MARKER_HIT_2(tp, format, a, b)                          \
	do {                                                       \
		TP_MARKER_ARG(__tp_a, a);                          \
		TP_MARKER_ARG(__tp_b, b);                          \
		TP_CALL_WORDS_2(tp_marker_iterate_t, tp, __tp_a, __tp_b); \
	} while (0)
#define TP_MARKER_HIT_3(tp, format, a, b, c)                               \
	do {                                                               \
		TP_MARKER_ARG(__tp_a, a);                                  \
		TP_MARKER_ARG(__tp_b, b);                                  \
		TP_MARKER_ARG(__tp_c, c);                                  \
		TP_CALL_WORDS_3(tp_marker_iterate_t, tp, __tp_a, __tp_b, __tp_c); \
	} while (0)
#define TP_MARKER_HIT_4(tp, format, a, b, c, d)                                    \
	do {                                                                       \
		TP_MARKER_ARG(__tp_a, a);                                          \
		TP_MARKER_ARG(__tp_b, b);                                          \
		TP_MARKER_ARG(__tp_c, c);                                          \
		TP_MARKER_ARG(__tp_d, d);                                          \
		TP_CALL_WORDS_4(tp_marker_iterate_t, tp, __tp_a, __tp_b, __tp_c, __tp_d); \
	} while (0)
#define TP_MARKER_HIT_5(tp, format, a, b, c, d, e)                                         \
	do {                                                                               \
		TP_MARKER_ARG(__tp_a, a);                                                  \
		TP_MARKER_ARG(__tp_b, b);                                                  \
		TP_MARKER_ARG(__tp_c, c);                                                  \
		TP_MARKER_ARG(__tp_d, d);                                                  \
		TP_MARKER_ARG(__tp_e, e);                                                  \
		TP_CALL_WORDS_5(tp_marker_iterate_t, tp, __tp_a, __tp_b, __tp_c, __tp_d, __tp_e); \
	} while (0)
#define TP_MARKER_HIT_MANY(tp, format, ...) TP_CALL_MANY(tp_marker_iterate_t, tp, __VA_ARGS__)

/* Picks its 34th argument: the macro for as many arguments as follow the format, up to 32. */
#define TP_MARKER_PICK(format, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, \
		       a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, picked, ...)                 \
	picked
#define TP_MARKER_HIT(tp, ...)                                                                                     \
	TP_MARKER_PICK(__VA_ARGS__, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY,             \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY,             \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY,             \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY,             \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY,             \
		       TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_MANY, TP_MARKER_HIT_5, TP_MARKER_HIT_4, \
		       TP_MARKER_HIT_3, TP_MARKER_HIT_2, TP_MARKER_HIT_1, TP_MARKER_HIT_0, 0)                      \
	(tp, __VA_ARGS__)
#endif

/*
 * The site. If it is a USDT probe, its first twelve arguments are in variables,
 * so that none is evaluated twice; the USDT probe does not get the others.
 */
#define TP_MARKER_SITE_IF_ON(site, ...)                                              \
	if (__builtin_expect(TP_MARKER_IS_ON(site), 0))                   \
	TP_MARKER_HIT(&TP_MARKER(site).tp, __VA_ARGS__)
#if !TP_SDT
#define TP_MARKER_SITE(site, name, ...) TP_MARKER_SITE_IF_ON(site, __VA_ARGS__)
#else
#define TP_MARKER_SITE(site, name, ...) TP_MARKER_SITE_OF(TP_SDT_COUNT(__VA_ARGS__), site, name, __VA_ARGS__)
#define TP_MARKER_SITE_OF(count, site, name, ...) TP_MARKER_SITE_N(count, site, name, __VA_ARGS__)
#define TP_MARKER_SITE_N(count, site, name, ...) TP_MARKER_SITE_##count(site, name, __VA_ARGS__)
#define TP_MARKER_PROBE(site, name, ...)   \
	TP_SDT_MARKER(name, __VA_ARGS__); \
	TP_MARKER_SITE_IF_ON(site, __VA_ARGS__)
#ifdef __cplusplus
#define TP_MARKER_VALUE(n, argument) auto __tp_arg##n = (argument)
#else
#define TP_MARKER_VALUE(n, argument) TP_MARKER_ARG(__tp_arg##n, argument)
#endif
#define TP_MARKER_VALUES_1(a) TP_MARKER_VALUE(1, a)
#define TP_MARKER_VALUES_2(a, b) TP_MARKER_VALUES_1(a); TP_MARKER_VALUE(2, b)
#define TP_MARKER_VALUES_3(a, b, c) TP_MARKER_VALUES_2(a, b); TP_MARKER_VALUE(3, c)
#define TP_MARKER_VALUES_4(a, b, c, d) TP_MARKER_VALUES_3(a, b, c); TP_MARKER_VALUE(4, d)
#define TP_MARKER_VALUES_5(a, b, c, d, e) TP_MARKER_VALUES_4(a, b, c, d); TP_MARKER_VALUE(5, e)
#define TP_MARKER_VALUES_6(a, b, c, d, e, f) TP_MARKER_VALUES_5(a, b, c, d, e); TP_MARKER_VALUE(6, f)
#define TP_MARKER_VALUES_7(a, b, c, d, e, f, g) TP_MARKER_VALUES_6(a, b, c, d, e, f); TP_MARKER_VALUE(7, g)
#define TP_MARKER_VALUES_8(a, b, c, d, e, f, g, h) \
	TP_MARKER_VALUES_7(a, b, c, d, e, f, g); TP_MARKER_VALUE(8, h)
#define TP_MARKER_VALUES_9(a, b, c, d, e, f, g, h, i) \
	TP_MARKER_VALUES_8(a, b, c, d, e, f, g, h); TP_MARKER_VALUE(9, i)
#define TP_MARKER_VALUES_10(a, b, c, d, e, f, g, h, i, j) \
	TP_MARKER_VALUES_9(a, b, c, d, e, f, g, h, i); TP_MARKER_VALUE(10, j)
#define TP_MARKER_VALUES_11(a, b, c, d, e, f, g, h, i, j, k) \
	TP_MARKER_VALUES_10(a, b, c, d, e, f, g, h, i, j); TP_MARKER_VALUE(11, k)
#define TP_MARKER_VALUES_12(a, b, c, d, e, f, g, h, i, j, k, l) \
	TP_MARKER_VALUES_11(a, b, c, d, e, f, g, h, i, j, k); TP_MARKER_VALUE(12, l)
#define TP_MARKER_NAMES_1 __tp_arg1
#define TP_MARKER_NAMES_2 TP_MARKER_NAMES_1, __tp_arg2
#define TP_MARKER_NAMES_3 TP_MARKER_NAMES_2, __tp_arg3
#define TP_MARKER_NAMES_4 TP_MARKER_NAMES_3, __tp_arg4
#define TP_MARKER_NAMES_5 TP_MARKER_NAMES_4, __tp_arg5
#define TP_MARKER_NAMES_6 TP_MARKER_NAMES_5, __tp_arg6
#define TP_MARKER_NAMES_7 TP_MARKER_NAMES_6, __tp_arg7
#define TP_MARKER_NAMES_8 TP_MARKER_NAMES_7, __tp_arg8
#define TP_MARKER_NAMES_9 TP_MARKER_NAMES_8, __tp_arg9
#define TP_MARKER_NAMES_10 TP_MARKER_NAMES_9, __tp_arg10
#define TP_MARKER_NAMES_11 TP_MARKER_NAMES_10, __tp_arg11
#define TP_MARKER_NAMES_12 TP_MARKER_NAMES_11, __tp_arg12
#define TP_MARKER_SITE_0(site, name, format) TP_MARKER_PROBE(site, name, format)
#define TP_MARKER_SITE_1(site, name, format, a) \
	TP_MARKER_VALUES_1(a); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_1)
#define TP_MARKER_SITE_2(site, name, format, a, b) \
	TP_MARKER_VALUES_2(a, b); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_2)
#define TP_MARKER_SITE_3(site, name, format, a, b, c) \
	TP_MARKER_VALUES_3(a, b, c); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_3)
#define TP_MARKER_SITE_4(site, name, format, a, b, c, d) \
	TP_MARKER_VALUES_4(a, b, c, d); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_4)
#define TP_MARKER_SITE_5(site, name, format, a, b, c, d, e) \
	TP_MARKER_VALUES_5(a, b, c, d, e); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_5)
#define TP_MARKER_SITE_6(site, name, format, a, b, c, d, e, f) \
	TP_MARKER_VALUES_6(a, b, c, d, e, f); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_6)
#define TP_MARKER_SITE_7(site, name, format, a, b, c, d, e, f, g) \
	TP_MARKER_VALUES_7(a, b, c, d, e, f, g); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_7)
#define TP_MARKER_SITE_8(site, name, format, a, b, c, d, e, f, g, h) \
	TP_MARKER_VALUES_8(a, b, c, d, e, f, g, h); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_8)
#define TP_MARKER_SITE_9(site, name, format, a, b, c, d, e, f, g, h, i) \
	TP_MARKER_VALUES_9(a, b, c, d, e, f, g, h, i); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_9)
#define TP_MARKER_SITE_10(site, name, format, a, b, c, d, e, f, g, h, i, j) \
	TP_MARKER_VALUES_10(a, b, c, d, e, f, g, h, i, j); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_10)
#define TP_MARKER_SITE_11(site, name, format, a, b, c, d, e, f, g, h, i, j, k) \
	TP_MARKER_VALUES_11(a, b, c, d, e, f, g, h, i, j, k); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_11)
#define TP_MARKER_SITE_12(site, name, format, a, b, c, d, e, f, g, h, i, j, k, l) \
	TP_MARKER_VALUES_12(a, b, c, d, e, f, g, h, i, j, k, l); \
	TP_MARKER_PROBE(site, name, format, TP_MARKER_NAMES_12)
#define TP_MARKER_SITE_MORE(site, name, format, a, b, c, d, e, f, g, h, i, j, k, l, ...)      \
	TP_MARKER_VALUES_12(a, b, c, d, e, f, g, h, i, j, k, l);                         \
	TP_SDT_MARKER(name, format, TP_MARKER_NAMES_12);                                \
	TP_MARKER_SITE_IF_ON(site, format, TP_MARKER_NAMES_12, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif /* TP_MARKER_H */
