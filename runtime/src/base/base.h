/* SPDX-License-Identifier: MIT */
/*
 * base/base.h - words that every file of the runtime uses.
 *
 * base/ knows the process around us, and nothing of tracepoints. Each of its
 * files has a header:
 *
 *	clock.h          what the times of records are counted in: a clock, or the processor's counter
 *	error_name.h     the names of errors
 *	exit.h           the end of the process
 *	file.h           files, directories, descriptors that the program may close; a program in a sandbox
 *	fork.h           what is done around a fork
 *	futex.h          waiting for a word to change
 *	guard.h          code that no signal and no cancellation interrupts, or that a fork closes
 *	helper.h         the process's helper
 *	lock.h, locks.h  locks for those that are no readers; the process's locks
 *	mapped_file.h    files that are mapped while they are written
 *	message.h        messages to a person
 *	mutex.h          locks that readers take, too, and the order of all locks
 *	nearest.h        what somebody may have meant
 *	options.h        "mode=flight,size=64M"
 *	pid_name.h       "%p" in names
 *	process.h        the start
 *	readers.h        waiting for those that are in probes
 *	scratch.h        each thread's stack of memory
 *	stack.h          return addresses; loading a library
 *	text.h           texts that grow, JSON, characters, moments
 *	thread.h         what is kept for each thread
 */
#ifndef TP_BASE_H
#define TP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/tracepoint.h>

/*
 * For what a signal handler of the same thread may see: the compiler keeps the order, the processor does anyway.
 * Not __atomic_signal_fence(): clang 14 moves loads past that, into a later block of the function (seen with
 * -fsanitize=address in tp_stream_reserve(): the position was read after the clock).
 */
#define tp_barrier() __asm__ volatile("" ::: "memory")

/* For what the hot path hardly ever calls. Inlined, its frame and its registers would cost each record something. */
#define TP_COLD __attribute__((noinline, cold))

/*
 * For a number of 64 bits in a structure that other threads use, too. 32-bit x86 would align it to 4 bytes, and reads what
 * crosses the end of a cache line in two halves.
 */
#define TP_WHOLE __attribute__((aligned(8)))

#define TP_THREAD_LOCAL __thread TP_TLS_MODEL

/* What only glibc has, from this version on. */
#ifdef __GLIBC__
#define TP_GLIBC(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define TP_GLIBC(major, minor) 0
#endif

/*
 * ThreadSanitizer's, in programs that are built with it: it can't see into
 * liburcu, nor into this library where that is built without it.
 */
TP_PUBLIC extern void __tsan_acquire(void *address) __attribute__((weak));
TP_PUBLIC extern void __tsan_release(void *address) __attribute__((weak));

/* FNV-1a, of names. */
static inline uint32_t tp_hash(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

#endif /* TP_BASE_H */
