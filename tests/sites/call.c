/* SPDX-License-Identifier: MIT */
/*
 * Probes that change all that a function may change, for functions that keep
 * things across their sites: values.h, which has them, is test_call.py's.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATE_TRACE_POINTS
#include "values.h"
#undef CREATE_TRACE_POINTS
#include "call.h"

static unsigned long calls, misaligned;

/* What lies below the stack pointer of the function that was interrupted is overwritten by an ordinary frame. */
static __attribute__((noinline)) void overwrite_stack(void)
{
	volatile unsigned char bytes[2048];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xa5;
}

static __attribute__((noinline)) void overwrite_registers(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mov $-1, %%rax\n\t"
			 "mov %%rax, %%rcx\n\t"
			 "mov %%rax, %%rdx\n\t"
			 "mov %%rax, %%rsi\n\t"
			 "mov %%rax, %%rdi\n\t"
			 "mov %%rax, %%r8\n\t"
			 "mov %%rax, %%r9\n\t"
			 "mov %%rax, %%r10\n\t"
			 "mov %%rax, %%r11\n\t"
			 "pcmpeqb %%xmm0, %%xmm0\n\t"
			 "movaps %%xmm0, %%xmm1\n\t"
			 "movaps %%xmm0, %%xmm2\n\t"
			 "movaps %%xmm0, %%xmm3\n\t"
			 "movaps %%xmm0, %%xmm4\n\t"
			 "movaps %%xmm0, %%xmm5\n\t"
			 "movaps %%xmm0, %%xmm6\n\t"
			 "movaps %%xmm0, %%xmm7\n\t"
			 "movaps %%xmm0, %%xmm8\n\t"
			 "movaps %%xmm0, %%xmm9\n\t"
			 "movaps %%xmm0, %%xmm10\n\t"
			 "movaps %%xmm0, %%xmm11\n\t"
			 "movaps %%xmm0, %%xmm12\n\t"
			 "movaps %%xmm0, %%xmm13\n\t"
			 "movaps %%xmm0, %%xmm14\n\t"
			 "movaps %%xmm0, %%xmm15\n\t"
			 "fldpi\n\tfldpi\n\tfldpi\n\tfldpi\n\tfldpi\n\tfldpi\n\tfldpi\n\tfldpi\n\t"
			 "fstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\t"
			 "fstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\t"
			 "stc"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
			   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc",
			   "memory");
#endif
}

/* Of each vector register all that the processor has. */
#if defined(__x86_64__)
static __attribute__((noinline)) void overwrite_vectors(void)
{
	if (__builtin_cpu_supports("avx512f")) {
		__asm__ volatile(
#define FILL(n) "vpternlogd $0xff, %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
			FILL(0) FILL(1) FILL(2) FILL(3) FILL(4) FILL(5) FILL(6) FILL(7) FILL(8) FILL(9)
			FILL(10) FILL(11)
			FILL(12) FILL(13) FILL(14) FILL(15) FILL(16) FILL(17) FILL(18) FILL(19) FILL(20)
			FILL(21) FILL(22)
			FILL(23) FILL(24) FILL(25) FILL(26) FILL(27) FILL(28) FILL(29) FILL(30) FILL(31)
#undef FILL
			"kxnorw %%k0, %%k0, %%k0\n\tkmovw %%k0, %%k1\n\tkmovw %%k0, %%k2\n\tkmovw %%k0, %%k3\n\t"
			"kmovw %%k0, %%k4\n\tkmovw %%k0, %%k5\n\tkmovw %%k0, %%k6\n\tkmovw %%k0, %%k7"
			: : : "memory");
	} else if (__builtin_cpu_supports("avx2")) {
		__asm__ volatile(
#define FILL(n) "vpcmpeqb %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n\t"
			FILL(0) FILL(1) FILL(2) FILL(3) FILL(4) FILL(5) FILL(6) FILL(7) FILL(8) FILL(9)
			FILL(10) FILL(11)
			FILL(12) FILL(13) FILL(14) FILL(15)
#undef FILL
			: : : "memory");
	}
}
#else
static void overwrite_vectors(void)
{
}
#endif

/* Not to be looked into: gcc would see that it says of no register that it changes it, and keep things there. */
static void (*volatile const overwrite_all_vectors)(void) = overwrite_vectors;

void in_probe(const void *frame)
{
	calls++;
	misaligned += (uintptr_t)frame % 16 != 0;
	overwrite_stack();
	overwrite_registers();
	overwrite_all_vectors();
}

/* ---- The same with the sites off and on ---- */

#if defined(__x86_64__)
/* Calls function with a stack pointer that is lower by off bytes. */
uint64_t call_with_stack(uint64_t (*function)(uint64_t x), uint64_t x, unsigned long off);
__asm__(".text\n"
	".type call_with_stack, @function\n"
	"call_with_stack:\n\t"
	".cfi_startproc\n\t"
	"push %rbp\n\t"
	".cfi_def_cfa rsp, 16\n\t"
	".cfi_offset rbp, -16\n\t"
	"mov %rsp, %rbp\n\t"
	".cfi_def_cfa_register rbp\n\t"
	"mov %rdi, %rax\n\t"
	"mov %rsi, %rdi\n\t"
	"sub %rdx, %rsp\n\t"
	"call *%rax\n\t"
	"leave\n\t"
	".cfi_def_cfa rsp, 8\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size call_with_stack, . - call_with_stack");

static unsigned long check_alignments(void)
{
	unsigned long bad = 0;

	for (size_t i = 0; i < NR_ALIGNED; i++) {
		for (unsigned long off = 0; off < 32; off++) {
			unsigned long before = calls;
			uint64_t expected = aligned_functions[i](off);
			bad += call_with_stack(aligned_functions[i], off, off) != expected || calls != before + 2;
		}
	}
	return bad;
}
#else
static unsigned long check_alignments(void)
{
	return 0;
}
#endif

int main(void)
{
	static uint64_t off[NR_FUNCTIONS];
	unsigned long bad = 0;

	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		off[i] = functions[i](i + 1);
	if (calls)
		bad++;
	register_all();
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		unsigned long before = calls;
		uint64_t on = functions[i](i + 1);
		if (on == off[i] && calls - before == sites_of[i])
			continue;
		printf("function %zu: %" PRIx64 " when off, %" PRIx64 " when on, %lu calls, not %u\n", i, off[i], on,
		       calls - before, sites_of[i]);
		bad++;
	}
	unsigned long wrong = check_alignments();
	if (wrong || misaligned)
		printf("stack: %lu wrong results or numbers of calls, %lu probes where it is not aligned\n", wrong,
		       misaligned);
	bad += wrong + misaligned;
	if (!bad)
		printf("good: %lu calls\n", calls);
	return bad != 0;
}
