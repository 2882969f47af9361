/* SPDX-License-Identifier: MIT */
/*
 * print/printf.c - vsnprintf for the lines of events: the usual conversions of integers and strings without the work
 * that stdio has for each call. Everything else is left to vsnprintf.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "print/print.h"
#include "print/seq.h"

char *tp_digits_before(char *end, uint64_t n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	for (; n >= 100; n /= 100)
		memcpy(end -= 2, pairs + 2 * (n % 100), 2);
	if (n >= 10)
		memcpy(end -= 2, pairs + 2 * n, 2);
	else
		*--end = (char)('0' + n);
	return end;
}

char *tp_hex_before(char *end, uint64_t n, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do
		*--end = digits[n & 15];
	while (n >>= 4);
	return end;
}

/* A conversion: "%-08lx" has left, zero, a width of 8, a size of sizeof(long), and the letter x. */
struct conversion {
	bool left, zero, prefix; /* the flags - 0 # */
	char letter;
	unsigned int width;
	bool has_length;   /* h, l, z: %ls is not of bytes */
	unsigned int size; /* of the integer */
};

/* fmt is behind the '%', and not a letter. */
static const char *parse_flags(const char *fmt, struct conversion *to)
{
	for (;; fmt++) {
		if (*fmt == '-')
			to->left = true;
		else if (*fmt == '0')
			to->zero = true;
		else if (*fmt == '#')
			to->prefix = true;
		else
			break;
	}
	for (; *fmt >= '0' && *fmt <= '9' && to->width < SHRT_MAX; fmt++)
		to->width = to->width * 10 + (unsigned int)(*fmt - '0');
	return fmt;
}

/* fmt is behind the '%'. Returns what follows the letter. */
static const char *parse(const char *fmt, struct conversion *to)
{
	*to = (struct conversion){.size = sizeof(int)};
	if (*fmt < 'A')
		fmt = parse_flags(fmt, to);
	const char *const length = fmt;
	if (*fmt == 'l') {
		to->size = fmt[1] == 'l' ? sizeof(long long) : sizeof(long);
		fmt += 1 + (fmt[1] == 'l');
	} else if (*fmt == 'h') {
		to->size = fmt[1] == 'h' ? sizeof(char) : sizeof(short);
		fmt += 1 + (fmt[1] == 'h');
	} else if (*fmt == 'z') {
		to->size = sizeof(size_t);
		fmt++;
	}
	to->has_length = fmt != length;
	to->letter = *fmt;
	return *fmt ? fmt + 1 : fmt;
}

static bool is_integer(char letter)
{
	return letter == 'd' || letter == 'i' || letter == 'u' || letter == 'x' || letter == 'X';
}

/* What is narrower than an int is passed as one. */
static int64_t signed_of(unsigned int size, uint64_t value)
{
	return size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : size == 4 ? (int32_t)value : (int64_t)value;
}

static uint64_t unsigned_of(unsigned int size, uint64_t value)
{
	return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

/* The text of a conversion, in two parts, between which zeros may come. */
struct piece {
	char memory[24];
	const char *sign; /* or the prefix */
	size_t sign_len;
	const char *text;
	size_t len;
};

static void piece_of_integer(struct piece *piece, const struct conversion *conversion, uint64_t value)
{
	char *const end = piece->memory + sizeof(piece->memory);
	const char letter = conversion->letter;
	const bool decimal = letter != 'x' && letter != 'X';
	const int64_t number = signed_of(conversion->size, value);

	value = unsigned_of(conversion->size, value);
	piece->sign_len = 0;
	if ((letter == 'd' || letter == 'i') && number < 0) {
		piece->sign = "-";
		piece->sign_len = 1;
		value = -(uint64_t)number;
	} else if (!decimal && conversion->prefix && value) {
		piece->sign = letter == 'x' ? "0x" : "0X";
		piece->sign_len = 2;
	}
	piece->text = decimal ? tp_digits_before(end, value) : tp_hex_before(end, value, letter == 'X');
	piece->len = (size_t)(end - piece->text);
}

/* C libraries differ in what NULL looks like: it is left to theirs, and has no length here. */
static void piece_of_pointer(struct piece *piece, const void *pointer)
{
	char *const end = piece->memory + sizeof(piece->memory);

	piece->sign = "0x";
	piece->sign_len = 2;
	piece->text = tp_hex_before(end, (uintptr_t)pointer, false);
	piece->len = pointer ? (size_t)(end - piece->text) : 0;
}

static char *fill(char *at, char c, size_t len)
{
	return (char *)memset(at, c, len) + len;
}

static char *copy(char *at, const char *text, size_t len)
{
	return (char *)memcpy(at, text, len) + len;
}

/* Returns where it ends, or NULL where that would be behind last. */
static char *put_piece(char *at, const char *last, const struct conversion *conversion, const struct piece *piece)
{
	const size_t len = piece->sign_len + piece->len;
	const size_t padding = conversion->width > len ? conversion->width - len : 0;

	if (len + padding > (size_t)(last - at))
		return NULL;
	if (!padding && !piece->sign_len)
		return copy(at, piece->text, piece->len);
	if (!conversion->left && !conversion->zero)
		at = fill(at, ' ', padding);
	at = copy(at, piece->sign, piece->sign_len);
	if (!conversion->left && conversion->zero)
		at = fill(at, '0', padding);
	at = copy(at, piece->text, piece->len);
	return conversion->left ? fill(at, ' ', padding) : at;
}

/*
 * The length, or -1 where the format has something else, or the text does not fit. Then the buffer's last byte is as it
 * was: an argument may point there, to the "" that a helper of TP_printk returns where it has no room.
 */
static int print_usual(char *buffer, size_t size, const char *fmt, va_list args)
{
	const char *const last = buffer + size - 1;
	struct conversion conversion;
	struct piece piece = {.sign = ""};
	char *at = buffer;

	for (;;) {
		const size_t plain = (size_t)(strchrnul(fmt, '%') - fmt);
		if (plain > (size_t)(last - at))
			return -1;
		at = copy(at, fmt, plain);
		fmt += plain;
		if (!*fmt)
			break;
		fmt = parse(fmt + 1, &conversion);
		if (conversion.letter == 's' && !conversion.has_length && !conversion.zero) {
			piece.sign_len = 0;
			piece.text = va_arg(args, const char *);
			if (!piece.text)
				return -1;
			piece.len = strlen(piece.text);
		} else if (conversion.letter == 'p' && !conversion.has_length && !conversion.zero) {
			piece_of_pointer(&piece, va_arg(args, const void *));
			if (!piece.len)
				return -1;
		} else if (is_integer(conversion.letter)) {
			piece_of_integer(&piece, &conversion, conversion.size == 8 ? va_arg(args, uint64_t)
										   : va_arg(args, unsigned int));
		} else {
			return -1;
		}
		at = put_piece(at, last, &conversion, &piece);
		if (!at)
			return -1;
	}
	*at = '\0';
	return (int)(at - buffer);
}

int tp_vsnprintf(char *buffer, size_t size, const char *fmt, va_list args)
{
	va_list again;

	va_copy(again, args);
	int len = size && size <= INT_MAX ? print_usual(buffer, size, fmt, again) : -1;
	va_end(again);
	return len >= 0 ? len : vsnprintf(buffer, size, fmt, args);
}
