/* SPDX-License-Identifier: MIT */
/*
 * Switches tracepoints in a process that may not change its own code:
 *
 *	hardened TEST DENIED... [-- ARGUMENT]
 *
 * DENIED are what is forbidden: mem (writing to /proc/self/mem), open (opening it), mprotect (making memory
 * executable), mdwe (the same by PR_SET_MDWE), proc (there is no /proc), fake (/proc/self/mem is an ordinary file,
 * which takes all that is written). Ends with status 0, 77 where the system can't forbid that, or 1 after having said
 * what is wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "keys.h"
#undef CREATE_TRACE_POINTS
#include "module.h"

#include <tp/tp.h>

#define CANNOT 77

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#define must_be(what, expected)                                                                      \
	do {                                                                                         \
		const long is = (long)(what), should_be = (long)(expected);                          \
		if (is != should_be) {                                                               \
			fprintf(stderr, "hardened.c:%d: %s is %ld, not %ld\n", __LINE__, #what, is,  \
				should_be);                                                          \
			exit(1);                                                                     \
		}                                                                                    \
	} while (0)

/* ---- What is forbidden ---- */

/* The system call with this number, where one of these flags is in its argument. */
static void filter_calls(int number, unsigned int argument, unsigned int flags, unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offsetof(struct seccomp_data, args[argument])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(CANNOT);
}

static void forbid(int number, unsigned int flags)
{
	filter_calls(number, 2, flags, SECCOMP_RET_ERRNO | EPERM);
}

static void hide_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "/proc", "tmpfs", 0, NULL))
		exit(CANNOT);
}

static void make_file(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT, 0600);

	must_be(fd < 0, 0);
	close(fd);
}

static void fake_proc(void)
{
	hide_proc();
	must_be(mkdir("/proc/self", 0700), 0);
	must_be(mkdir("/proc/thread-self", 0700), 0);
	make_file("/proc/self/mem");
	make_file("/proc/thread-self/mem");
}

static void deny(char **what)
{
	for (; *what && strcmp(*what, "--") != 0; what++) {
		if (strcmp(*what, "mem") == 0) {
			forbid(SYS_pwrite64, ~0u); /* of any length that is not 0 */
		} else if (strcmp(*what, "open") == 0) {
			const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
			must_be(setrlimit(RLIMIT_NOFILE, &none), 0);
		} else if (strcmp(*what, "mprotect") == 0) {
			forbid(SYS_mprotect, PROT_EXEC);
		} else if (strcmp(*what, "mdwe") == 0) {
			if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
				exit(CANNOT);
		} else if (strcmp(*what, "proc") == 0) {
			hide_proc();
		} else if (strcmp(*what, "fake") == 0) {
			fake_proc();
		} else {
			fprintf(stderr, "hardened: what is %s?\n", *what);
			exit(1);
		}
	}
}

/* ---- The sites ---- */

static unsigned int hits;

static void on_hit(void *data, int line)
{
	(void)data, (void)line;
	hits++;
}

#if defined(__x86_64__)
#define FAR(bytes) __asm__ volatile("jmp 1f\n\t.skip " #bytes "\n1:")
#else
#define FAR(bytes) __asm__ volatile("b 1f\n\t.skip " #bytes "\n1:")
#endif

/* Two sites on one page, too far from each other to be written at once; and one that is not, but on the next page. */
static __attribute__((noinline, aligned(4096))) void hit_far_apart(void)
{
	FAR(2000);
	trace_keys_hit(6);
	FAR(1200);
	trace_keys_hit(7);
	FAR(900);
	trace_keys_hit(8);
}

static __attribute__((noinline)) unsigned int hit(void)
{
	hits = 0;
	hit_far_apart();
	trace_keys_hit(1);
	for (int i = 0; i < 3; i++)
		trace_keys_hit(2 + i);
	trace_keys_hit(5);
	return hits;
}

#define NR_HITS 8

static void count_probes(struct tracepoint *tp, void *priv)
{
	struct tp_tracepoint_info info;

	tp_get_tracepoint_info(tp, &info);
	*(unsigned int *)priv += info.nr_probes + (info.state != TP_STATE_OFF);
	*(unsigned int *)priv += (tp->enabled != 0 ? 1u : 0) + (tp->funcs ? 1u : 0);
}

/* No probe, nothing that is on or half on, and no site that thinks it is. */
static void must_be_off(void)
{
	unsigned int left = 0;

	tp_for_each_tracepoint(count_probes, &left);
	must_be(left, 0);
	must_be(hit(), 0);
	must_be(trace_keys_hit_enabled() + trace_keys_shared_enabled(), 0);
}

/* ---- Tests ---- */

/* Mappings that can be written to and executed; 0 where their list can't be opened. */
static unsigned int count_writable_code(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, " rwx") != NULL;
	if (file)
		fclose(file);
	return n;
}

static void works(char **denied)
{
	deny(denied);
	for (int i = 0; i < 3; i++) {
		must_be_off();
		must_be(register_trace_keys_hit(on_hit, NULL), 0);
		must_be(trace_keys_hit_enabled(), 1);
		must_be(count_writable_code(), 0);
		must_be(hit(), NR_HITS);
		must_be(unregister_trace_keys_hit(on_hit, NULL), 0);
		must_be(tracepoint_synchronize_unregister(), 0);
	}
	must_be_off();
}

static void refused(char **denied)
{
	deny(denied);
	errno = 0;
	must_be(register_trace_keys_hit(on_hit, NULL), -EPERM);
	must_be(errno, 0);
	must_be_off();
	must_be(unregister_trace_keys_hit(on_hit, NULL), -ENOENT);
	must_be(tracepoint_synchronize_unregister(), 0);
	must_be_off();
}

/* Each attempt is refused, and said; one tracepoint does not stand in the way of the other. */
static void refused_again(char **denied)
{
	deny(denied);
	must_be(register_trace_keys_hit(on_hit, NULL), -EPERM);
	must_be(register_trace_keys_hit(on_hit, NULL), -EPERM);
	must_be(register_trace_keys_shared(on_hit, NULL), -EPERM);
	must_be_off();
}

static void sink_refused(char **denied)
{
	FILE *file = tmpfile();
	struct tp_sink *sink = file ? tp_text_sink(file) : NULL;

	must_be(!sink, 0);
	deny(denied);
	must_be(tp_enable(sink, "keys:*"), -EPERM);
	must_be_off();
	must_be(tp_disable(sink, "keys:*"), 0);
	must_be(tp_sink_close(sink), 0);
	must_be(ftell(file), 0);
	must_be_off();
}

/* The sites stay on, with no probes behind them; and so they can have some again. */
static void sandboxed_later(char **denied)
{
	must_be(register_trace_keys_hit(on_hit, NULL), 0);
	must_be(hit(), NR_HITS);
	deny(denied);
	must_be(hit(), NR_HITS);
	must_be(unregister_trace_keys_hit(on_hit, NULL), 0);
	must_be(hit(), 0);
	must_be(tracepoint_synchronize_unregister(), 0);
	must_be(hit(), 0);
	must_be(register_trace_keys_hit(on_hit, NULL), 0);
	must_be(hit(), NR_HITS);
	must_be(unregister_trace_keys_hit(on_hit, NULL), 0);
	must_be(hit(), 0);
}

static void expect_failed(struct tracepoint *tp, void *priv)
{
	struct tp_tracepoint_info info;

	if (strcmp(tp->name, "module_hit") != 0)
		return;
	tp_get_tracepoint_info(tp, &info);
	must_be(info.state, TP_STATE_FAILED);
	must_be(info.nr_probes, 1);
	++*(unsigned int *)priv;
}

static const char *last(char **arguments)
{
	while (arguments[0] && arguments[1])
		arguments++;
	return arguments[0];
}

/* Its sites are of the other kind. */
static void module_works(char **denied)
{
	unsigned int (*module_hit)(void);

	deny(denied);
	must_be(register_trace_module_hit(on_hit, NULL), 0);
	void *module = dlopen(last(denied), RTLD_NOW);
	if (!module)
		fprintf(stderr, "%s\n", dlerror());
	must_be(!module, 0);
	*(void **)&module_hit = dlsym(module, "module_hit");
	hits = 0;
	must_be(module_hit(), 6);
	must_be(hits, 5);
	must_be(unregister_trace_module_hit(on_hit, NULL), 0);
	must_be(module_hit(), 6);
	must_be(hits, 5);
	must_be(dlclose(module), 0);
}

static void module_stays_off(char **denied)
{
	unsigned int (*module_hit)(void), (*module_asked)(void), seen = 0;

	deny(denied);
	must_be(register_trace_module_hit(on_hit, NULL), 0); /* it waits */
	hits = 0;
	void *module = dlopen(last(denied), RTLD_NOW);
	if (!module)
		fprintf(stderr, "%s\n", dlerror());
	must_be(!module, 0);
	*(void **)&module_hit = dlsym(module, "module_hit");
	*(void **)&module_asked = dlsym(module, "module_asked");
	must_be(module_hit() > 0, 1);
	must_be(hits, 0);
	must_be(module_asked(), 0);
	tp_for_each_tracepoint(expect_failed, &seen);
	must_be(seen, 1);
	must_be(unregister_trace_module_hit(on_hit, NULL), 0);
	must_be(module_hit() > 0, 1);
	must_be(hits, 0);
	must_be(dlclose(module), 0);
	must_be(tracepoint_synchronize_unregister(), 0);
	must_be_off();
}

/* A program that is started in the sandbox, and has nobody but the environment to ask for its events. */
static void started(char **denied)
{
	(void)denied;
	must_be(hit(), 0);
	must_be(trace_keys_hit_enabled(), 0);
}

static void starts(char **denied)
{
	deny(denied);
	execl("/proc/self/exe", "hardened", "started", (char *)NULL);
	exit(CANNOT);
}

#if defined(__x86_64__)
static unsigned char *code_of(const struct tp_site *site)
{
	return (unsigned char *)((intptr_t)&site->code + site->code);
}

static unsigned int count_sites(unsigned char byte)
{
	unsigned int n = 0;

	for (const struct tp_site *site = TP_OF_INTERFACE(__start_tp_sites); site < TP_OF_INTERFACE(__stop_tp_sites); site++)
		n += (intptr_t)&site->key + site->key == (intptr_t)&__tracepoint_keys_hit && *code_of(site) == byte;
	return n;
}
#endif

/* ---- System calls that are caught ---- */

static char calls[256]; /* what was asked for, in short */
static bool registered; /* as the kernel wants it before barrier (C) */

static bool all_sites_are_on(void)
{
#if defined(__x86_64__)
	if (count_sites(0xa9) != 0)
		return false;
#endif
	return trace_keys_hit_enabled() && hit() == NR_HITS;
}

static int on_membarrier(long command)
{
	if (command == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) {
		strcat(calls, "register ");
		registered = true;
		return 0;
	}
	must_be(command, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	strcat(calls, all_sites_are_on() ? "on " : "not yet on ");
	return registered ? 0 : -EPERM;
}

static int on_mprotect(long protection)
{
	strcat(calls, protection & PROT_EXEC ? "executable " : "not executable ");
	return -EPERM;
}

static void on_call(int signal, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
	greg_t *result = &machine->gregs[REG_RAX];
	const long first = (long)machine->gregs[REG_RDI], third = (long)machine->gregs[REG_RDX];
#else
	unsigned long long *result = &machine->regs[0];
	const long first = (long)machine->regs[0], third = (long)machine->regs[2];
#endif

	(void)signal;
	*result = (__typeof__(*result))(info->si_syscall == SYS_membarrier ? on_membarrier(first) : on_mprotect(third));
}

static void catch_calls(int number, unsigned int argument, unsigned int flags)
{
	const struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};

	must_be(sigaction(SIGSYS, &action, NULL), 0);
	filter_calls(number, argument, flags, SECCOMP_RET_TRAP);
}

/* All processors forget what they have fetched when sites have been switched on, and not before. */
static void synchronizes(char **denied)
{
	(void)denied;
	catch_calls(SYS_membarrier, 0, ~0u);
	for (int i = 0; i < 2; i++) {
		must_be(register_trace_keys_hit(on_hit, NULL), 0);
		printf("%s\n", calls);
		calls[0] = '\0';
		must_be(unregister_trace_keys_hit(on_hit, NULL), 0);
		must_be(calls[0], 0);
	}
	must_be_off();
}

/* Other threads run the page that is made writable. */
static void stays_executable(char **denied)
{
	deny(denied);
	catch_calls(SYS_mprotect, 2, PROT_WRITE);
	must_be(register_trace_keys_hit(on_hit, NULL), -EPERM);
	printf("%s\n", calls);
	must_be_off();
}

#if defined(__x86_64__)
static void put(unsigned char *at, unsigned char byte)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *begin = (void *)((uintptr_t)at & ~(page - 1));

	must_be(mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	*(volatile unsigned char *)at = byte;
	must_be(mprotect(begin, page, PROT_READ | PROT_EXEC), 0);
}

/* What a debugger has put at a site stays there, and what it puts back later is off. */
static void breakpoint(char **denied)
{
	const unsigned int nr = count_sites(0xa9);
	unsigned int seen = 0;

	deny(denied);
	must_be(nr >= 3, 1);
	for (const struct tp_site *site = TP_OF_INTERFACE(__start_tp_sites); site < TP_OF_INTERFACE(__stop_tp_sites); site++) {
		unsigned char *code = code_of(site);
		if ((intptr_t)&site->key + site->key != (intptr_t)&__tracepoint_keys_hit)
			continue;
		seen++;
		put(code, 0xcc);
		must_be(register_trace_keys_hit(on_hit, NULL), 0);
		must_be(*code, 0xcc);
		must_be(count_sites(0xe9), nr - 1);
		must_be(unregister_trace_keys_hit(on_hit, NULL), 0);
		must_be(*code, 0xcc);
		must_be(count_sites(0xa9), nr - 1);
		put(code, 0xa9);
	}
	must_be(seen, nr);
	must_be_off();
	must_be(register_trace_keys_hit(on_hit, NULL), 0);
	must_be(hit(), NR_HITS);
	printf("%u\n", nr);
}
#endif

static const struct {
	const char *name;
	void (*run)(char **denied);
} tests[] = {
	{"works", works},
	{"refused", refused},
	{"refused_again", refused_again},
	{"sink_refused", sink_refused},
	{"sandboxed_later", sandboxed_later},
	{"module_works", module_works},
	{"module_stays_off", module_stays_off},
	{"starts", starts},
	{"started", started},
	{"synchronizes", synchronizes},
	{"stays_executable", stays_executable},
#if defined(__x86_64__)
	{"breakpoint", breakpoint},
#endif
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[1], tests[i].name) == 0) {
			tests[i].run(argv + 2);
			return 0;
		}
	}
	fprintf(stderr, "hardened: which test?\n");
	return 1;
}
