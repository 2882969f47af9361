/* SPDX-License-Identifier: MIT */
/*
 * base/stack.c - see stack.h.
 *
 * By the compiler's own unwinder. It follows the tables of .eh_frame, as frame pointers are rarely there; on 32-bit ARM
 * those of .ARM.exidx, see stack_arm.h. It is in a library of its own, which is loaded when the first stack is wanted,
 * unless the program is linked with it, as those in C++ are.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unwind.h>

#include "base/stack.h"
#include "base/text.h"

#pragma weak _Unwind_Backtrace

#ifdef __ARM_EABI_UNWINDER__
#include "base/stack_arm.h"
#else
#pragma weak _Unwind_GetIP
#pragma weak _Unwind_GetCFA
#pragma weak _Unwind_FindEnclosingFunction

#define GET_IP _Unwind_GetIP
#define GET_CFA _Unwind_GetCFA
#define FIND_FUNCTION _Unwind_FindEnclosingFunction

static uintptr_t address_of(struct _Unwind_Context *context, __typeof__(GET_IP) *get_ip)
{
	return get_ip(context);
}

static uintptr_t frame_of(struct _Unwind_Context *context, __typeof__(GET_CFA) *get_cfa)
{
	return get_cfa(context);
}

static uintptr_t function_of(uintptr_t return_address, __typeof__(FIND_FUNCTION) *find_function)
{
	return (uintptr_t)find_function((void *)return_address);
}
#endif

#define STRING(name) STRING_OF(name)
#define STRING_OF(name) #name

struct unwinder {
	__typeof__(_Unwind_Backtrace) *backtrace;
	__typeof__(GET_IP) *get_ip;
	__typeof__(GET_CFA) *get_cfa;
	__typeof__(FIND_FUNCTION) *find_function;
};

static const struct unwinder *unwinder; /* NULL: it is not loaded */

/* The constructor of a static program that registers its tables runs after those of priority 101. */
static bool has_tables;

/* In a static program the C library's backtrace() brings the unwinder along. Not every C library has it. */
#ifdef __GLIBC__
#include <execinfo.h>
int (*const tp_stack_links)(void **, int) __attribute__((used)) = backtrace;
#endif

struct walk {
	const struct unwinder *by;
	uintptr_t *to;
	unsigned int nr, max;
	unsigned int skip;
	uintptr_t address, frame; /* of the step before */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	const uintptr_t address = address_of(context, walk->by->get_ip);
	const uintptr_t frame = frame_of(context, walk->by->get_cfa);

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
	return function_of(return_address, __atomic_load_n(&unwinder, __ATOMIC_ACQUIRE)->find_function);
}

/* A function of its own in every build: it is what is left out first. */
__attribute__((noinline)) unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip)
{
	struct walk walk = {.by = __atomic_load_n(&unwinder, __ATOMIC_ACQUIRE), .to = to, .max = max, .skip = skip + 1};

	if (!walk.by)
		return 0;
	/* Without tables the walk would end the process. */
	if (!__atomic_load_n(&has_tables, __ATOMIC_RELAXED))
		__atomic_store_n(&has_tables, tp_stack_function((uintptr_t)tp_stack_take + 1) != 0, __ATOMIC_RELAXED);
	if (__atomic_load_n(&has_tables, __ATOMIC_RELAXED))
		walk.by->backtrace(step, &walk);
	return walk.nr;
}

static bool look_up(struct unwinder *found)
{
	void *object = tp_open_object("libgcc_s.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!object)
		return false;
	*(void **)&found->backtrace = dlsym(object, "_Unwind_Backtrace");
	*(void **)&found->get_ip = dlsym(object, STRING(GET_IP));
	*(void **)&found->get_cfa = dlsym(object, STRING(GET_CFA));
	*(void **)&found->find_function = dlsym(object, STRING(FIND_FUNCTION));
	return found->backtrace && found->get_ip && found->get_cfa && found->find_function;
}

/* Of two threads that load it, one has the structure; it is never freed. */
static void load(void)
{
	static const struct unwinder linked = {_Unwind_Backtrace, GET_IP, GET_CFA, FIND_FUNCTION};
	const bool is_linked = linked.backtrace && linked.get_ip && linked.get_cfa && linked.find_function;
	struct unwinder *found = is_linked ? NULL : tp_malloc(sizeof(*found));
	const struct unwinder *none = NULL;
	const struct unwinder *by = is_linked ? &linked : found && look_up(found) ? found : NULL;

	if (!by || !__atomic_compare_exchange_n(&unwinder, &none, by, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		free(found);
}

bool tp_stack_start(void)
{
	uintptr_t outermost[8];

	if (!__atomic_load_n(&unwinder, __ATOMIC_ACQUIRE)) {
		load();
		tp_stack_take(outermost, sizeof(outermost) / sizeof(outermost[0]), 0);
	}
	return __atomic_load_n(&unwinder, __ATOMIC_ACQUIRE);
}
