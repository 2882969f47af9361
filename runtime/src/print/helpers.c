/* SPDX-License-Identifier: MIT */
/*
 * print/helpers.c - what the TP_printk of an event calls.
 */
#include <errno.h>
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
