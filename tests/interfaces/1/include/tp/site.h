/* SPDX-License-Identifier: MIT */
#ifndef TP_SITE_H
#define TP_SITE_H
#include <tp/tracepoint.h>
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
#ifdef __OPTIMIZE__
#define TP_SITE_INLINE inline __attribute__((always_inline))
#else
#define TP_SITE_INLINE inline
#endif
struct tp_import {
	struct tracepoint *volatile tp;
	const char *proto;
};
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
#define TP_SITE_ENTRY(tag, more)                                          \
	".pushsection " TP_SECTION("tp_sites") ", \"ao?\", %%progbits, .Ltp_site%=\n\t" \
	".balign 4\n\t"                                                   \
	".long .Ltp_site%= - ., %c0" tag " - .\n\t" more                  \
	".popsection"
#if defined(__x86_64__)
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	".byte 0xa9\n\t"                                                  \
	".long %l[on] - . - 4\n\t"                                        \
	".reloc .Ltp_site%=, R_X86_64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, "")
#elif defined(__aarch64__)
#define TP_KEY_INSTRUCTION(tag)                                           \
	".Ltp_site%=:\n\t"                                                \
	"nop\n\t"                                                         \
	".reloc .Ltp_site%=, R_AARCH64_NONE, %c0" tag "\n\t" TP_SITE_ENTRY(tag, ".long %l[on] - .\n\t")
#endif
#define TP_RETURN_KEY(key, tag, when_on)                                               \
	__asm__ __inline__ goto(TP_KEY_INSTRUCTION(tag) : : TP_SYMBOL_OPERAND(key) : : on); \
	return false;                                                                  \
on:                                                                                    \
	when_on;                                                                       \
	return true
#define TP_PROTOTYPE(name, signature)                                                            \
	TP_PROTOTYPE_AS(tp_prototype_of_##name, tp_prototype_text_##name, the_tracepoint_##name, \
			#name, signature)
#ifdef __clang__
#define TP_PROTOTYPE_AS(function, text, symbol, name, signature)                                          \
	extern const char text __asm__("tracepoint " signature) TP_HIDDEN;                                \
	__attribute__((selectany)) const char text = 0;                                                   \
	extern const char symbol TP_HIDDEN __attribute__((alias("tracepoint " signature)));               \
	static inline void function(void)                                                                 \
	{                                                                                                 \
	}
#define TP_PROTOTYPE_IS_DEFINED(symbol, name, signature) extern const char symbol
#else
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
#endif
