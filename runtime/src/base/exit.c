/* SPDX-License-Identifier: MIT */
/*
 * base/exit.c - the end of the process, and of the object that holds the
 * runtime.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fork.h"
#include "base/stack.h"
#include "base/thread.h"

/*
 * The process is at its end: modules are told to go, but most are not unmapped,
 * and none is waited for. A thread that sits in a probe would keep exit() from
 * ever returning.
 */
static bool exiting;
static bool main_thread_ends;

static void note_exit(void)
{
	__atomic_store_n(&exiting, true, __ATOMIC_RELAXED);
}

static void note_end_of_main_thread(void *unused)
{
	(void)unused;
	__atomic_store_n(&main_thread_ends, true, __ATOMIC_RELAXED);
}

/* Where the main thread has called exit(), destructors run in it; where it has called pthread_exit(), nothing does. */
bool tp_exiting(void)
{
	return __atomic_load_n(&exiting, __ATOMIC_RELAXED) ||
	       (__atomic_load_n(&main_thread_ends, __ATOMIC_RELAXED) && tp_thread_id() == getpid());
}

/*
 * Several times, as the first may be in the constructor of a library that the
 * program is linked with: it comes before libc's then, and so runs after the
 * destructors of all modules. The later ones come after it.
 */
static void register_up_to(unsigned int most, unsigned int *times)
{
	if (__atomic_load_n(times, __ATOMIC_RELAXED) < most && __atomic_fetch_add(times, 1, __ATOMIC_RELAXED) < most)
		atexit(note_exit); /* no memory: then exit() waits */
}

/*
 * In a forked child, another thread of the parent may have held the lock that
 * atexit() takes, and it is never given back. So the parent registers for its
 * children, as late as possible, and they do not.
 */
static bool forked;

static void before_fork(void)
{
	static unsigned int times;

	if (!forked)
		register_up_to(4, &times);
}

static void in_child(void)
{
	forked = true;
}

void tp_note_exit(void)
{
	static unsigned int times;

	if (!forked)
		register_up_to(8, &times);
}

/* glibc's, for C++: what exit() calls first of all, if it is the thread's that calls it. */
extern int __cxa_thread_atexit_impl(void (*function)(void *data), void *data, void *object) __attribute__((weak));

void tp_exit_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_MODULES, .before = before_fork, .in_child = in_child};

	tp_fork_register(&hook);
}

static int is_in_first(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t address = (uintptr_t)data - info->dlpi_addr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_memsz)
			return 1;
	}
	return -1; /* the first object, the main program, is the only one that is looked at */
}

bool tp_is_of_main_program(const void *data)
{
	return dl_iterate_phdr(is_in_first, (void *)(uintptr_t)data) == 1;
}

/*
 * What takes the loader's lock. In a constructor: that lock is held already,
 * and nobody can wait for it and for one of ours in another order.
 *
 * Where all that there is of tracing is in libraries, no atexit() may come late
 * enough; the end of the main thread does. Threads that exit call the runtime.
 * So the object that libtp.a was linked into must stay, as libtp.so does.
 */
static void __attribute__((constructor)) ask_the_loader(void)
{
	Dl_info info;

	if (syscall(SYS_gettid) == getpid() && __cxa_thread_atexit_impl) /* no fork forgets a cached id yet */
		__cxa_thread_atexit_impl(note_end_of_main_thread, NULL, &exiting);
	if (tp_is_of_main_program(&exiting) || !dladdr(&exiting, &info))
		return;
	if (info.dli_fname)
		tp_open_object(info.dli_fname, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
}
