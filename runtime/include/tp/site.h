/* SPDX-License-Identifier: MIT */
/*
 * tp/site.h - the parts of a site. A site is a place in a program where
 * trace_X() is called: a static key, and a call of the probes. Only headers that
 * tpgen has written use this one.
 *
 * A static key is an instruction that the runtime changes. While the tracepoint
 * is off, it does nothing. While it is on, it jumps to the code that calls the
 * probes, which the compiler places out of the way (the "cold code" below):
 *
 *	x86-64	test $imm32, %eax  <->  jmp rel32: the byte A9 or E9, then the
 *		same four bytes. Only one byte changes, so no processor ever sees
 *		half of a change, whatever the instruction's address.
 *	arm64	nop  <->  b: an aligned word. The architecture allows changing
 *		one into the other while it is executed (Arm ARM, B2.2.5).
 *
 * On other processors, and in files that are compiled with -DTP_STATIC_KEYS=0,
 * a site loads a flag and branches. A program can mix both kinds.
 */
#ifndef TP_SITE_H
#define TP_SITE_H

#include <tp/tracepoint.h>

/* Whether the runtime can switch this file's static keys. It does not matter how the runtime itself was compiled. */
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

/* With any optimization, even -Os, trace_X() is inlined: the site is in the function that calls it. */
#ifdef __OPTIMIZE__
#define TP_SITE_INLINE inline __attribute__((always_inline))
#else
#define TP_SITE_INLINE inline
#endif

/*
 * If another module can define a tracepoint, the sites reach it through a
 * pointer, which the loader sets. If a program (not a shared object) referred to
 * the tracepoint directly, the program would get a copy of it.
 */
struct tp_import {
	struct tracepoint *volatile tp; /* not const: the compiler must not replace it by its initial value */
	const char *proto;              /* the sites' prototype, which the runtime compares with the tracepoint's */
};

/*
 * Each site announces its import to the runtime, in the cold code. So a file
 * without sites links even if no module defines the tracepoint. If an assembler
 * instruction can't name the import, each file that includes the header
 * announces it.
 */
#ifdef TP_SYMBOL_OPERAND
#define TP_IMPORT_AS(import, tracepoint, proto) static struct tp_import import TP_UNUSED = {&(tracepoint), proto}
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
#define TP_IMPORT_AS(import, tracepoint, proto)                                            \
	static struct tp_import import = {&(tracepoint), proto};                           \
	TP_ANNOUNCE(tp_import, "tp_imports", import)
#define TP_ANNOUNCE_IMPORT(import) (void)0
#endif
#define TP_IMPORT(name, proto) TP_IMPORT_AS(__tp_import_##name, __tracepoint_##name, proto)

/* ---- Keys ---- */

/* The body of a function that returns whether a tracepoint is on. The second is for imported tracepoints. */
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
 * An entry of the table from which the runtime knows the sites. Each member is a
 * distance from the member itself. The first is to the site's instruction, the
 * second to the struct tracepoint. For an imported tracepoint, the second is the
 * distance to the struct tp_import, plus 1. more is the text of further members.
 *
 * The entry's section is in the same section group as the code ("?"). So each
 * copy of a C++ inline function that the linker keeps has its entry. The section
 * is also linked to the code's ("o"), so that a linker that collects garbage
 * drops both. lld does so; ld and gold keep functions with sites, unless they
 * are told -z start-stop-gc.
 */
#define TP_SITE_ENTRY(tag, more)                                          \
	".pushsection " TP_SECTION("tp_sites") ", \"ao?\", %%progbits, .Ltp_site%=\n\t" \
	".balign 4\n\t"                                                   \
	".long .Ltp_site%= - ., %c0" tag " - .\n\t" more                  \
	".popsection"

/*
 * The relocation (.reloc) changes no byte. It makes the code of two tracepoints
 * different for linkers that fold identical code (--icf).
 */
#if defined(__x86_64__)
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	".byte 0xa9\n\t"                                                  \
	".long %l[on] - . - 4\n\t"                                        \
	".reloc .Ltp_site%=, R_X86_64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, "")
#elif defined(__aarch64__)
/* The entry has a third distance: to the target of the branch. */
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	"nop\n\t"                                                         \
	".reloc .Ltp_site%=, R_AARCH64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, ".long %l[on] - .\n\t")
#endif

/* asm goto is volatile: the compiler neither moves a site out of a loop nor merges two. __inline__ says it is short. */
#define TP_RETURN_KEY(key, tag, when_on)                                               \
	__asm__ __inline__ goto(TP_KEY_INSTRUCTION(tag) : : TP_SYMBOL_OPERAND(key) : : on); \
	return false;                                                                  \
on:                                                                                    \
	when_on;                                                                       \
	return true

/* ---- One name, one prototype ---- */

/*
 * Two files that give one tracepoint different prototypes can't be linked. Each
 * file defines the symbol the_tracepoint_NAME in a section, and the section and
 * its group are named after the prototype. Of all groups with one name the
 * linker keeps one. If two names are left, the linker prints that the symbol is
 * defined twice, with the names of both sections. The symbol is hidden, and
 * nothing refers to it.
 *
 * TP_PROTOTYPE is for the header. It defines tp_prototype_of_NAME(), which sites
 * call in the cold code. TP_PROTOTYPE_DEFINED is for the file that defines the
 * tracepoint.
 */
#define TP_PROTOTYPE(name, signature)                                                            \
	TP_PROTOTYPE_AS(tp_prototype_of_##name, tp_prototype_text_##name, the_tracepoint_##name, \
			#name, signature)
#ifdef __clang__
/*
 * clang: in C, and in each file that includes the header. With -flto, lld does
 * not see groups in assembler code. gcc has no such attribute.
 */
#define TP_PROTOTYPE_AS(function, text, symbol, name, signature)                                          \
	extern const char text __asm__("tracepoint " signature) TP_HIDDEN;                                \
	__attribute__((selectany)) const char text = 0;                                                   \
	extern const char symbol TP_HIDDEN __attribute__((alias("tracepoint " signature)));               \
	static inline void function(void)                                                                 \
	{                                                                                                 \
	}
#define TP_PROTOTYPE_IS_DEFINED(symbol, name, signature) extern const char symbol
#else
/* percent is "%", or "%%" in a function. With .ifndef, a file that uses this twice defines the symbol once. */
#define TP_PROTOTYPE_SECTION(name, signature, percent)                                         \
	".ifndef \".Ltp " signature "\"\n\t"                                                   \
	".set \".Ltp " signature "\", 1\n\t"                                                   \
	".pushsection \".rodata.tracepoint " signature "\", \"aG\", " percent "progbits, "     \
	"\"tracepoint " signature "\", comdat\n\t"                                             \
	".globl the_tracepoint_" name "\n\t"                                                   \
	".hidden the_tracepoint_" name "\n"                                                    \
	"the_tracepoint_" name ":\n\t"                                                         \
	".popsection\n\t"                                                                      \
	".endif"
#define TP_PROTOTYPE_AS(function, text, symbol, name, signature)                               \
	static inline __attribute__((always_inline)) void function(void)                       \
	{                                                                                      \
		__asm__ __inline__ volatile(TP_PROTOTYPE_SECTION(name, signature, "%%") : :);  \
	}
#define TP_PROTOTYPE_IS_DEFINED(symbol, name, signature) __asm__(TP_PROTOTYPE_SECTION(name, signature, "%"))
#endif
#define TP_PROTOTYPE_DEFINED(name, signature) TP_PROTOTYPE_IS_DEFINED(the_tracepoint_##name, #name, signature)

#endif /* TP_SITE_H */
