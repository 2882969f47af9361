/* SPDX-License-Identifier: MIT */
/*
 * core/site.c - what sites need of the runtime: that their static keys are
 * switched, and that a call of the probes preserves their registers. tp/site.h
 * and tp/call.h say what a site is made of.
 *
 * A thread that executes a site while it is changed finds it off or on: what
 * it was a moment ago, or will be in a moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#include <tp/call.h>

#include "base/exit.h"
#include "base/message.h"
#include "core/core.h"
#include "core/site.h"

struct tp_module *tp_modules;

static struct tracepoint *changed; /* whose sites are not what they should be */

struct tracepoint *tp_sites_changed(void)
{
	return changed;
}

static const struct tracepoint *tracepoint_of(const struct tp_site *site)
{
	intptr_t key = (intptr_t)&site->key + site->key;

	return key & 1 ? ((const struct tp_import *)(key - 1))->tp : (const struct tracepoint *)key;
}

void tp_sites_load(const struct tp_module *module)
{
	for (const struct tp_site *site = module->sites; site < module->sites_end; site++) {
		intptr_t key = (intptr_t)&site->key + site->key;
		struct tracepoint *tp = (struct tracepoint *)key;
		if (key & 1)
			continue;
		tp->sites = tp->sites ? tp->sites : site;
		tp->sites_end = site + 1;
	}
}

unsigned int tp_sites_count(const struct tracepoint *tp)
{
	unsigned int n = 0;

	for (const struct tp_module *module = tp_modules; module; module = module->next) {
		for (const struct tp_site *site = module->sites; site < module->sites_end; site++)
			n += tracepoint_of(site) == tp;
	}
	return n;
}

#if TP_STATIC_KEYS_POSSIBLE

/* ---- The instruction ---- */

#if defined(__x86_64__)

typedef uint8_t opcode_t; /* of five bytes the first */
#define OPCODE_OFF 0xa9 /* test $imm32, %eax */

static opcode_t opcode_on(const struct tp_site *site)
{
	(void)site;
	return 0xe9; /* jmp rel32 */
}

#else

typedef uint32_t opcode_t;
#define OPCODE_OFF 0xd503201f /* nop */

static opcode_t opcode_on(const struct tp_site *site)
{
	intptr_t from = (intptr_t)&site->code + site->code;
	intptr_t to = (intptr_t)&site->target + site->target;

	/* b reaches 128 MiB. Where a program is larger, and the linker has put the two so far apart, it is no site. */
	if (to - from < -0x8000000 || to - from >= 0x8000000)
		return OPCODE_OFF;
	return 0x14000000 | ((uint32_t)((to - from) >> 2) & 0x3ffffff);
}

#endif

static opcode_t *opcode_of(const struct tp_site *site)
{
	return (opcode_t *)((intptr_t)&site->code + site->code);
}

/* ---- Writing to program text ---- */

/*
 * Opcodes that are written at once: they are less than a page apart, on one
 * page. What lies between is written as it is; should a debugger set a breakpoint
 * there at this very moment, it may be lost.
 */
struct batch {
	opcode_t *first, *last;
	unsigned int nr;
	struct {
		opcode_t *at;
		opcode_t opcode;
	} changes[64];
	int memory; /* /proc/self/mem; -1 where it is not open */
	int error;  /* the last */
	bool on;    /* something was switched on */
};

#define BATCH_BYTES 1024

/* In a container or a sandbox, what is called /proc/self/mem may be something else, which takes the bytes as well. */
static bool is_written(const struct batch *batch)
{
	for (unsigned int i = 0; i < batch->nr; i++) {
		if (__atomic_load_n(batch->changes[i].at, __ATOMIC_RELAXED) != batch->changes[i].opcode)
			return false;
	}
	return true;
}

#if defined(__x86_64__)
/* By one write: what is copied byte for byte is changed byte for byte. */
static bool write_opcodes(const struct batch *batch)
{
	const size_t size = (size_t)((char *)(batch->last + 1) - (char *)batch->first);
	unsigned char text[BATCH_BYTES];

	memcpy(text, batch->first, size);
	for (unsigned int i = 0; i < batch->nr; i++)
		text[batch->changes[i].at - batch->first] = batch->changes[i].opcode;
	return pwrite(batch->memory, text, size, (off_t)(intptr_t)batch->first) == (ssize_t)size;
}
#else
/* By one write each, as a word must not be copied in parts. */
static bool write_opcodes(const struct batch *batch)
{
	for (unsigned int i = 0; i < batch->nr; i++) {
		if (pwrite(batch->memory, &batch->changes[i].opcode, sizeof(opcode_t),
			   (off_t)(intptr_t)batch->changes[i].at) != sizeof(opcode_t))
			return false;
	}
	return true;
}
#endif

/*
 * Through /proc, as a debugger does: text stays read-only to
 * everybody else. It is opened each time: a descriptor that is kept may be
 * closed by the program, and then be another file's; and in a forked child it
 * would be the parent's memory.
 */
static bool write_to_memory(struct batch *batch)
{
	if (batch->memory < 0)
		batch->memory = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
	if (batch->memory >= 0 && write_opcodes(batch) && is_written(batch))
		return true;
	/* Slower, but there also where the main thread has ended. */
	if (batch->memory >= 0)
		close(batch->memory);
	batch->memory = open("/proc/thread-self/mem", O_WRONLY | O_CLOEXEC);
	return batch->memory >= 0 && write_opcodes(batch) && is_written(batch);
}

/* Executable all the time: other threads are in it. ThreadSanitizer knows of no code that is written to. */
__attribute__((no_sanitize("thread"))) static bool write_in_place(const struct batch *batch)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *begin = (void *)((uintptr_t)batch->first & ~(page - 1));

	if (mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	for (unsigned int i = 0; i < batch->nr; i++) {
		opcode_t *at = batch->changes[i].at;
		__atomic_store_n(at, batch->changes[i].opcode, __ATOMIC_RELAXED);
		__builtin___clear_cache((char *)at, (char *)(at + 1));
	}
	mprotect(begin, page, PROT_READ | PROT_EXEC);
	return is_written(batch);
}

static bool batch_write(struct batch *batch)
{
#if defined(__x86_64__)
	return write_to_memory(batch) || write_in_place(batch);
#else
	/* The other way round: emulators like qemu-user do not see what is written through /proc. */
	return write_in_place(batch) || write_to_memory(batch);
#endif
}

static void batch_flush(struct batch *batch)
{
	if (!batch->nr)
		return;
	if (batch_write(batch)) {
#ifdef VALGRIND_DISCARD_TRANSLATIONS
		VALGRIND_DISCARD_TRANSLATIONS(batch->first, (char *)(batch->last + 1) - (char *)batch->first);
#endif
	} else {
		batch->error = -EPERM;
	}
	batch->nr = 0;
}

static void batch_add(struct batch *batch, opcode_t *at, opcode_t opcode)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	opcode_t *first = batch->nr && batch->first < at ? batch->first : at;
	opcode_t *last = batch->nr && batch->last > at ? batch->last : at;

	if (batch->nr == sizeof(batch->changes) / sizeof(batch->changes[0]) ||
	    (uintptr_t)first / page != (uintptr_t)last / page ||
	    (size_t)((char *)(last + 1) - (char *)first) > BATCH_BYTES) {
		batch_flush(batch);
		first = last = at;
	}
	batch->first = first;
	batch->last = last;
	batch->changes[batch->nr].at = at;
	batch->changes[batch->nr++].opcode = opcode;
}

/*
 * Barrier (C): every processor that runs this process forgets what it has
 * fetched, so that its next hit finds the site on. Without it (an old kernel)
 * that is a moment later; as it is where sites are switched off, which need no
 * more than that: one that is still on finds no probes.
 */
static void synchronize_processors(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 || errno != EPERM)
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/* ---- Switching ---- */

static void site_switch(struct batch *batch, const struct tp_site *site, const struct tracepoint *tp)
{
	const bool on = tp->enabled;
	opcode_t *at = opcode_of(site);
	const opcode_t now = *at;
	const opcode_t opcode = on ? opcode_on(site) : OPCODE_OFF;

	if (now == opcode) {
		if (on && opcode == OPCODE_OFF) {
			batch->error = -EPERM;
			tp_complain("a site of tracepoint '%s' (%s:%d) is too far from its code that is out of the way",
				    tp->name, tp->file, tp->line);
		}
		return;
	}
	batch->on = batch->on || on;
	if (now == OPCODE_OFF || now == opcode_on(site))
		batch_add(batch, at, opcode);
	else
		tp_complain("a site of tracepoint '%s' (%s:%d), at %p, stays as it is: a breakpoint or a uprobe has taken "
			    "the place of its instruction; take that away, and register again",
			    tp->name, tp->file, tp->line, (void *)at);
}

static void say_why(void)
{
	tp_complain("tracepoints can't be switched on: this system forbids to change program text, through "
		    "/proc/self/mem as well as by mprotect; compile the program with -DTP_STATIC_KEYS=0");
}

/* Of changed tracepoints, or of the only one. */
static void switch_between(struct batch *batch, const struct tp_site *site, const struct tp_site *end,
			   const struct tracepoint *only)
{
	for (; site < end; site++) {
		const struct tracepoint *tp = tracepoint_of(site);
		if (only ? tp == only : tp->changed)
			site_switch(batch, site, tp);
	}
}

int tp_sites_switch(void)
{
	struct batch batch = {.memory = -1};
	const struct tracepoint *only = changed && !changed->next_changed ? changed : NULL;
	int error = errno;

	if (!changed)
		return 0;
	if (only && only->sites) { /* nobody imports it */
		switch_between(&batch, only->sites, only->sites_end, only);
	} else {
		for (const struct tp_module *module = tp_modules; module; module = module->next)
			switch_between(&batch, module->sites, module->sites_end, only);
	}
	batch_flush(&batch);
	if (batch.memory >= 0)
		close(batch.memory);
	if (batch.on)
		synchronize_processors();
	errno = error;

	/* What could not be switched off calls its iterator, which finds no probes. */
	struct tracepoint **at = &changed;
	while (*at) {
		struct tracepoint *tp = *at;
		if (batch.error && tp->enabled) {
			at = &tp->next_changed;
			continue;
		}
		*at = tp->next_changed;
		tp->changed = false;
	}
	if (changed)
		say_why();
	return changed ? batch.error : 0;
}

#else

int tp_sites_switch(void)
{
	for (; changed; changed = changed->next_changed)
		changed->changed = false;
	return 0;
}

#endif

void tp_sites_change(struct tracepoint *tp)
{
	if (tp->changed)
		return;
	tp->changed = true;
	tp->next_changed = changed;
	changed = tp;
}

void tp_sites_leave(void)
{
	if (!tp_exiting()) {
		tp_sites_switch();
		return;
	}
	for (; changed; changed = changed->next_changed)
		changed->changed = false;
}

/* ---- Calling ---- */

#if TP_STATIC_KEYS_POSSIBLE && defined(__x86_64__)

_Static_assert(offsetof(struct tracepoint, iterate) == 16, "tp_call_probes knows it");

/* Where the sites of tp/call.h go; the arguments are in r8, r9, r10, rcx, rdx. */
TP_PUBLIC __attribute__((naked)) void tp_call_probes(void);
__attribute__((naked)) void tp_call_probes(void)
{
	__asm__ volatile(TP_CALL_PROBES_CODE("") : :);
}

#endif
