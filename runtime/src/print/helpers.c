/* SPDX-License-Identifier: MIT */
/*
 * print/helpers.c - what the TP_printk of an event calls.
 */
#include <limits.h>
#include <string.h>

#include <tp/print.h>

#include "print/seq.h"

/* ---- Flags and symbols ---- */

/*
 * So that the next result does not continue this one. Where there is no room
 * for a NUL of its own, there is none for a next result either: it is the
 * buffer's last NUL, and reads as "".
 */
const char *tp_seq_end(struct trace_seq *p, size_t start)
{
	if (p->len + 1 < p->size)
		trace_seq_putc(p, '\0');
	return p->buffer + start;
}

/* The names of a value's bits, one after the other. */
struct flag_list {
	struct trace_seq *p;
	const char *delim;
	unsigned long long left; /* bits that have no name yet */
	bool first;
};

static void flag_separate(struct flag_list *list)
{
	if (!list->first && list->delim)
		trace_seq_puts(list->p, list->delim);
	list->first = false;
}

static void flag_take(struct flag_list *list, unsigned long long mask, const char *name)
{
	if ((list->left & mask) != mask)
		return;
	list->left &= ~mask;
	flag_separate(list);
	trace_seq_puts(list->p, name);
}

static const char *flags_end(struct flag_list *list, size_t start)
{
	if (list->left) {
		flag_separate(list);
		trace_seq_printf(list->p, "0x%llx", list->left);
	}
	return tp_seq_end(list->p, start);
}

const char *tp_seq_print_flags(struct trace_seq *p, unsigned long v, const char *delim,
			   const struct trace_print_flags *flags)
{
	struct flag_list list = {.p = p, .delim = delim, .left = v, .first = true};
	size_t start = p->len;

	for (; flags->name && list.left; flags++)
		flag_take(&list, flags->mask, flags->name);
	return flags_end(&list, start);
}

const char *tp_seq_print_flags_u64(struct trace_seq *p, unsigned long long v, const char *delim,
			       const struct trace_print_flags_u64 *flags)
{
	struct flag_list list = {.p = p, .delim = delim, .left = v, .first = true};
	size_t start = p->len;

	for (; flags->name && list.left; flags++)
		flag_take(&list, flags->mask, flags->name);
	return flags_end(&list, start);
}

const char *tp_seq_print_flags_by(struct trace_seq *p, unsigned long long v, const char *delim, const struct tp_symbols *flags)
{
	struct flag_list list = {.p = p, .delim = delim, .left = v, .first = true};
	struct tp_named_value flag = {.nr = 0};
	size_t start = p->len;

	while (list.left && tp_named_value_next(flags, &flag))
		flag_take(&list, flag.value, flag.name);
	return flags_end(&list, start);
}

/* name is NULL where the value has none; an empty one counts as none, as in the kernel. */
static const char *print_symbol(struct trace_seq *p, unsigned long long v, const char *name)
{
	size_t start = p->len;

	if (name && *name)
		trace_seq_puts(p, name);
	else
		trace_seq_printf(p, "0x%llx", v);
	return tp_seq_end(p, start);
}

const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v, const struct trace_print_flags *symbols)
{
	while (symbols->name && symbols->mask != v)
		symbols++;
	return print_symbol(p, v, symbols->name);
}

const char *tp_seq_print_symbolic_u64(struct trace_seq *p, unsigned long long v,
				  const struct trace_print_flags_u64 *symbols)
{
	while (symbols->name && symbols->mask != v)
		symbols++;
	return print_symbol(p, v, symbols->name);
}

const char *tp_seq_print_symbolic_by(struct trace_seq *p, unsigned long long v, const struct tp_symbols *symbols)
{
	struct tp_named_value symbol = {.nr = 0};

	while (tp_named_value_next(symbols, &symbol)) {
		if (symbol.value == tp_symbol_value(v))
			return print_symbol(p, v, symbol.name);
	}
	return print_symbol(p, v, NULL);
}

/*
 * Bytes, arrays and bitmaps in TP_printk.
 *
 * What is printed is copied out of the record first: it may stand at any
 * address. Loops end where the trace_seq is full, as counts come from
 * records and may be anything.
 */

static const char digits[] = "0123456789abcdef";

/* ---- Bytes ---- */

void tp_seq_bytes(struct trace_seq *p, const void *bytes, size_t len, char separator)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < len && !p->full; i++) {
		if (i && separator)
			trace_seq_putc(p, separator);
		trace_seq_putc(p, digits[byte[i] >> 4]);
		trace_seq_putc(p, digits[byte[i] & 15]);
	}
}

const char *tp_seq_print_hex(struct trace_seq *p, const void *bytes, int len, bool together)
{
	size_t start = p->len;

	if (len > 0 && !bytes)
		trace_seq_puts(p, "(null)");
	else if (len > 0)
		tp_seq_bytes(p, bytes, (size_t)len, together ? '\0' : ' ');
	return tp_seq_end(p, start);
}

/* ---- Arrays ---- */

static bool is_number_size(size_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* size is one of the four. */
static unsigned long long load_number(const void *at, size_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		memcpy(&u8, at, sizeof(u8));
		return u8;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

const char *tp_seq_print_array(struct trace_seq *p, const void *elements, int count, size_t element_size)
{
	size_t start = p->len;
	const char *at = elements;
	size_t left = count > 0 && elements ? (size_t)count : 0; /* elements */

	trace_seq_putc(p, '{');
	if (!is_number_size(element_size)) {
		if (__builtin_mul_overflow(left, element_size, &left))
			left = 0;
		if (left)
			trace_seq_printf(p, "BAD SIZE:%zu ", element_size);
		element_size = 1;
	}
	for (const char *separator = ""; left && !p->full; left--, separator = ",") {
		trace_seq_printf(p, "%s0x%llx", separator, load_number(at, element_size));
		at += element_size;
	}
	trace_seq_putc(p, '}');
	return tp_seq_end(p, start);
}

/* ---- Hex dumps ---- */

/* The column where the characters begin, if all of a row were there. */
static size_t text_column(size_t row, size_t group)
{
	return row * 2 + row / group + 1;
}

static void dump_row(struct trace_seq *p, const char *row, size_t len, size_t row_size, size_t group, bool ascii)
{
	size_t start = p->len;

	if (len % group != 0) /* as the kernel has it: then bytes, and all of the row */
		group = 1;
	for (size_t i = 0; i < len; i += group) {
		if (i)
			trace_seq_putc(p, ' ');
		trace_seq_printf(p, "%0*llx", (int)group * 2, load_number(row + i, group));
	}
	if (!ascii)
		return;
	while (!p->full && p->len - start < text_column(row_size, group))
		trace_seq_putc(p, ' ');
	for (size_t i = 0; i < len; i++) {
		char c = row[i];
		trace_seq_putc(p, c >= ' ' && c <= '~' ? c : '.');
	}
}

const char *tp_seq_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type, int row_size,
			      int group_size, const void *bytes, size_t len, bool ascii)
{
	size_t start = p->len;
	size_t row = row_size == 32 ? 32 : 16;
	size_t group = group_size > 0 && is_number_size((size_t)group_size) ? (size_t)group_size : 1;

	if (!prefix)
		prefix = "";
	if (len > PTRDIFF_MAX) /* one below 0 */
		len = 0;
	trace_seq_putc(p, '\n');
	for (size_t i = 0; bytes && i < len && !p->full; i += row) {
		const char *at = (const char *)bytes + i;
		trace_seq_puts(p, prefix);
		if (prefix_type == DUMP_PREFIX_ADDRESS)
			trace_seq_printf(p, "%0*lx: ", 2 * (int)sizeof(at), (unsigned long)(uintptr_t)at);
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			trace_seq_printf(p, "%.8zx: ", i);
		dump_row(p, at, len - i < row ? len - i : row, row, group, ascii);
		trace_seq_putc(p, '\n');
	}
	return tp_seq_end(p, start);
}

/* ---- Bitmaps ---- */

#define WORD sizeof(unsigned long)
#define WORD_BITS (WORD * CHAR_BIT)
#define CHUNK_BITS ((size_t)32)

/* The word's bytes that are behind size read as 0. */
static unsigned long load_word(const void *bits, size_t word, size_t size)
{
	unsigned long value = 0;
	size_t at = word * WORD;

	if (at < size)
		memcpy(&value, (const char *)bits + at, size - at < WORD ? size - at : WORD);
	return value;
}

void tp_seq_bits(struct trace_seq *p, const void *bits, size_t nr_bits, size_t size)
{
	const char *separator = "";

	while (nr_bits && !p->full) {
		size_t in_chunk = nr_bits % CHUNK_BITS ? nr_bits % CHUNK_BITS : CHUNK_BITS;
		nr_bits -= in_chunk;
		unsigned long value = load_word(bits, nr_bits / WORD_BITS, size) >> nr_bits % WORD_BITS;
		value &= in_chunk == WORD_BITS ? ~0ul : (1ul << in_chunk) - 1;
		trace_seq_printf(p, "%s%0*lx", separator, (int)((in_chunk + 3) / 4), value);
		separator = ",";
	}
}

/* The first bit from at on that is set (or not); nr_bits where there is none. */
static size_t next_bit(const void *bits, size_t at, size_t nr_bits, size_t size, bool set)
{
	while (at < nr_bits) {
		unsigned long word = load_word(bits, at / WORD_BITS, size);
		if (!set)
			word = ~word;
		word &= ~0ul << at % WORD_BITS;
		at -= at % WORD_BITS;
		if (word) {
			at += (size_t)__builtin_ctzl(word);
			break;
		}
		at += WORD_BITS;
	}
	return at < nr_bits ? at : nr_bits;
}

void tp_seq_bit_list(struct trace_seq *p, const void *bits, size_t nr_bits, size_t size)
{
	const char *separator = "";
	size_t first = next_bit(bits, 0, nr_bits, size, true);

	while (first < nr_bits && !p->full) {
		size_t end = next_bit(bits, first, nr_bits, size, false);
		trace_seq_printf(p, "%s%zu", separator, first);
		if (end - first > 1)
			trace_seq_printf(p, "-%zu", end - 1);
		separator = ",";
		first = next_bit(bits, end, nr_bits, size, true);
	}
}

void trace_seq_bitmask(struct trace_seq *s, const unsigned long *bits, int nr_bits)
{
	size_t nr = nr_bits > 0 ? (size_t)nr_bits : 0;

	tp_seq_bits(s, bits, nr, (nr + WORD_BITS - 1) / WORD_BITS * WORD);
}

const char *tp_seq_print_bitmask(struct trace_seq *p, const void *bits, size_t size)
{
	size_t start = p->len;

	tp_seq_bits(p, bits, size * CHAR_BIT, size);
	return tp_seq_end(p, start);
}
