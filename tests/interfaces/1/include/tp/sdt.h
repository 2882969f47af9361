/* SPDX-License-Identifier: MIT */
#ifndef TP_SDT_H
#define TP_SDT_H
#include <tp/tracepoint.h>
#if defined(__ELF__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define TP_SDT_POSSIBLE 1
#else
#define TP_SDT_POSSIBLE 0
#endif
#ifndef TP_SDT
#define TP_SDT 0
#elif TP_SDT && !TP_SDT_POSSIBLE
#error "TP_SDT is for 64-bit x86 and ARM, and for ELF: leave out -DTP_SDT"
#endif
#if !TP_SDT
#ifdef __cplusplus
extern "C"
#endif
int tp_sdt_unused(const char *provider, ...);
#define TP_SDT_PROBE(...) (void)sizeof(tp_sdt_unused(__VA_ARGS__))
#else
#ifdef __cplusplus
extern "C++" {
template <class T> struct tp_sdt_is_signed {
	static const bool value = false;
};
template <> struct tp_sdt_is_signed<char> {
	static const bool value = (char)-1 < 1;
};
template <> struct tp_sdt_is_signed<wchar_t> {
	static const bool value = (wchar_t)-1 < 1;
};
#define TP_SDT_IS_SIGNED(type)                            \
	template <> struct tp_sdt_is_signed<type> {       \
		static const bool value = true;           \
	};
TP_SDT_IS_SIGNED(signed char)
TP_SDT_IS_SIGNED(short)
TP_SDT_IS_SIGNED(int)
TP_SDT_IS_SIGNED(long)
TP_SDT_IS_SIGNED(long long)
template <class T, bool is_enum> struct tp_sdt_integer {
	typedef T type;
};
template <class T> struct tp_sdt_integer<T, true> {
	typedef __underlying_type(T) type;
};
template <class T, bool is_word> struct tp_sdt_argument {
	static const int size = 0;
	static inline __attribute__((always_inline)) int of(const T &)
	{
		return 0;
	}
};
template <class T> struct tp_sdt_argument<T, true> {
	typedef typename tp_sdt_integer<T, __is_enum(T)>::type integer;
	static const int size = tp_sdt_is_signed<integer>::value ? -(int)sizeof(T) : (int)sizeof(T);
	static inline __attribute__((always_inline)) T of(T x)
	{
		return x;
	}
};
template <class T>
tp_sdt_argument<T, sizeof(T) <= sizeof(long) && __builtin_classify_type(*(T *)0) >= 1 &&
			   __builtin_classify_type(*(T *)0) <= 5>
tp_sdt_argument_of(T x);
}
#define TP_SDT_SIZE(x) decltype(tp_sdt_argument_of(x))::size
#define TP_SDT_WORD(x) decltype(tp_sdt_argument_of(x))::of(x)
#else
#ifdef __CHAR_UNSIGNED__
#define TP_SDT_CHAR_IS_SIGNED 0
#else
#define TP_SDT_CHAR_IS_SIGNED 1
#endif
#define TP_SDT_VALUE(x) ((void)0, (x))
#define TP_SDT_BYTES(x) ((int)sizeof(__typeof__(TP_SDT_VALUE(x))))
#define TP_SDT_IS_WORD(x)                                                                               \
	(TP_SDT_BYTES(x) <= (int)sizeof(long) && __builtin_classify_type(TP_SDT_VALUE(x)) >= 1 &&       \
	 __builtin_classify_type(TP_SDT_VALUE(x)) <= 5)
#define TP_SDT_IS_SIGNED(x)                                                                             \
	_Generic(TP_SDT_VALUE(x), char: TP_SDT_CHAR_IS_SIGNED, signed char: 1, short: 1, int: 1, long: 1, \
		 long long: 1, default: 0)
#define TP_SDT_SIZE(x) (!TP_SDT_IS_WORD(x) ? 0 : TP_SDT_IS_SIGNED(x) ? -TP_SDT_BYTES(x) : TP_SDT_BYTES(x))
#define TP_SDT_WORD(x) __builtin_choose_expr(TP_SDT_IS_WORD(x), TP_SDT_VALUE(x), 0)
#endif
#ifdef __x86_64__
#define TP_SDT_NOP ".byte 0x0f, 0x1f, 0x44, 0, 0"
#define TP_SDT_REGISTER(n) "{%q[a" #n "]|%%%q[a" #n "]}"
static inline __attribute__((always_inline)) void tp_sdt_no_red_zone(void)
{
	__asm__ __inline__ goto("" : : : : never);
	return;
never:
	__builtin_abort();
}
#else
#define TP_SDT_NOP "nop"
#define TP_SDT_REGISTER(n) "%x[a" #n "]"
static inline __attribute__((always_inline)) void tp_sdt_no_red_zone(void)
{
}
#endif
#define TP_SDT_BASE                                                                                     \
	".ifndef _.stapsdt.base\n\t"                                                                    \
	".pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n\t"                     \
	".weak _.stapsdt.base\n\t"                                                                      \
	".hidden _.stapsdt.base\n"                                                                      \
	"_.stapsdt.base:\n\t"                                                                           \
	".space 1\n\t"                                                                                  \
	".size _.stapsdt.base, 1\n\t"                                                                   \
	".popsection\n\t"                                                                               \
	".endif\n\t"
#define TP_SDT_TEXT(n)                                                                                  \
	".if %c[s" #n "]\n\t"                                                                           \
	".if .Ltp_sdt_any\n\t"                                                                          \
	".ascii \" \"\n\t"                                                                              \
	".endif\n\t"                                                                                    \
	".set .Ltp_sdt_any, 1\n\t"                                                                      \
	".ascii \"%c[s" #n "]@" TP_SDT_REGISTER(n) "\"\n\t"                                             \
	".endif\n\t"
#define TP_SDT_ASM(provider, name, texts, ...)								\
	do {												\
		tp_sdt_no_red_zone();									\
		__asm__ __inline__ volatile(".Ltp_sdt%=:\n\t"						\
					    TP_SDT_NOP "\n\t"						\
					    ".pushsection .note.stapsdt, \"o?\", %%note, "		\
					    ".Ltp_sdt%=\n\t"						\
					    ".balign 4\n\t"						\
					    ".long 8, .Ltp_sdt_end%= - .Ltp_sdt_note%=, 3\n\t"		\
					    ".asciz \"stapsdt\"\n"					\
					    ".Ltp_sdt_note%=:\n\t"					\
					    ".quad .Ltp_sdt%=, _.stapsdt.base, 0\n\t"			\
					    ".asciz \"" provider "\", \"" name "\"\n\t"			\
					    ".set .Ltp_sdt_any, 0\n\t" texts				\
					    ".byte 0\n"							\
					    ".Ltp_sdt_end%=:\n\t"					\
					    ".balign 4\n\t"						\
					    ".popsection\n\t" TP_SDT_BASE				\
					    : : __VA_ARGS__ : "memory");				\
	} while (0)
#define TP_SDT_OPERAND(n, x) [s##n] "i"(TP_SDT_SIZE(x)), [a##n] "r"(TP_SDT_WORD(x))
#define TP_SDT_OPERANDS_0(name)
#define TP_SDT_OPERANDS_1(name, x) TP_SDT_OPERAND(1, x)
#define TP_SDT_OPERANDS_2(name, x, ...) TP_SDT_OPERAND(2, x), TP_SDT_OPERANDS_1(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_3(name, x, ...) TP_SDT_OPERAND(3, x), TP_SDT_OPERANDS_2(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_4(name, x, ...) TP_SDT_OPERAND(4, x), TP_SDT_OPERANDS_3(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_5(name, x, ...) TP_SDT_OPERAND(5, x), TP_SDT_OPERANDS_4(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_6(name, x, ...) TP_SDT_OPERAND(6, x), TP_SDT_OPERANDS_5(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_7(name, x, ...) TP_SDT_OPERAND(7, x), TP_SDT_OPERANDS_6(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_8(name, x, ...) TP_SDT_OPERAND(8, x), TP_SDT_OPERANDS_7(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_9(name, x, ...) TP_SDT_OPERAND(9, x), TP_SDT_OPERANDS_8(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_10(name, x, ...) TP_SDT_OPERAND(10, x), TP_SDT_OPERANDS_9(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_11(name, x, ...) TP_SDT_OPERAND(11, x), TP_SDT_OPERANDS_10(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_12(name, x, ...) TP_SDT_OPERAND(12, x), TP_SDT_OPERANDS_11(name, __VA_ARGS__)
#define TP_SDT_OPERANDS_MORE(name, a, b, c, d, e, f, g, h, i, j, k, l, ...) \
	TP_SDT_OPERANDS_12(name, a, b, c, d, e, f, g, h, i, j, k, l)
#define TP_SDT_TEXTS_0 ""
#define TP_SDT_TEXTS_1 TP_SDT_TEXT(1) TP_SDT_TEXTS_0
#define TP_SDT_TEXTS_2 TP_SDT_TEXT(2) TP_SDT_TEXTS_1
#define TP_SDT_TEXTS_3 TP_SDT_TEXT(3) TP_SDT_TEXTS_2
#define TP_SDT_TEXTS_4 TP_SDT_TEXT(4) TP_SDT_TEXTS_3
#define TP_SDT_TEXTS_5 TP_SDT_TEXT(5) TP_SDT_TEXTS_4
#define TP_SDT_TEXTS_6 TP_SDT_TEXT(6) TP_SDT_TEXTS_5
#define TP_SDT_TEXTS_7 TP_SDT_TEXT(7) TP_SDT_TEXTS_6
#define TP_SDT_TEXTS_8 TP_SDT_TEXT(8) TP_SDT_TEXTS_7
#define TP_SDT_TEXTS_9 TP_SDT_TEXT(9) TP_SDT_TEXTS_8
#define TP_SDT_TEXTS_10 TP_SDT_TEXT(10) TP_SDT_TEXTS_9
#define TP_SDT_TEXTS_11 TP_SDT_TEXT(11) TP_SDT_TEXTS_10
#define TP_SDT_TEXTS_12 TP_SDT_TEXT(12) TP_SDT_TEXTS_11
#define TP_SDT_TEXTS_MORE TP_SDT_TEXTS_12
#define TP_SDT_COUNT(...)                                                                               \
	TP_SDT_COUNT_OF(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE,  \
			MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, 12, 11, 10, 9, 8, 7, 6,   \
			5, 4, 3, 2, 1, 0, )
#define TP_SDT_COUNT_OF(first, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
			a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, count, ...)       \
	count
#define TP_SDT_PROBE(provider, ...) \
	TP_SDT_PROBE_OF(TP_SDT_COUNT(__VA_ARGS__), provider, TP_SDT_NAME(__VA_ARGS__, ), __VA_ARGS__)
#define TP_SDT_MARKER(name, ...) TP_SDT_PROBE_OF(TP_SDT_COUNT(__VA_ARGS__), "marker", name, __VA_ARGS__)
#define TP_SDT_PROBE_OF(count, provider, name, ...) TP_SDT_PROBE_N(count, provider, name, __VA_ARGS__)
#define TP_SDT_PROBE_N(count, provider, name, ...) \
	TP_SDT_ASM(provider, name, TP_SDT_TEXTS_##count, TP_SDT_OPERANDS_##count(__VA_ARGS__))
#define TP_SDT_NAME(name, ...) name
#endif
#endif
