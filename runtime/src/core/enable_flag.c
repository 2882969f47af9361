/* SPDX-License-Identifier: MIT */
/*
 * core/enable_flag.c - a flag of somebody else's in front of a tracepoint's probes: where
 * the only one of them would do nothing while the flag is 0, a site that is on
 * looks at the flag, and comes back.
 *
 * The check stands in the place of the tracepoint's iterator, for probes of any
 * type: it touches none of their arguments.
 */
#include <stddef.h>

#include "core/site.h"

#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

#define FLAG_ITERATE 120
#define ENABLE_FLAG 128

_Static_assert(offsetof(struct tracepoint, flag_iterate) == FLAG_ITERATE, "tp_check_enable_flag knows it");
_Static_assert(offsetof(struct tracepoint, enable_flag) == ENABLE_FLAG, "tp_check_enable_flag knows it");

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

void tp_check_enable_flag(void) TP_HIDDEN;
__asm__(".pushsection .text\n\t"
	".balign 16\n\t"
	".hidden tp_check_enable_flag\n\t"
	".globl tp_check_enable_flag\n\t"
	".type tp_check_enable_flag, %function\n"
	"tp_check_enable_flag:\n\t"
	".cfi_startproc\n\t"
#ifdef __x86_64__
	"endbr64\n\t"
	"mov " TEXT(ENABLE_FLAG) "(%rdi), %r11\n\t" /* rax is an argument of functions of variable arguments: markers' */
	"cmpl $0, (%r11)\n\t"
	"je 1f\n\t"
	"jmp *" TEXT(FLAG_ITERATE) "(%rdi)\n"
#else
	"hint 34\n\t" /* bti c */
	"dmb ishld\n\t" /* the site's load of iterate comes first: see tp_enable_flag_set() */
	"ldr x16, [x0, " TEXT(ENABLE_FLAG) "]\n\t"
	"ldr w16, [x16]\n\t"
	"cbz w16, 1f\n\t"
	"ldr x16, [x0, " TEXT(FLAG_ITERATE) "]\n\t"
	"br x16\n"
#endif
	"1:\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size tp_check_enable_flag, . - tp_check_enable_flag\n\t"
	".popsection");

/*
 * The release pairs with the sites' load of iterate and the barrier in the check
 * (on x86-64 every load is an acquire): who is in the check finds its flag. Who is in it
 * already, while another comes, finds the one or the other, each of which is still there.
 */
void tp_enable_flag_set(struct tracepoint *tp, const int *enable_flag)
{
	if (!tp->flag_iterate) {
		if (!enable_flag)
			return;
		tp->flag_iterate = tp->iterate;
	}
	if (enable_flag)
		__atomic_store_n(&tp->enable_flag, enable_flag, __ATOMIC_RELAXED);
	__atomic_store_n(&tp->iterate, enable_flag ? tp_check_enable_flag : tp->flag_iterate, __ATOMIC_RELEASE);
}

#else

void tp_enable_flag_set(struct tracepoint *tp, const int *enable_flag)
{
	(void)tp;
	(void)enable_flag;
}

#endif
