/* SPDX-License-Identifier: MIT */
/* bounce.c - a library that calls back, through a function that is not exported: HOP is its name. */
void bounce(void (*back)(void));

static __attribute__((noinline)) void HOP(void (*back)(void))
{
	back();
	__asm__ volatile("");
}

void bounce(void (*back)(void))
{
	HOP(back);
	__asm__ volatile("");
}
