/* SPDX-License-Identifier: MIT */
/*
 * print/helpers.c - what the TP_printk of an event calls.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <tp/print.h>
#include <tp/scratch.h>

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
		if (symbol.value == v)
			return print_symbol(p, v, symbol.name);
	}
	return print_symbol(p, v, NULL);
}

/* ---- Buffers for TP_printk ---- */

/* The head of one that the trace_seq had no room for. */
struct mapped_buf {
	struct mapped_buf *next;
	size_t size; /* bytes, with this head */
};

char *tp_seq_get_buf(struct trace_seq *p, size_t len)
{
	char *buf = p->buffer + p->len;

	/* A NUL stands behind it too, should the caller write none. */
	if (len < p->size - p->len - 1) {
		buf[0] = '\0';
		buf[len] = '\0';
		p->len += len + 1;
		p->buffer[p->len] = '\0';
		return buf;
	}

	size_t size = sizeof(struct mapped_buf) + len + 1;
	int error = errno;
	struct mapped_buf *mapped = MAP_FAILED;
	if (size > len)
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = error;
	if (mapped == MAP_FAILED) {
		p->full = true;
		return NULL;
	}
	*mapped = (struct mapped_buf){.next = p->reserved, .size = size};
	p->reserved = mapped;
	return (char *)(mapped + 1);
}

static void free_bufs(struct trace_seq *p)
{
	struct mapped_buf *next;

	for (struct mapped_buf *mapped = p->reserved; mapped; mapped = next) {
		next = mapped->next;
		munmap(mapped, mapped->size);
	}
	p->reserved = NULL;
}

/* ---- The text ---- */

/* Puts text, which may stand in the buffer behind start, at start and ends it there. */
static void settle(struct trace_seq *p, size_t start, const char *text, size_t len)
{
	if (len > p->size - 1 - start) {
		len = p->size - 1 - start;
		p->full = true;
	}
	memmove(p->buffer + start, text, len);
	p->len = start + len;
	p->buffer[p->len] = '\0';
}

static __attribute__((format(printf, 3, 0))) void print_text(struct trace_seq *p, size_t start, const char *fmt,
							     va_list args)
{
	size_t room = p->size - p->len;
	va_list ap;

	/* The arguments may point to what the helpers left between start and len, so the text goes behind first. */
	va_copy(ap, args);
	int len = tp_vsnprintf(p->buffer + p->len, room, fmt, ap);
	va_end(ap);
	if (len < 0) {
		p->full = true;
		settle(p, start, "", 0);
		return;
	}
	if ((size_t)len < room) {
		settle(p, start, p->buffer + p->len, (size_t)len);
		return;
	}

	/* It may fit once the intermediate results are gone. What is too long in any case is not copied whole. */
	size_t most = p->size - 1 - start;
	size_t wanted = (size_t)len < most ? (size_t)len : most;
	char *scratch = tp_scratch_push(wanted + 1);
	char *copy = scratch ? scratch : tp_seq_get_buf(p, wanted); /* the system's: p has no such room */
	if (!copy) {
		settle(p, start, p->buffer + p->len, room - 1);
		return;
	}
	/* vsnprintf wrote behind p->len only, and the arguments stand in front of it: they are still whole. */
	int again = vsnprintf(copy, wanted + 1, fmt, args);
	size_t copied = again < 0 ? 0 : (size_t)again;
	if (copied > wanted) {
		copied = wanted;
		p->full = true;
	}
	settle(p, start, copy, copied);
	if (scratch)
		tp_scratch_pop(scratch);
}

void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_text(p, start, fmt, args);
	va_end(args);
	if (p->reserved)
		free_bufs(p);
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
			trace_seq_printf(p, "%016lx: ", (unsigned long)(uintptr_t)at);
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
