/* SPDX-License-Identifier: MIT */
/*
 * Looks from inside a probe for the functions that have led to it, as
 * debuggers, profilers and exceptions do; and from each instruction of the
 * call of the probes, as a profiler's signal may come anywhere.
 *
 *	unwind [frames]    follows the frame pointers as well
 */
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define CREATE_TRACE_POINTS
#include "stack.h"
#undef CREATE_TRACE_POINTS

long leaf_none(long a, long b);
long leaf_hit(long a, long b);
long leaf_pushing(long a, long b);
long leaf_real(long a, long b);
int main(int argc, char **argv);

static long (*const leaves[])(long a, long b) = {leaf_none, leaf_hit, leaf_pushing, leaf_real};
#define NR_LEAVES (sizeof(leaves) / sizeof(leaves[0]))

#define CODE(function) ((const void *)(uintptr_t)(function))

static long (*leaf)(long a, long b); /* the one that is called */
static bool frames;
static unsigned int calls, traps, bad;

static __attribute__((noinline)) long middle(long a, long b)
{
	return leaf(a, b) + 1;
}

/* ---- What is found ---- */

struct walk {
	const void *wanted[3]; /* in this order */
	unsigned int found;
	unsigned int depth;
};

static void visit(struct walk *walk, void *address)
{
	walk->depth++;
	if (walk->found < 3 && _Unwind_FindEnclosingFunction(address) == walk->wanted[walk->found])
		walk->found++;
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *priv)
{
	struct walk *walk = (struct walk *)priv;
	int before = 0;
	uintptr_t ip = _Unwind_GetIPInfo(context, &before);

	visit(walk, (void *)(before ? ip : ip - 1));
	return walk->depth < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static struct walk new_walk(void)
{
	return (struct walk){.wanted = {CODE(leaf), CODE(middle), CODE(main)}};
}

static void must_find(const struct walk *walk, const char *how)
{
	if (walk->found == 3)
		return;
	bad++;
	printf("%s: of the leaf %ld, middle and main only %u are found, in %u frames\n", how,
	       leaf == leaf_none ? 0L : leaf == leaf_hit ? 1L : leaf == leaf_pushing ? 2L : 3L, walk->found,
	       walk->depth);
}

static __attribute__((noinline)) void look(void)
{
	void *addresses[50];
	struct walk walk = new_walk();

	calls++;
	_Unwind_Backtrace(visit_frame, &walk);
	must_find(&walk, "_Unwind_Backtrace");

	walk = new_walk();
	int nr = backtrace(addresses, 50);
	for (int i = 0; i < nr; i++)
		visit(&walk, (char *)addresses[i] - 1);
	must_find(&walk, "backtrace");

	if (!frames)
		return;
	/* gcc makes no frame for a leaf: the way leads from it to its caller's frame, and so on to main. */
	walk = (struct walk){.wanted = {CODE(leaf), CODE(main)}};
	void **last = NULL;
	for (void **frame = __builtin_frame_address(0); frame > last && walk.found < 2; frame = frame[0]) {
		visit(&walk, (char *)frame[1] - 1);
		last = frame;
	}
	walk.found += walk.found == 2;
	must_find(&walk, "frame pointers");
}

static void on_none(void *data)
{
	(void)data;
	look();
}

static void on_hit(void *data, int a, void *p)
{
	(void)data, (void)a, (void)p;
	look();
}

static void on_real(void *data, double a)
{
	(void)data, (void)a;
	look();
}

/* ---- Instruction by instruction ---- */

#if defined(__x86_64__) && TP_STATIC_KEYS

extern void (*const leaf_call_any)(void);

#define STEPS 25 /* of the call alone, at the least */

static void on_trap(int signal, siginfo_t *info, void *context)
{
	struct walk walk = new_walk();
	const void *at = _Unwind_FindEnclosingFunction(info->si_addr); /* of the byte before */

	(void)signal, (void)context;
	if (at != _Unwind_FindEnclosingFunction((char *)info->si_addr + 1))
		return;
	if (at != CODE(tp_call_probes) && at != CODE(leaf_call_any) && at != CODE(leaf))
		return;
	traps++;
	_Unwind_Backtrace(visit_frame, &walk);
	must_find(&walk, "single step");
}

static void do_nothing(void *data)
{
	(void)data;
}

static void do_nothing_of_real(void *data, double a)
{
	(void)data, (void)a;
}

static void do_nothing_of_hit(void *data, int a, void *p)
{
	(void)data, (void)a, (void)p;
}

static void step_through(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_trap;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	for (size_t i = 0; i < NR_LEAVES; i++) {
		leaf = leaves[i];
		traps = 0;
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory");
		long result = middle(6, 7);
		__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "cc", "memory");
		if (result == 43 && traps >= STEPS)
			continue;
		printf("leaf %zu: %ld, after %u steps\n", i, result, traps);
		bad++;
	}
}

#endif

int main(int argc, char **argv)
{
	frames = argc > 1 && strcmp(argv[1], "frames") == 0;
	if (register_trace_stack_none(on_none, NULL) || register_trace_stack_hit(on_hit, NULL) ||
	    register_trace_stack_real(on_real, NULL))
		return 2;
	for (size_t i = 0; i < NR_LEAVES; i++) {
		leaf = leaves[i];
		if (middle(6, 7) != 43)
			bad++;
	}
	if (calls != NR_LEAVES)
		bad++;
#if defined(__x86_64__) && TP_STATIC_KEYS
	unregister_trace_stack_none(on_none, NULL);
	unregister_trace_stack_hit(on_hit, NULL);
	unregister_trace_stack_real(on_real, NULL);
	if (register_trace_stack_none(do_nothing, NULL) || register_trace_stack_hit(do_nothing_of_hit, NULL) ||
	    register_trace_stack_real(do_nothing_of_real, NULL))
		return 2;
	step_through();
#endif
	puts(bad ? "bad" : "good");
	return bad != 0;
}
