/* SPDX-License-Identifier: MIT */
/* values.h - a line of records.txt, which the kernel's module and our program read by the same code. */
#ifndef REPLAY_VALUES_H
#define REPLAY_VALUES_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#endif

struct values {
	char event[8];
	int seq;
	signed char s8;
	unsigned char u8;
	short s16;
	unsigned short u16;
	int s32;
	unsigned int u32;
	long long s64;
	unsigned long long u64;
	bool flag;
	int method;
	unsigned long ptr;
	char fixed[24]; /* the event's array has 8 bytes or 16 */
	char full[8];
	char text[64];
	char other[24];
	unsigned long cpus[64];
};

#define NR_WORDS 17

/* In records.txt texts have no blanks: "+" stands for one, and "-" for an empty text. */
static inline void values_text(char *text)
{
	if (strcmp(text, "-") == 0)
		text[0] = '\0';
	for (; *text; text++) {
		if (*text == '+')
			*text = ' ';
	}
}

static inline bool values_scan(const char *line, struct values *v)
{
	unsigned int flag;

	memset(v, 0, sizeof(*v));
	if (sscanf(line, "%7s %d %hhd %hhu %hd %hu %d %u %lld %llu %u %d %lx %23s %7s %63s %23s %lx", v->event, &v->seq, &v->s8, &v->u8,
		   &v->s16, &v->u16, &v->s32, &v->u32, &v->s64, &v->u64, &flag, &v->method, &v->ptr, v->fixed, v->full, v->text,
		   v->other, v->cpus) != NR_WORDS + 1)
		return false;
	v->flag = flag;
	values_text(v->fixed);
	values_text(v->full);
	values_text(v->text);
	values_text(v->other);
	return true;
}

#endif
