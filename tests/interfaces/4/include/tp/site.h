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
#define TP_IMPORT(name, proto) static struct tp_import __tp_import_##name TP_UNUSED = {&__tracepoint_##name, proto}
#define TP_ANNOUNCE_IMPORT(import)                                                         \
	__asm__ __inline__ volatile(".Ltp_import%=:\n\t"                                   \
				    ".pushsection tp_imports, \"awo?\", %%progbits, "      \
				    ".Ltp_import%=\n\t"                                    \
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
#if TP_STATIC_KEYS
#define TP_RETURN_ENABLED(tracepoint) TP_RETURN_KEY(&(tracepoint), "", (void)0)
#define TP_RETURN_IMPORT_ENABLED(import) TP_RETURN_KEY(&(import), " + 1", TP_ANNOUNCE_IMPORT(import))
#else
#define TP_RETURN_ENABLED(tracepoint) return tp_enabled(&(tracepoint))
#define TP_RETURN_IMPORT_ENABLED(import)           \
	if (__builtin_expect(!tp_enabled((import).tp), 1)) \
		return false;                      \
	TP_ANNOUNCE_IMPORT(import);                \
	return true
#endif
#define TP_SITE_ENTRY(tag, more)                                          \
	".pushsection tp_sites, \"ao?\", %%progbits, .Ltp_site%=\n\t"     \
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
#ifdef __clang__
#define TP_PROTOTYPE(name, signature)                                                                     \
	extern const char tp_prototype_text_##name __asm__("tracepoint " signature) TP_HIDDEN;            \
	__attribute__((selectany)) const char tp_prototype_text_##name = 0;                               \
	extern const char the_tracepoint_##name TP_HIDDEN __attribute__((alias("tracepoint " signature))); \
	static inline void tp_prototype_of_##name(void)                                                   \
	{                                                                                                 \
	}
#define TP_PROTOTYPE_DEFINED(name, signature) extern const char the_tracepoint_##name
#else
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
#endif
