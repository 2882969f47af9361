/* SPDX-License-Identifier: MIT */
/*
 * tp/call.h - how a site that is on calls the probes. Only headers that tpgen
 * has written use this one.
 *
 * TP_CALL_WORDS_n(probe, tp, arguments...) calls tp's iterator, a function that has
 * the same type as the probes and calls each of them. n is the number of
 * arguments.
 *
 * A function that calls another keeps the values that it needs in registers that
 * a call preserves, and must save those registers first. In a short function
 * saving is more work than the site itself, and is done even while the site is
 * off. So on x86-64 the call goes through tp_call_probes (core/site.c in the
 * runtime). It takes the arguments in registers that are seldom in use, and
 * preserves the other general registers, except rax and r11. It does not
 * preserve vector registers.
 *
 * tp_call_probes takes up to five arguments that are integers or pointers. For
 * six or seven, or if some are a float or a double, tpgen writes TP_CALL_VALUES_n:
 * the site jumps to tp_call_probes_any, which takes vector registers, too. With
 * arguments of other types, the call is an ordinary one. It is also an ordinary
 * one with MemorySanitizer, because both functions do not pass on the
 * sanitizer's shadow of the arguments.
 */
#ifndef TP_CALL_H
#define TP_CALL_H

#include <tp/site.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define TP_MEMORY_SANITIZER 1
#endif
#endif

/*
 * TP_ITERATE loads the iterator. Another thread can store a check there at the same time; the check itself orders
 * what it reads (core/enable_flag.c in the runtime), so a plain load of a word is enough. It is only declared atomic for
 * ThreadSanitizer: an atomic load makes gcc do some work before an arm64 site, even while that is off.
 */
#if defined(__SANITIZE_THREAD__)
#define TP_LOAD_ATOMICALLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TP_LOAD_ATOMICALLY 1
#endif
#endif
#ifdef TP_LOAD_ATOMICALLY
#define TP_ITERATE(tp) __atomic_load_n(&(tp)->iterate, __ATOMIC_RELAXED)
#else
#define TP_ITERATE(tp) (tp)->iterate
#endif

#if TP_STATIC_KEYS && defined(__x86_64__) && !defined(TP_MEMORY_SANITIZER)

/*
 * A word is an integer, enumeration, bool or pointer, no wider than a pointer. A
 * real is a float or double; TP_REAL(x) has the bits that a call passes in a
 * vector register.
 */
#define TP_IS_WORD_OF(type, class_of) (sizeof(type) <= sizeof(long) && (class_of) >= 1 && (class_of) <= 5)

#ifdef __cplusplus
extern "C++" {
template <class T, bool is_word> struct tp_word {
	static const bool is = is_word;
	static unsigned long of(T x) { return (unsigned long)x; }
};
template <class T> struct tp_word<T, false> {
	static const bool is = false;
	static unsigned long of(const T &) { return 0; }
	static unsigned long of(const volatile T &) { return 0; }
};
/* Never called, only its type is used. x has an argument's type there: an array is a pointer, nothing is volatile. */
template <class T> tp_word<T, TP_IS_WORD_OF(T, __builtin_classify_type(*(T *)0))> tp_word_of(T x);

/* In TP_ARGS are names of parameters: the type of one can be a reference, of which a call passes the address. */
struct tp_is_value {
	static const bool is = true;
};
struct tp_is_reference {
	static const bool is = false;
};
template <class T> tp_is_value tp_value_or_reference(void (*)(T));
template <class T> tp_is_reference tp_value_or_reference(void (*)(T &));
#define TP_IS_VALUE(x) decltype(tp_value_or_reference((void (*)(decltype(x)))0))::is

template <class T> struct tp_real {
	static const bool is = false;
	static double of(const T &) { return 0; }
	static double of(const volatile T &) { return 0; }
};
template <> struct tp_real<double> {
	static const bool is = true;
	static double of(double x) { return x; }
};
template <> struct tp_real<float> {
	static const bool is = true;
	static double of(float x)
	{
		double real = 0;

		__builtin_memcpy(&real, &x, sizeof(x));
		return real;
	}
};
template <class T> tp_real<T> tp_real_of(T x);
}
#define TP_IS_WORD(x) (decltype(tp_word_of(x))::is && TP_IS_VALUE(x))
#define TP_WORD(x) decltype(tp_word_of(x))::of(x)
#ifdef __SSE2__
#define TP_IS_REAL(x) (decltype(tp_real_of(x))::is && TP_IS_VALUE(x))
#define TP_REAL(x) decltype(tp_real_of(x))::of(x)
#endif
#else
/* __typeof__, because compilers warn of sizeof(x) if x is a parameter that is written as an array. */
#define TP_IS_WORD(x) TP_IS_WORD_OF(__typeof__(x), __builtin_classify_type(x))
#define TP_WORD(x) ((unsigned long)__builtin_choose_expr(TP_IS_WORD(x), x, 0))

#ifdef __SSE2__
#define TP_IS(type, x) __builtin_types_compatible_p(__typeof__(x), type)
#define TP_IS_REAL(x) (TP_IS(double, x) || TP_IS(float, x))
#define TP_REAL(x)                                                                                      \
	(TP_IS(float, x) ? tp_real_of_float(__builtin_choose_expr(TP_IS(float, x), x, 0.0f))            \
			 : __builtin_choose_expr(TP_IS(double, x), x, 0.0))

static inline __attribute__((always_inline)) double tp_real_of_float(float x)
{
	double real = 0;

	__builtin_memcpy(&real, &x, sizeof(x));
	return real;
}
#endif
#endif
#ifndef __SSE2__
#define TP_IS_REAL(x) 0
#define TP_REAL(x) 0
#endif

/* Not to be called from C: its arguments are not in the registers that a C call uses. */
#ifdef __cplusplus
extern "C"
#endif
TP_PUBLIC void tp_call_probes(void);

/* Must not push anything: only tp_call_probes knows how to keep the red zone and to align the stack. */
#define TP_CALL_INSTRUCTIONS                                                                            \
	"{lea 1f(%%rip), %%r11|lea r11, 1f[rip]}\n\t"                                                   \
	"{jmp *tp_call_probes@GOTPCREL(%%rip)|jmp QWORD PTR tp_call_probes@GOTPCREL[rip]}\n"            \
	"1:"
/*
 * What a call can change: everything except the registers that tp_call_probes
 * preserves. gcc knows the registers of AVX-512 only in files that are compiled
 * with AVX-512. In another file, a function that has AVX-512 by an attribute
 * must not have a site, unless the file is compiled with -DTP_STATIC_KEYS=0.
 */
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
#define TP_CALL_CLOBBERS_ARGS , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6"
#define TP_CALL_CLOBBERS_SSE , "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#else
#define TP_CALL_CLOBBERS_ARGS
#define TP_CALL_CLOBBERS_SSE
#endif
#ifndef _SOFT_FLOAT
#define TP_CALL_CLOBBERS_X87 , "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
#else
#define TP_CALL_CLOBBERS_X87
#endif
#if defined(__clang__) && defined(__MMX__) /* gcc keeps these in xmm registers */
#define TP_CALL_CLOBBERS_MMX , "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"
#else
#define TP_CALL_CLOBBERS_MMX
#endif
#define TP_CALL_CLOBBERS TP_CALL_CLOBBERS_BUT_ARGS TP_CALL_CLOBBERS_ARGS
#define TP_CALL_CLOBBERS_BUT_ARGS                                                                       \
	"r11", "memory", "cc" TP_CALL_CLOBBERS_X87 TP_CALL_CLOBBERS_MMX TP_CALL_CLOBBERS_SSE            \
		TP_CALL_CLOBBERS_512 TP_CALL_CLOBBERS_APX

/*
 * gcc assumes that an assembler instruction changes no static variable of the
 * file unless it mentions the variable's address. So gcc would miss what a probe
 * in the same file writes. The macro adds an ordinary call, which the pass that
 * assumes this (ipa-reference) sees. After that pass, __builtin_constant_p
 * becomes 0, and gcc drops the call.
 */
#define TP_CALL_IS_A_CALL(tp)                             \
	if (__builtin_constant_p((unsigned long)(tp) + 1)) \
	tp_call_probes()

/*
 * The arguments are in r8, r9, r10, rcx and rdx, in this order. These seldom hold
 * a value that a short function needs later. rcx and rdx come back unchanged.
 */
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

#define TP_CALL_WORDS_0(probe, tp) tp_call_0(tp)
#define TP_CALL_WORDS_1(probe, tp, a) \
	(TP_IS_WORD(a) \
		 ? tp_call_1(tp, TP_WORD(a)) \
		 : ((probe *)TP_ITERATE(tp))(tp, a))
#define TP_CALL_WORDS_2(probe, tp, a, b) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) \
		 ? tp_call_2(tp, TP_WORD(a), TP_WORD(b)) \
		 : ((probe *)TP_ITERATE(tp))(tp, a, b))
#define TP_CALL_WORDS_3(probe, tp, a, b, c) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) \
		 ? tp_call_3(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c)) \
		 : ((probe *)TP_ITERATE(tp))(tp, a, b, c))
#define TP_CALL_WORDS_4(probe, tp, a, b, c, d) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) && TP_IS_WORD(d) \
		 ? tp_call_4(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c), TP_WORD(d)) \
		 : ((probe *)TP_ITERATE(tp))(tp, a, b, c, d))
#define TP_CALL_WORDS_5(probe, tp, a, b, c, d, e) \
	(TP_IS_WORD(a) && TP_IS_WORD(b) && TP_IS_WORD(c) && TP_IS_WORD(d) && TP_IS_WORD(e) \
		 ? tp_call_5(tp, TP_WORD(a), TP_WORD(b), TP_WORD(c), TP_WORD(d), TP_WORD(e)) \
		 : ((probe *)TP_ITERATE(tp))(tp, a, b, c, d, e))

/*
 * The code of tp_call_probes and tp_call_probes_any: rax is the tracepoint, r11
 * the address to return to; push is the text that pushes further arguments. What
 * a function can change by the ABI is preserved here, except rax, r8 to r11 and
 * the vector registers, which the site says are lost.
 *
 * The site's function may be a leaf: it has 128 bytes below its stack pointer,
 * and that is not aligned. From there on this is an ordinary frame, so that
 * debuggers and profilers find the caller.
 */
#define TP_CALL_PROBES_CODE(push)                                                                       \
	"{|.att_syntax prefix\n\t}"                                                                     \
	".cfi_def_cfa rsp, 0\n\t"                                                                       \
	".cfi_register rip, r11\n\t"                                                                    \
	"lea -128(%%rsp), %%rsp\n\t"                                                                    \
	".cfi_adjust_cfa_offset 128\n\t"                                                                \
	"push %%r11\n\t"                                                                                \
	".cfi_adjust_cfa_offset 8\n\t"                                                                  \
	".cfi_rel_offset rip, 0\n\t"                                                                    \
	"push %%rbp\n\t"                                                                                \
	".cfi_adjust_cfa_offset 8\n\t"                                                                  \
	".cfi_rel_offset rbp, 0\n\t"                                                                    \
	"mov %%rsp, %%rbp\n\t"                                                                          \
	".cfi_def_cfa_register rbp\n\t"                                                                 \
	"push %%rdi\n\t"                                                                                \
	".cfi_offset rdi, -152\n\t"                                                                     \
	"push %%rsi\n\t"                                                                                \
	".cfi_offset rsi, -160\n\t"                                                                     \
	"push %%rdx\n\t"                                                                                \
	".cfi_offset rdx, -168\n\t"                                                                     \
	"push %%rcx\n\t"                                                                                \
	".cfi_offset rcx, -176\n\t"                                                                     \
	"and $-16, %%rsp\n\t" push                                                                      \
	"mov %%rax, %%rdi\n\t"                                                                          \
	"mov %%r8, %%rsi\n\t"                                                                           \
	"mov %%rcx, %%r8\n\t"                                                                           \
	"mov %%r10, %%rcx\n\t"                                                                          \
	"mov %%rdx, %%r10\n\t"                                                                          \
	"mov %%r9, %%rdx\n\t"                                                                           \
	"mov %%r10, %%r9\n\t"                                                                           \
	"call *16(%%rax)\n\t" /* iterate */                                                             \
	"mov -8(%%rbp), %%rdi\n\t"                                                                      \
	"mov -16(%%rbp), %%rsi\n\t"                                                                     \
	"mov -24(%%rbp), %%rdx\n\t"                                                                     \
	"mov -32(%%rbp), %%rcx\n\t"                                                                     \
	"leave\n\t"                                                                                     \
	".cfi_def_cfa rsp, 136\n\t"                                                                     \
	".cfi_same_value rbp\n\t"                                                                       \
	"pop %%r11\n\t"                                                                                 \
	".cfi_adjust_cfa_offset -8\n\t"                                                                 \
	".cfi_register rip, r11\n\t"                                                                    \
	"lea 128(%%rsp), %%rsp\n\t"                                                                     \
	".cfi_adjust_cfa_offset -128\n\t"                                                               \
	"notrack jmp *%%r11"                                                                            \
	"{|\n\t.intel_syntax noprefix}"

/*
 * The same for up to seven arguments that are words or reals. The sixth and
 * seventh word are in rsi and rdi, which come back unchanged. The reals are in
 * xmm0 to xmm6, where a C call has them.
 *
 * Each argument is a TP_ANY(): its kind, and its value as a word and as a real,
 * of which the kind tells the right one. The registers that an ordinary site
 * loses anyway are always operands, even if there is no argument for them.
 */
#define TP_KIND(x) (TP_IS_WORD(x) + 2 * TP_IS_REAL(x)) /* 0: neither */
#define TP_ANY(x) TP_KIND(x), TP_WORD(x), TP_REAL(x)
#define TP_NO_ANY 0, 0, 0

/* Where these sites go. Each file has its own: a program may find a library that is older than its headers. */
static __attribute__((naked, unused)) void tp_call_probes_any(void)
{
	__asm__ volatile(TP_CALL_PROBES_CODE("push %%rdi\n\tpush %%rsi\n\t") : :);
}

/* Registers without an argument have any value. */
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#ifdef __SSE2__
#define TP_CALL_REALS , "+x"(xmm0), "+x"(xmm1), "+x"(xmm2), "+x"(xmm3), "+x"(xmm4), "+x"(xmm5), "+x"(xmm6)
#define TP_SET_REALS                                                                                    \
	register double xmm0 __asm__("xmm0") = x0, xmm1 __asm__("xmm1") = x1, xmm2 __asm__("xmm2") = x2, \
			xmm3 __asm__("xmm3") = x3, xmm4 __asm__("xmm4") = x4, xmm5 __asm__("xmm5") = x5, \
			xmm6 __asm__("xmm6") = x6;
#define TP_CALL_CLOBBERS_ANY TP_CALL_CLOBBERS_BUT_ARGS
#else
#define TP_CALL_REALS
#define TP_SET_REALS
#define TP_CALL_CLOBBERS_ANY TP_CALL_CLOBBERS
#endif
#define TP_JUMP_ANY(...)                                                                                \
	do {                                                                                            \
		register unsigned long r8 __asm__("r8") = w0, r9 __asm__("r9") = w1, r10 __asm__("r10") = w2; \
		TP_SET_REALS                                                                            \
		__asm__ volatile("{lea 1f(%%rip), %%r11|lea r11, 1f[rip]}\n\t"                          \
				 "jmp %P[function]\n"                                                   \
				 "1:"                                                                   \
				 : "+a"(tp), "+r"(r8), "+r"(r9), "+r"(r10) TP_CALL_REALS                \
				 : __VA_ARGS__ [function] "i"(tp_call_probes_any)                       \
				 : TP_CALL_CLOBBERS_ANY);                                               \
	} while (0)
#define TP_PUT_ANY(kind, word, real)                                                                    \
	do {                                                                                            \
		if ((kind) == 1)                                                                        \
			words[nr_words++] = (word);                                                     \
		else if ((kind) == 2)                                                                   \
			reals[nr_reals++] = (real);                                                     \
	} while (0)
/*
 * The empty instruction makes the compiler compute the value here, before any of
 * the registers is set: to convert a value may take a call, and sanitizers call
 * functions between statements.
 */
#define TP_TAKE_ANY(to, values, i, constraint)                                                          \
	do {                                                                                            \
		if (nr_##values > (i)) {                                                                \
			(to) = (values)[i];                                                             \
			__asm__("" : : constraint(to));                                                 \
		}                                                                                       \
	} while (0)
#ifdef __SSE2__
#define TP_REAL_CONSTRAINT "x"
#else
#define TP_REAL_CONSTRAINT "m"
#endif

TP_CALL_FUNCTION tp_call_any(struct tracepoint *tp, int a, unsigned long wa, double ra, int b, unsigned long wb,
			     double rb, int c, unsigned long wc, double rc, int d, unsigned long wd, double rd, int e,
			     unsigned long we, double re, int f, unsigned long wf, double rf, int g, unsigned long wg,
			     double rg)
{
	unsigned int nr_words = 0, nr_reals = 0;
	unsigned long words[7], w0, w1, w2, w3, w4, w5, w6;
	double reals[7], x0, x1, x2, x3, x4, x5, x6;

	TP_PUT_ANY(a, wa, ra);
	TP_PUT_ANY(b, wb, rb);
	TP_PUT_ANY(c, wc, rc);
	TP_PUT_ANY(d, wd, rd);
	TP_PUT_ANY(e, we, re);
	TP_PUT_ANY(f, wf, rf);
	TP_PUT_ANY(g, wg, rg);
	TP_TAKE_ANY(w0, words, 0, "r");
	TP_TAKE_ANY(w1, words, 1, "r");
	TP_TAKE_ANY(w2, words, 2, "r");
	TP_TAKE_ANY(w3, words, 3, "r");
	TP_TAKE_ANY(w4, words, 4, "r");
	TP_TAKE_ANY(w5, words, 5, "r");
	TP_TAKE_ANY(w6, words, 6, "r");
	TP_TAKE_ANY(x0, reals, 0, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x1, reals, 1, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x2, reals, 2, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x3, reals, 3, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x4, reals, 4, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x5, reals, 5, TP_REAL_CONSTRAINT);
	TP_TAKE_ANY(x6, reals, 6, TP_REAL_CONSTRAINT);
	switch (nr_words) {
	case 7:
		TP_JUMP_ANY("c"(w3), "d"(w4), "S"(w5), "D"(w6), );
		break;
	case 6:
		TP_JUMP_ANY("c"(w3), "d"(w4), "S"(w5), );
		break;
	case 5:
		TP_JUMP_ANY("c"(w3), "d"(w4), );
		break;
	case 4:
		TP_JUMP_ANY("c"(w3), );
		break;
	default:
		TP_JUMP_ANY();
	}
	TP_CALL_IS_A_CALL(tp);
}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

#define TP_CALL_VALUES_1(probe, tp, a) \
	(TP_KIND(a) > 1 \
		 ? tp_call_any(tp, TP_ANY(a), TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY) \
		 : TP_CALL_WORDS_1(probe, tp, a))
#define TP_CALL_VALUES_2(probe, tp, a, b) \
	(TP_KIND(a) * TP_KIND(b) > 1 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY) \
		 : TP_CALL_WORDS_2(probe, tp, a, b))
#define TP_CALL_VALUES_3(probe, tp, a, b, c) \
	(TP_KIND(a) * TP_KIND(b) * TP_KIND(c) > 1 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_ANY(c), TP_NO_ANY, TP_NO_ANY, TP_NO_ANY, TP_NO_ANY) \
		 : TP_CALL_WORDS_3(probe, tp, a, b, c))
#define TP_CALL_VALUES_4(probe, tp, a, b, c, d) \
	(TP_KIND(a) * TP_KIND(b) * TP_KIND(c) * TP_KIND(d) > 1 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_ANY(c), TP_ANY(d), TP_NO_ANY, TP_NO_ANY, TP_NO_ANY) \
		 : TP_CALL_WORDS_4(probe, tp, a, b, c, d))
#define TP_CALL_VALUES_5(probe, tp, a, b, c, d, e) \
	(TP_KIND(a) * TP_KIND(b) * TP_KIND(c) * TP_KIND(d) * TP_KIND(e) > 1 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_ANY(c), TP_ANY(d), TP_ANY(e), TP_NO_ANY, TP_NO_ANY) \
		 : TP_CALL_WORDS_5(probe, tp, a, b, c, d, e))
#define TP_CALL_VALUES_6(probe, tp, a, b, c, d, e, f) \
	(TP_KIND(a) * TP_KIND(b) * TP_KIND(c) * TP_KIND(d) * TP_KIND(e) * TP_KIND(f) > 0 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_ANY(c), TP_ANY(d), TP_ANY(e), TP_ANY(f), TP_NO_ANY) \
		 : TP_CALL_MANY(probe, tp, a, b, c, d, e, f))
#define TP_CALL_VALUES_7(probe, tp, a, b, c, d, e, f, g) \
	(TP_KIND(a) * TP_KIND(b) * TP_KIND(c) * TP_KIND(d) * TP_KIND(e) * TP_KIND(f) * TP_KIND(g) > 0 \
		 ? tp_call_any(tp, TP_ANY(a), TP_ANY(b), TP_ANY(c), TP_ANY(d), TP_ANY(e), TP_ANY(f), TP_ANY(g)) \
		 : TP_CALL_MANY(probe, tp, a, b, c, d, e, f, g))

#else

#define TP_CALL_WORDS_0(probe, tp) ((probe *)TP_ITERATE(tp))(tp)
#define TP_CALL_WORDS_1(probe, tp, a) ((probe *)TP_ITERATE(tp))(tp, a)
#define TP_CALL_WORDS_2(probe, tp, a, b) ((probe *)TP_ITERATE(tp))(tp, a, b)
#define TP_CALL_WORDS_3(probe, tp, a, b, c) ((probe *)TP_ITERATE(tp))(tp, a, b, c)
#define TP_CALL_WORDS_4(probe, tp, a, b, c, d) ((probe *)TP_ITERATE(tp))(tp, a, b, c, d)
#define TP_CALL_WORDS_5(probe, tp, a, b, c, d, e) ((probe *)TP_ITERATE(tp))(tp, a, b, c, d, e)

#define TP_CALL_VALUES_1 TP_CALL_WORDS_1
#define TP_CALL_VALUES_2 TP_CALL_WORDS_2
#define TP_CALL_VALUES_3 TP_CALL_WORDS_3
#define TP_CALL_VALUES_4 TP_CALL_WORDS_4
#define TP_CALL_VALUES_5 TP_CALL_WORDS_5
#define TP_CALL_VALUES_6 TP_CALL_MANY
#define TP_CALL_VALUES_7 TP_CALL_MANY

#endif

/* For more arguments than those registers hold: an ordinary call. */
#define TP_CALL_MANY(probe, tp, ...) ((probe *)TP_ITERATE(tp))(tp, __VA_ARGS__)

#endif /* TP_CALL_H */
