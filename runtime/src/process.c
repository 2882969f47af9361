/* SPDX-License-Identifier: MIT */
/*
 * process.c - the life of the process: its forks, and its end.
 */
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include "internal.h"

/*
 * All locks are held across a fork, so that the child finds them free and
 * what they protect whole. liburcu's come first: its lock may be held by
 * somebody who waits for a reader who waits for one of ours.
 *
 * Inside a probe that somebody may be waiting for this very reader. Then
 * nothing can be done about liburcu's locks, and the child, in which they are
 * held by nobody, must not use it: it is alone. (A reader before the fork is
 * one after it, too.)
 */
static pthread_rwlock_t grace_period = PTHREAD_RWLOCK_INITIALIZER; /* held for reading by those who wait for readers */
static unsigned int waiting;                                       /* of them there are so many */
static bool alone;                                                 /* what tp_forked_alone() says */
static struct {
	bool inside;   /* a probe */
	bool prepared; /* liburcu is, so that the child can use it */
	sigset_t signals;
} the_fork; /* under tp_events_lock */

void tp_grace_period_begin(void)
{
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	pthread_rwlock_rdlock(&grace_period);
}

void tp_grace_period_end(void)
{
	pthread_rwlock_unlock(&grace_period);
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
}

bool tp_forked_alone(void)
{
	return __atomic_load_n(&alone, __ATOMIC_RELAXED);
}

/* In a probe: keeps others from waiting for readers; false where one waits already. */
static bool exclude_waiters(void)
{
	while (pthread_rwlock_trywrlock(&grace_period) != 0) {
		if (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
			return false;
		sched_yield(); /* another fork, which does not wait for us */
	}
	return true;
}

static void before_fork(void)
{
	bool inside = false, prepared = false;
	sigset_t all, signals;

	/* The handler of one may hit a tracepoint whose probe wants a lock that is held here. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &signals);
	if (!tp_forked_alone()) {
		urcu_bp_register_thread(); /* which urcu_bp_before_fork() would lock out, and tp_lock wants */
		inside = urcu_bp_read_ongoing();
		prepared = !inside || exclude_waiters();
		if (prepared)
			urcu_bp_before_fork();
	}
	tp_lock(&tp_events_lock);
	tp_lock(&tp_registry_lock);
	the_fork.inside = inside;
	the_fork.prepared = prepared;
	the_fork.signals = signals;
	/* Who holds a sink's lock may be in a write(), say, that is traced, and want one of the last two. */
	tp_lttng_before_fork();
	tp_sinks_before_fork();
	tp_ctf_before_fork();
	tp_stats_before_fork();
}

/* All in the child is for the thread that is left of the parent. */
static void go_on_alone(void)
{
	if (!tp_forked_alone())
		tp_complain("process %d was forked inside a probe while another thread waited for that: it goes on "
			    "without tracing", (int)getpid());
	__atomic_store_n(&alone, true, __ATOMIC_RELAXED);
	tp_registry_abandon();
}

static void after_fork(bool child)
{
	const bool inside = the_fork.inside, prepared = the_fork.prepared;
	const sigset_t signals = the_fork.signals;

	if (child) {
		tp_thread_after_fork_child();
		if (!prepared)
			go_on_alone();
	}
	tp_sinks_after_fork(child);
	tp_stats_after_fork();
	tp_ctf_after_fork();
	if (!child)
		tp_lttng_after_fork_parent(); /* behind the others' locks, as it was in front of them */
	tp_unlock(&tp_registry_lock);
	tp_unlock(&tp_events_lock);
	if (prepared && child)
		urcu_bp_after_fork_child();
	else if (prepared)
		urcu_bp_after_fork_parent();
	if (child) { /* its holders are not in the child */
		grace_period = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		waiting = 0;
	} else if (prepared && inside) {
		pthread_rwlock_unlock(&grace_period);
	}
	if (child) { /* with no lock held: they make threads, which may hit tracepoints, and LTTng waits for its own */
		tp_lttng_after_fork_child();
		tp_stats_after_fork_child();
	}
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

static void after_fork_parent(void)
{
	after_fork(false);
}

static void after_fork_child(void)
{
	after_fork(true);
}

/* ---- The end of the process, and of the object that holds the runtime ---- */

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
 * More than once, as the first may be in the constructor of a library that the
 * program is linked with: then it comes in front of libc's, and so runs behind
 * the destructors of all modules. The later ones come after it.
 */
void tp_note_exit(void)
{
	static unsigned int times;

	if (__atomic_load_n(&times, __ATOMIC_RELAXED) < 8 && __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) < 8)
		atexit(note_exit); /* no memory: then exit() waits */
}

/* glibc's, for C++: what exit() calls first of all, if it is the thread's that calls it. */
extern int __cxa_thread_atexit_impl(void (*function)(void *data), void *data, void *object) __attribute__((weak));

/* Where all that there is of tracing is in libraries, none of the above may come late enough. */
static void note_exit_of_main_thread(void)
{
	if (tp_thread_id() == getpid() && __cxa_thread_atexit_impl)
		__cxa_thread_atexit_impl(note_end_of_main_thread, NULL, &exiting);
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

static bool is_of_main_program(void *data)
{
	return dl_iterate_phdr(is_in_first, data) == 1;
}

/*
 * Threads that exit call the runtime. So the object that libtp.a was linked
 * into must stay, as libtp.so does. In a constructor: its loader's lock is
 * held already, and nobody can wait for the two in another order. By dlsym, as
 * the mention of dlopen makes the linker warn of it in static programs.
 */
static void __attribute__((constructor)) pin(void)
{
	Dl_info info;

	if (is_of_main_program(&exiting) || !dladdr(&exiting, &info))
		return;
	void *(*open_object)(const char *, int) =
		(void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");
	if (open_object && info.dli_fname)
		open_object(info.dli_fname, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
}

/* ---- The beginning ---- */

static void start(void)
{
	tp_clock_start();
	tp_thread_start();
	note_exit_of_main_thread();
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0)
		tp_complain("no memory to prepare for fork: a forked child must not use tracepoints");
}

void tp_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}
