/* SPDX-License-Identifier: MIT */
#ifndef TP_DESCRIBE_CXX_H
#define TP_DESCRIBE_CXX_H
#ifdef __cplusplus
extern "C++" {
template <class T, bool is_enum> struct tp_type_in_c {
	typedef T type;
};
template <class T> struct tp_type_in_c<T, true> {
	typedef __underlying_type(T) type;
};
template <class T> struct tp_c_type {
	static const int number = 0, is_signed = 0, is_char = 0;
};
#define TP_C_TYPE_IS(type, number_, is_signed_, is_char_)                                               \
	template <> struct tp_c_type<type> {                                                            \
		static const int number = number_, is_signed = is_signed_, is_char = is_char_;          \
	};
TP_C_TYPE_IS(char, 1, (char)-1 < (char)1, 1)
TP_C_TYPE_IS(signed char, 2, 1, 0)
TP_C_TYPE_IS(unsigned char, 3, 0, 0)
TP_C_TYPE_IS(short, 4, 1, 0)
TP_C_TYPE_IS(unsigned short, 5, 0, 0)
TP_C_TYPE_IS(int, 6, 1, 0)
TP_C_TYPE_IS(unsigned int, 7, 0, 0)
TP_C_TYPE_IS(long, 8, 1, 0)
TP_C_TYPE_IS(unsigned long, 9, 0, 0)
TP_C_TYPE_IS(long long, 10, 1, 0)
TP_C_TYPE_IS(unsigned long long, 11, 0, 0)
TP_C_TYPE_IS(bool, 12, 0, 0)
TP_C_TYPE_IS(float, 13, 0, 0)
TP_C_TYPE_IS(double, 14, 0, 0)
TP_C_TYPE_IS(char16_t, 5, 0, 0)
TP_C_TYPE_IS(char32_t, 7, 0, 0)
#ifdef __cpp_char8_t
TP_C_TYPE_IS(char8_t, 3, 0, 0)
#endif
template <> struct tp_c_type<wchar_t> : tp_c_type<__WCHAR_TYPE__> {
};
#undef TP_C_TYPE_IS
template <class T, bool is_plain> struct tp_field_must_be_trivially_copyable {
};
template <class T>
struct tp_field_must_be_trivially_copyable<T, true> : tp_c_type<typename tp_type_in_c<T, __is_enum(T)>::type> {
};
template <class T> tp_field_must_be_trivially_copyable<T, __is_trivially_copyable(T)> tp_type_of(const volatile T *x);
template <class T, bool is_integer_> struct tp_value_type {
	static const bool is_integer = is_integer_;
};
template <class T> tp_value_type<T, (__builtin_classify_type(*(T *)0) >= 1 && __builtin_classify_type(*(T *)0) <= 4)> tp_value_type_of(T x);
template <class T, bool is_integer> struct tp_value {
	static constexpr long long of(T x)
	{
		return (long long)x;
	}
};
template <class T> struct tp_value<T, false> {
	static constexpr long long of(const T &)
	{
		return 0;
	}
};
template <class T> constexpr long long tp_value_of(T x)
{
	return tp_value<T, decltype(tp_value_type_of(x))::is_integer>::of(x);
}
}
#endif
#endif
