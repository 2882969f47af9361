/* SPDX-License-Identifier: MIT */
/*
 * filter/here.c - see here.h.
 */
#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "filter/here.h"
#include "filter/operand.h"
#include "print/symbol.h"

/* ---- The thread's name ---- */

#define NAME_SIZE 16
#define NAME_USES 64 /* after so many comparisons the kernel is asked again */

static TP_THREAD_LOCAL char thread_name[NAME_SIZE];
static TP_THREAD_LOCAL uint32_t name_uses;

/* In a sandbox, only once. A signal handler in between reads the same name. */
struct tp_value_bytes tp_here_comm(void)
{
	if (!name_uses || (name_uses >= NAME_USES && !tp_sandboxed)) {
		syscall(SYS_prctl, PR_GET_NAME, thread_name, 0, 0, 0); /* the program may have replaced prctl */
		name_uses = 0;
	}
	name_uses += name_uses < NAME_USES;
	return (struct tp_value_bytes){thread_name, strnlen(thread_name, NAME_SIZE)};
}

/* ---- The processor ---- */

uint64_t tp_here_cpu(void)
{
	return (uint64_t)sched_getcpu();
}

uint32_t tp_here_last_cpu(void)
{
	const long nr = sysconf(_SC_NPROCESSORS_CONF);

	return nr > 0 && nr <= (long)TP_CPUS_MAX ? (uint32_t)nr - 1 : TP_CPUS_MAX - 1;
}

/* ---- Functions ---- */

static bool not_found(struct tp_buffer *hint)
{
	tp_buffer_printf(hint, "of the program itself, the loader knows functions that are not static, if it is linked with -rdynamic");
	return false;
}

bool tp_here_function_at(uint64_t *address, uint64_t *size, struct tp_buffer *hint)
{
	struct tp_symbol symbol;

	if (!tp_symbol_find((uintptr_t)*address, &symbol))
		return not_found(hint);
	*address = symbol.address;
	*size = symbol.size;
	return true;
}

bool tp_here_function(const char *name, uint64_t *address, uint64_t *size, struct tp_buffer *hint)
{
	struct tp_symbol symbol = {.address = (uintptr_t)(*name ? dlsym(RTLD_DEFAULT, name) : NULL)};

	if (!symbol.address)
		return not_found(hint);
	/* What the loader has chosen for the name may be in no table: then that address is all that is known of it. */
	tp_symbol_find(symbol.address, &symbol);
	*address = symbol.address;
	*size = symbol.size;
	return true;
}
