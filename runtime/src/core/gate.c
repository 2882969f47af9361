/* SPDX-License-Identifier: MIT */
/*
 * core/gate.c - a flag of somebody else's in front of a tracepoint's probes: where
 * the only one of them would do nothing while the flag is 0, a site that is on
 * looks at the flag, and comes back.
 *
 * The gate stands in the place of the tracepoint's iterator, for probes of any
 * type: it touches none of their arguments.
 */
#include <stddef.h>

#include "core/site.h"

#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

#define BEHIND_GATE 120
#define GATE 128

_Static_assert(offsetof(struct tracepoint, behind_gate) == BEHIND_GATE, "tp_gate knows it");
_Static_assert(offsetof(struct tracepoint, gate) == GATE, "tp_gate knows it");

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

void tp_gate(void) TP_HIDDEN;
__asm__(".pushsection .text\n\t"
	".balign 16\n\t"
	".hidden tp_gate\n\t"
	".globl tp_gate\n\t"
	".type tp_gate, %function\n"
	"tp_gate:\n\t"
	".cfi_startproc\n\t"
#ifdef __x86_64__
	"endbr64\n\t"
	"mov " TEXT(GATE) "(%rdi), %r11\n\t" /* rax is an argument of functions of variable arguments: markers' */
	"cmpl $0, (%r11)\n\t"
	"je 1f\n\t"
	"jmp *" TEXT(BEHIND_GATE) "(%rdi)\n"
#else
	"hint 34\n\t" /* bti c */
	"dmb ishld\n\t" /* the site's load of iterate comes first: see tp_gate_set() */
	"ldr x16, [x0, " TEXT(GATE) "]\n\t"
	"ldr w16, [x16]\n\t"
	"cbz w16, 1f\n\t"
	"ldr x16, [x0, " TEXT(BEHIND_GATE) "]\n\t"
	"br x16\n"
#endif
	"1:\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size tp_gate, . - tp_gate\n\t"
	".popsection");

/*
 * The release pairs with the sites' load of iterate and the barrier in the gate
 * (on x86-64 every load is an acquire): who is in the gate finds its flag. Who is in it
 * already, while another comes, finds the one or the other, each of which is still there.
 */
void tp_gate_set(struct tracepoint *tp, const int *gate)
{
	if (!tp->behind_gate) {
		if (!gate)
			return;
		tp->behind_gate = tp->iterate;
	}
	if (gate)
		__atomic_store_n(&tp->gate, gate, __ATOMIC_RELAXED);
	__atomic_store_n(&tp->iterate, gate ? tp_gate : tp->behind_gate, __ATOMIC_RELEASE);
}

#else

void tp_gate_set(struct tracepoint *tp, const int *gate)
{
	(void)tp;
	(void)gate;
}

#endif
