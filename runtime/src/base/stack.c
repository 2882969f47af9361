/* SPDX-License-Identifier: MIT */
/*
 * base/stack.c - see stack.h.
 *
 * By the compiler's own unwinder. It follows the tables of .eh_frame, as frame pointers are rarely there. It is in a
 * library of its own, which is loaded when the first stack is wanted, unless the program is linked with it, as those in
 * C++ are.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <unwind.h>

#include "base/base.h"
#include "base/loader.h"
#include "base/stack.h"

#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetIP
#pragma weak _Unwind_GetCFA
#pragma weak _Unwind_FindEnclosingFunction

static struct {
	__typeof__(_Unwind_Backtrace) *backtrace;
	__typeof__(_Unwind_GetIP) *get_ip;
	__typeof__(_Unwind_GetCFA) *get_cfa;
	__typeof__(_Unwind_FindEnclosingFunction) *find_function;
} unwinder;

static enum {
	NOT_LOADED,
	THERE_IS_NONE,
	NO_TABLES, /* the constructor of a static program that registers its tables runs after those of priority 101 */
	READY,
} state;

/* In a static program the C library's backtrace() brings the unwinder along. */
int (*const tp_stack_links)(void **, int) __attribute__((used)) = backtrace;

struct walk {
	uintptr_t *to;
	unsigned int nr, max;
	unsigned int skip;
	uintptr_t address, frame; /* of the step before */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	const uintptr_t address = unwinder.get_ip(context);
	const uintptr_t frame = unwinder.get_cfa(context);

	if (walk->skip) {
		walk->skip--;
		return _URC_NO_REASON;
	}
	/* The outermost function has 0. On a stack that was made by hand, a frame may be its own caller. */
	if (!address || (address == walk->address && frame == walk->frame))
		return _URC_END_OF_STACK;
	walk->address = address;
	walk->frame = frame;
	if (walk->nr < walk->max)
		walk->to[walk->nr++] = address;
	return walk->nr == walk->max ? _URC_END_OF_STACK : _URC_NO_REASON;
}

uintptr_t tp_stack_function(uintptr_t return_address)
{
	return (uintptr_t)unwinder.find_function((void *)return_address);
}

/* A function of its own in every build: it is what is left out first. */
__attribute__((noinline)) unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip)
{
	struct walk walk = {.to = to, .max = max, .skip = skip + 1};

	/* Without tables it would end the process. */
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NO_TABLES && tp_stack_function((uintptr_t)tp_stack_take + 1))
		__atomic_store_n(&state, READY, __ATOMIC_RELEASE);
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == READY)
		unwinder.backtrace(step, &walk);
	return walk.nr;
}

static void *look_up(void *object, const char *name)
{
	return object ? dlsym(object, name) : NULL;
}

static bool load(void)
{
	void *object;

	if (_Unwind_Backtrace && _Unwind_GetIP && _Unwind_GetCFA && _Unwind_FindEnclosingFunction) {
		unwinder.backtrace = _Unwind_Backtrace;
		unwinder.get_ip = _Unwind_GetIP;
		unwinder.get_cfa = _Unwind_GetCFA;
		unwinder.find_function = _Unwind_FindEnclosingFunction;
		return true;
	}
	object = tp_open_object("libgcc_s.so.1", RTLD_NOW | RTLD_NODELETE);
	*(void **)&unwinder.backtrace = look_up(object, "_Unwind_Backtrace");
	*(void **)&unwinder.get_ip = look_up(object, "_Unwind_GetIP");
	*(void **)&unwinder.get_cfa = look_up(object, "_Unwind_GetCFA");
	*(void **)&unwinder.find_function = look_up(object, "_Unwind_FindEnclosingFunction");
	return unwinder.backtrace && unwinder.get_ip && unwinder.get_cfa && unwinder.find_function;
}

/* Two threads at once do the same. */
bool tp_stack_start(void)
{
	uintptr_t outermost[8];

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOT_LOADED) {
		__atomic_store_n(&state, load() ? NO_TABLES : THERE_IS_NONE, __ATOMIC_RELEASE);
		tp_stack_take(outermost, sizeof(outermost) / sizeof(outermost[0]), 0);
	}
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) != THERE_IS_NONE;
}
