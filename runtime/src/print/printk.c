/* SPDX-License-Identifier: MIT */
/*
 * print/printk.c - the text of TP_printk, in the place of what its helpers have appended; and memory for helpers of the
 * user's own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <tp/print.h>
#include <tp/scratch.h>

#include "print/seq.h"

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
