/* SPDX-License-Identifier: MIT */
/*
 * tp/site.h - what a site, the place in a program where trace_X() stands, is
 * made of: a static key, and the call of the probes behind it. Only headers
 * that tpgen has written use it.
 *
 * A static key is an instruction that the runtime changes. Off, it does
 * nothing; on, it jumps to the code, out of the way, that calls the probes:
 *
 *	x86-64	test $imm32, %eax  <->  jmp rel32: A9 or E9, and the same four
 *		bytes behind it. One byte is changed, so no processor ever sees
 *		half of a change, wherever the instruction lies.
 *	arm64	nop  <->  b: an aligned word; the architecture allows to change
 *		the one into the other while it is executed (Arm ARM, B2.2.5).
 *
 * On other processors, and where a file is compiled with -DTP_STATIC_KEYS=0, a
 * site loads a flag and branches. Both kinds go together in one program.
 */
#ifndef TP_SITE_H
#define TP_SITE_H

#include <tp/tracepoint.h>

/* What the runtime can switch, whatever it is compiled with itself. */
#if defined(__ELF__) && defined(__LP64__) && defined(TP_SYMBOL_OPERAND)
#define TP_STATIC_KEYS_POSSIBLE 1
#else
#define TP_STATIC_KEYS_POSSIBLE 0
#endif

#ifndef TP_STATIC_KEYS
#define TP_STATIC_KEYS TP_STATIC_KEYS_POSSIBLE
#elif TP_STATIC_KEYS && !TP_STATIC_KEYS_POSSIBLE
#error "there are no static keys for this processor or code model: leave out -DTP_STATIC_KEYS"
#endif

/* Where code is optimized at all, a site is where trace_X() stands, even with -Os. */
#ifdef __OPTIMIZE__
#define TP_SITE_INLINE inline __attribute__((always_inline))
#else
#define TP_SITE_INLINE inline
#endif

/*
 * How sites reach a tracepoint that another module may define: through a
 * pointer, which the loader sets. A direct reference would make a copy of the
 * tracepoint in a program that is not a shared object.
 */
struct tp_import {
	struct tracepoint *volatile tp; /* not const: the compiler must not look through it */
	const char *proto;              /* the sites', which the runtime compares with the tracepoint's */
};

/*
 * Imports are announced by their sites, in the code that is out of the way, so
 * that files without one need nobody who defines the tracepoint. Where an
 * assembler instruction can't name them, each file that includes the header does it.
 */
#ifdef TP_SYMBOL_OPERAND
#define TP_IMPORT(name, proto) static struct tp_import __tp_import_##name TP_UNUSED = {&__tracepoint_##name, proto}
#define TP_ANNOUNCE_IMPORT(import)                                                         \
	__asm__ __inline__ volatile(".Ltp_import%=:\n\t"                                   \
				    ".pushsection " TP_SECTION("tp_imports")               \
				    ", \"awo?\", %%progbits, .Ltp_import%=\n\t"            \
				    ".balign 8\n\t"                                        \
				    ".dc.a %c0\n\t"                                        \
				    ".popsection"                                          \
				    :                                                      \
				    : TP_SYMBOL_OPERAND(&(import)))
#else
#define TP_IMPORT(name, proto)                                                             \
	static struct tp_import __tp_import_##name = {&__tracepoint_##name, proto};        \
	TP_ANNOUNCE(tp_import, "tp_imports", __tp_import_##name)
#define TP_ANNOUNCE_IMPORT(import) (void)0
#endif

/* ---- Keys ---- */

/* The body of a function that returns whether a tracepoint, or an imported one, is on. */
#if TP_STATIC_KEYS
#define TP_RETURN_ENABLED(tracepoint) TP_RETURN_KEY(&(tracepoint), "", (void)0)
#define TP_RETURN_IMPORT_ENABLED(import) TP_RETURN_KEY(&(import), " + 1", TP_ANNOUNCE_IMPORT(import))
#else
#define TP_RETURN_ENABLED(tracepoint) return tp_tracepoint_is_on(&(tracepoint))
#define TP_RETURN_IMPORT_ENABLED(import)           \
	if (__builtin_expect(!tp_tracepoint_is_on((import).tp), 1)) \
		return false;                      \
	TP_ANNOUNCE_IMPORT(import);                \
	return true
#endif

/*
 * An entry of the table that tells the runtime of the sites: distances, from
 * the member itself, to the instruction and to the struct tracepoint, or, 1
 * more, to the struct tp_import.
 *
 * The section goes into the group of the code's ("?"), so that there is one
 * entry for each copy of a C++ inline function that stays, and is linked to it
 * ("o"), so that a linker that collects garbage drops both. lld does; ld and
 * gold keep functions with sites, unless they are told -z start-stop-gc.
 */
#define TP_SITE_ENTRY(tag, more)                                          \
	".pushsection " TP_SECTION("tp_sites") ", \"ao?\", %%progbits, .Ltp_site%=\n\t" \
	".balign 4\n\t"                                                   \
	".long .Ltp_site%= - ., %c0" tag " - .\n\t" more                  \
	".popsection"

/*
 * The relocation changes nothing. It makes the code of two tracepoints different
 * for linkers that fold what is identical (--icf).
 */
#if defined(__x86_64__)
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	".byte 0xa9\n\t"                                                  \
	".long %l[on] - . - 4\n\t"                                        \
	".reloc .Ltp_site%=, R_X86_64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, "")
#elif defined(__aarch64__)
/* A third distance: to where the branch goes. */
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	"nop\n\t"                                                         \
	".reloc .Ltp_site%=, R_AARCH64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, ".long %l[on] - .\n\t")
#endif

/* asm goto is volatile: the compiler neither hoists a site out of a loop nor makes one of two. inline: it is short. */
#define TP_RETURN_KEY(key, tag, when_on)                                               \
	__asm__ __inline__ goto(TP_KEY_INSTRUCTION(tag) : : TP_SYMBOL_OPERAND(key) : : on); \
	return false;                                                                  \
on:                                                                                    \
	when_on;                                                                       \
	return true

/* ---- One name, one prototype ---- */

/*
 * Files that say of one tracepoint different prototypes can't be linked: each
 * defines the_tracepoint_NAME, in a section that is called like the prototype
 * and belongs to a group that is, too. The linker keeps one of each group; and
 * where two are left, it says which two sections define the symbol. That is
 * hidden, and nothing refers to it.
 *
 * TP_PROTOTYPE is for the header, and defines tp_prototype_of_NAME(), which
 * sites call out of the way; TP_PROTOTYPE_DEFINED is for where the tracepoint is
 * defined.
 */
#ifdef __clang__
/* As C, and in the header at once: of groups in assembler code lld knows nothing with -flto. gcc can't. */
#define TP_PROTOTYPE(name, signature)                                                                     \
	extern const char tp_prototype_text_##name __asm__("tracepoint " signature) TP_HIDDEN;            \
	__attribute__((selectany)) const char tp_prototype_text_##name = 0;                               \
	extern const char the_tracepoint_##name TP_HIDDEN __attribute__((alias("tracepoint " signature))); \
	static inline void tp_prototype_of_##name(void)                                                   \
	{                                                                                                 \
	}
#define TP_PROTOTYPE_DEFINED(name, signature) extern const char the_tracepoint_##name
#else
/* percent is "%", or "%%" in a function. The first lines are for when a file comes here twice. */
#define TP_PROTOTYPE_SECTION(name, signature, percent)                                         \
	".ifndef \".Ltp " signature "\"\n\t"                                                   \
	".set \".Ltp " signature "\", 1\n\t"                                                   \
	".pushsection \".rodata.tracepoint " signature "\", \"aG\", " percent "progbits, "     \
	"\"tracepoint " signature "\", comdat\n\t"                                             \
	".globl the_tracepoint_" #name "\n\t"                                                  \
	".hidden the_tracepoint_" #name "\n"                                                   \
	"the_tracepoint_" #name ":\n\t"                                                        \
	".popsection\n\t"                                                                      \
	".endif"
#define TP_PROTOTYPE(name, signature)                                                          \
	static inline __attribute__((always_inline)) void tp_prototype_of_##name(void)         \
	{                                                                                      \
		__asm__ __inline__ volatile(TP_PROTOTYPE_SECTION(name, signature, "%%") : :);  \
	}
#define TP_PROTOTYPE_DEFINED(name, signature) __asm__(TP_PROTOTYPE_SECTION(name, signature, "%"))
#endif

#endif /* TP_SITE_H */
