/* SPDX-License-Identifier: MIT */
#ifndef TP_CALL_H
#define TP_CALL_H
#include <tp/site.h>
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define TP_MEMORY_SANITIZER 1
#endif
#endif
#if TP_STATIC_KEYS && defined(__x86_64__) && !defined(TP_MEMORY_SANITIZER)
#define TP_IS_WORD(x) (sizeof(x) <= sizeof(long) && TP_CLASS(x) >= 1 && TP_CLASS(x) <= 5)
#ifdef __cplusplus
extern "C++" {
template <class T> struct tp_plain { typedef T type; };
template <class T> struct tp_plain<volatile T> { typedef T type; };
template <class T> struct tp_plain<const volatile T> { typedef const T type; };
template <bool is_word> struct tp_word {
	template <class T> static unsigned long of(T x) { return (unsigned long)x; }
};
template <> struct tp_word<false> {
	template <class T> static unsigned long of(const T &) { return 0; }
};
}
#define TP_CLASS(x) __builtin_classify_type(*(tp_plain<__typeof__(x)>::type *)0)
#define TP_WORD(x) tp_word<TP_IS_WORD(x)>::of(x)
#else
#define TP_CLASS(x) __builtin_classify_type(x)
#define TP_WORD(x) ((unsigned long)__builtin_choose_expr(TP_IS_WORD(x), x, 0))
#endif
#ifdef __cplusplus
extern "C"
#endif
TP_PUBLIC void tp_call_probes(void);
#define TP_CALL_INSTRUCTIONS                                                                            \
	"{lea 1f(%%rip), %%r11|lea r11, 1f[rip]}\n\t"                                                   \
	"{jmp *tp_call_probes@GOTPCREL(%%rip)|jmp QWORD PTR tp_call_probes@GOTPCREL[rip]}\n"            \
	"1:"
#if defined(__AVX512F__) || defined(__clang__)
#define TP_CALL_CLOBBERS_512                                                                            \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",     \
		"xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4",     \
		"k5", "k6", "k7"
#else
#define TP_CALL_CLOBBERS_512
#endif
#ifdef __APX_F__
#define TP_CALL_CLOBBERS_APX                                                                            \
	, "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28",    \
		"r29", "r30", "r31"
#else
#define TP_CALL_CLOBBERS_APX
#endif
#ifdef __SSE__
#define TP_CALL_CLOBBERS_SSE                                                                            \
	, "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",      \
		"xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#else
#define TP_CALL_CLOBBERS_SSE
#endif
#ifndef _SOFT_FLOAT
#define TP_CALL_CLOBBERS_X87 , "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
#else
#define TP_CALL_CLOBBERS_X87
#endif
#if defined(__clang__) && defined(__MMX__)
#define TP_CALL_CLOBBERS_MMX , "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"
#else
#define TP_CALL_CLOBBERS_MMX
#endif
#define TP_CALL_CLOBBERS                                                                                \
	"r11", "memory", "cc" TP_CALL_CLOBBERS_X87 TP_CALL_CLOBBERS_MMX TP_CALL_CLOBBERS_SSE            \
		TP_CALL_CLOBBERS_512 TP_CALL_CLOBBERS_APX
#define TP_CALL_IS_A_CALL(tp)                             \
	if (__builtin_constant_p((unsigned long)(tp) + 1)) \
	tp_call_probes()
#define TP_CALL_FUNCTION static inline __attribute__((always_inline)) void
TP_CALL_FUNCTION tp_call_0(struct tracepoint *tp)
{
	__asm__ volatile(TP_CALL_INSTRUCTIONS : "+a"(tp) : : "r8", "r9", "r10", TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
TP_CALL_FUNCTION tp_call_1(struct tracepoint *tp, unsigned long a)
{
	register unsigned long r8 __asm__("r8") = a;
	__asm__ volatile(TP_CALL_INSTRUCTIONS : "+a"(tp), "+r"(r8) : : "r9", "r10", TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
TP_CALL_FUNCTION tp_call_2(struct tracepoint *tp, unsigned long a, unsigned long b)
{
	register unsigned long r8 __asm__("r8") = a, r9 __asm__("r9") = b;
	__asm__ volatile(TP_CALL_INSTRUCTIONS : "+a"(tp), "+r"(r8), "+r"(r9) : : "r10", TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
TP_CALL_FUNCTION tp_call_3(struct tracepoint *tp, unsigned long a, unsigned long b, unsigned long c)
{
	register unsigned long r8 __asm__("r8") = a, r9 __asm__("r9") = b, r10 __asm__("r10") = c;
	__asm__ volatile(TP_CALL_INSTRUCTIONS : "+a"(tp), "+r"(r8), "+r"(r9), "+r"(r10) : : TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
TP_CALL_FUNCTION tp_call_4(struct tracepoint *tp, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	register unsigned long r8 __asm__("r8") = a, r9 __asm__("r9") = b, r10 __asm__("r10") = c;
	__asm__ volatile(TP_CALL_INSTRUCTIONS : "+a"(tp), "+r"(r8), "+r"(r9), "+r"(r10) : "c"(d) : TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
TP_CALL_FUNCTION tp_call_5(struct tracepoint *tp, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
			   unsigned long e)
{
	register unsigned long r8 __asm__("r8") = a, r9 __asm__("r9") = b, r10 __asm__("r10") = c;
	__asm__ volatile(TP_CALL_INSTRUCTIONS
			 : "+a"(tp), "+r"(r8), "+r"(r9), "+r"(r10) : "c"(d), "d"(e) : TP_CALL_CLOBBERS);
	TP_CALL_IS_A_CALL(tp);
}
#define TP_CALL_0(probe, tp) tp_call_0(tp)
#define TP_CALL_1(probe, tp, a) \
	(TP_IS_WORD(a) \
		 ? tp_call_1(tp, TP_WORD(a)) \
		 : ((probe *)(tp)->iterate)(tp, a))
#define TP_CALL_2(probe, tp, a, b) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) \
		 ? tp_call_2(tp, TP_WORD(a), TP_WORD(b)) \
		 : ((probe *)(tp)->iterate)(tp, a, b))
#define TP_CALL_3(probe, tp, a, b, c) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) \
		 ? tp_call_3(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c)) \
		 : ((probe *)(tp)->iterate)(tp, a, b, c))
#define TP_CALL_4(probe, tp, a, b, c, d) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) && TP_IS_WORD(d) \
		 ? tp_call_4(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c), TP_WORD(d)) \
		 : ((probe *)(tp)->iterate)(tp, a, b, c, d))
#define TP_CALL_5(probe, tp, a, b, c, d, e) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) && TP_IS_WORD(d) && TP_IS_WORD(e) \
		 ? tp_call_5(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c), TP_WORD(d), TP_WORD(e)) \
		 : ((probe *)(tp)->iterate)(tp, a, b, c, d, e))
#else
#define TP_CALL_0(probe, tp) ((probe *)(tp)->iterate)(tp)
#define TP_CALL_1(probe, tp, a) ((probe *)(tp)->iterate)(tp, a)
#define TP_CALL_2(probe, tp, a, b) ((probe *)(tp)->iterate)(tp, a, b)
#define TP_CALL_3(probe, tp, a, b, c) ((probe *)(tp)->iterate)(tp, a, b, c)
#define TP_CALL_4(probe, tp, a, b, c, d) ((probe *)(tp)->iterate)(tp, a, b, c, d)
#define TP_CALL_5(probe, tp, a, b, c, d, e) ((probe *)(tp)->iterate)(tp, a, b, c, d, e)
#endif
#define TP_CALL_MANY(probe, tp, ...) ((probe *)(tp)->iterate)(tp, __VA_ARGS__)
#endif
