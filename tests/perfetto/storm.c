/* SPDX-License-Identifier: MIT */
/*
 * storm.c - a program that hits its tracepoints in ways that are hard for an output:
 *
 *	storm SHARED COMMAND=NUMBER...
 *
 * SHARED is a file where each thread and each handler counts its hits, one number each, as soon as they are through. Then whoever
 * kills the program knows what must be in the trace. Each thread is another "who".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "storm.h"

#define MOST 65536

static unsigned long *hits; /* of each who; the first is how many there are */

static int new_who(void)
{
	return (int)__atomic_add_fetch(&hits[0], 1, __ATOMIC_RELAXED);
}

static void hit(int who)
{
	trace_hit(who, hits[who]);
	__atomic_store_n(&hits[who], hits[who] + 1, __ATOMIC_RELEASE);
}

static void die(const char *what)
{
	perror(what);
	exit(99);
}

/* ---- Threads ---- */

static unsigned long each; /* 0: for ever */
static unsigned long pace; /* hits between two moments of sleep; 0: none */

static void *hit_often(void *unused)
{
	const int who = new_who();

	for (unsigned long i = 0; !each || i < each; i++) {
		hit(who);
		if (pace && i % pace == 0)
			usleep(1000);
	}
	return unused;
}

static void threads(unsigned long nr)
{
	pthread_t *all = calloc(nr, sizeof(*all));

	for (unsigned long i = 0; i < nr; i++) {
		if (pthread_create(&all[i], NULL, hit_often, NULL) != 0)
			die("pthread_create");
	}
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(all[i], NULL);
	free(all);
}

static void come_and_go(unsigned long nr)
{
	pthread_t thread;

	while (nr--) {
		if (pthread_create(&thread, NULL, hit_often, NULL) != 0)
			die("pthread_create");
		pthread_join(thread, NULL);
	}
}

static void *kill_later(void *us)
{
	usleep((useconds_t)(uintptr_t)us);
	kill(getpid(), SIGKILL);
	return NULL;
}

/* So many microseconds from now. */
static void end(unsigned long us)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, kill_later, (void *)(uintptr_t)us) != 0)
		die("pthread_create");
}

/* ---- Processes ---- */

static void forks(unsigned long nr)
{
	while (nr--) {
		const pid_t child = fork();
		if (child < 0)
			die("fork");
		if (child == 0) {
			threads(2);
			exit(0);
		}
		hit_often(NULL);
	}
	for (int status; wait(&status) > 0;) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			exit(98);
	}
}

/* As forks, but the children are killed, somewhere. */
static void killed(unsigned long nr)
{
	while (nr--) {
		const pid_t child = fork();
		if (child < 0)
			die("fork");
		if (child == 0) {
			each = 0;
			end(200 + nr * 137 % 700);
			threads(3);
		}
		waitpid(child, NULL, 0);
		hit_often(NULL);
	}
}

/* ---- Signals ---- */

static int who_of_handler;
static sigjmp_buf back;
static volatile sig_atomic_t may_jump, jumps;
static unsigned long handled;

static void on_signal(int unused)
{
	(void)unused;
	hit(who_of_handler);
	if (may_jump && ++handled % 3 == 0) {
		jumps++;
		siglongjmp(back, 1);
	}
}

static void begin_signals_for(void (*handler)(int), int us)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	const struct itimerval often = {.it_interval = {.tv_usec = us}, .it_value = {.tv_usec = us}};

	who_of_handler = new_who();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void begin_signals(void)
{
	begin_signals_for(on_signal, 20);
}

static void end_signals(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 0}}, NULL);
	signal(SIGALRM, SIG_IGN);
}

static void signals(unsigned long nr)
{
	each = nr;
	begin_signals();
	hit_often(NULL);
	end_signals();
}

/* Handlers leave what they have interrupted. What was left counts as hit when it is known that it is through. */
static void jump(unsigned long nr)
{
	const int who = new_who();

	begin_signals();
	sigsetjmp(back, 1);
	may_jump = 1;
	while (hits[who] < nr)
		hit(who);
	may_jump = 0;
	end_signals();
	printf("jumps %d\n", (int)jumps);
}

/* A handler hits, and another one inside of it leaves that hit, back into the handler. What the handlers have interrupted goes on. */
static sigjmp_buf inside;
static volatile sig_atomic_t is_inside;

static void leave_inside(int unused)
{
	(void)unused;
	if (!is_inside)
		return;
	is_inside = 0;
	jumps++;
	siglongjmp(inside, 1);
}

static void hit_inside(int unused)
{
	(void)unused;
	if (sigsetjmp(inside, 1) == 0) {
		is_inside = 1;
		for (int i = 0; i < 2000; i++)
			hit(who_of_handler);
	}
	is_inside = 0;
}

static void jump_inside(unsigned long nr)
{
	struct sigaction inner = {.sa_handler = leave_inside, .sa_flags = SA_RESTART};
	const struct itimerspec often = {.it_interval = {.tv_nsec = 40000}, .it_value = {.tv_nsec = 40000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	const int who = new_who();
	timer_t timer;

	begin_signals_for(hit_inside, 150);
	sigaddset(&inner.sa_mask, SIGALRM); /* which is never inside of it: else it would not be left */
	sigaction(SIGUSR2, &inner, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
		die("timer_create");
	while (hits[who] < nr)
		hit(who);
	end_signals(); /* first: what leaves its handler is the timer's */
	timer_delete(timer);
	printf("jumps %d\n", (int)jumps);
}

/* The handler forks; its child hits once more and ends. */
static void on_signal_fork(int unused)
{
	(void)unused;
	const pid_t child = fork();

	if (child == 0) {
		hit(new_who());
		_exit(0);
	}
}

static void fork_in_handler(unsigned long nr)
{
	const struct sigaction action = {.sa_handler = on_signal_fork, .sa_flags = SA_RESTART};
	const int who = new_who();

	sigaction(SIGUSR1, &action, NULL);
	for (unsigned long i = 0; i < nr; i++) {
		const struct itimerval once = {.it_value = {.tv_usec = (suseconds_t)(5 + i % 17)}};
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &once, NULL);
		for (int j = 0; j < 300; j++)
			hit(who);
		while (wait(NULL) > 0)
			;
	}
}

/* ---- Records ---- */

static char text[70000];

static void texts(unsigned long len)
{
	const int who = new_who();

	memset(text, 'x', len);
	text[len] = '\0';
	for (unsigned long i = 0; i < each; i++)
		trace_text(who, hits[who]++, text);
}

static void hostile(unsigned long len)
{
	const int who = new_who();

	prctl(PR_SET_NAME, "\xff\"\n\x01\xc3");
	memset(text, 0xff, len);
	text[len] = '\0';
	for (unsigned long i = 0; i < each; i++)
		trace_text(who, hits[who]++, text);
}

static void bytes(unsigned long len)
{
	const int who = new_who();

	for (unsigned long i = 0; i < each; i++)
		trace_bytes(who, hits[who]++, len);
}

/* ---- Modules ---- */

static void modules(unsigned long nr)
{
	const int who = new_who();

	while (nr--) {
		void *module = dlopen(getenv("MODULE"), RTLD_NOW);
		if (!module) {
			fprintf(stderr, "%s\n", dlerror());
			exit(97);
		}
		void (*hit_module)(int, unsigned long) = (void (*)(int, unsigned long))(uintptr_t)dlsym(module, "hit_module");
		hit_module(who, hits[who]++);
		dlclose(module);
	}
}

/* ---- The rest ---- */

static void set_each(unsigned long nr)
{
	each = nr;
}

static void set_pace(unsigned long nr)
{
	pace = nr;
}

static void limit(unsigned long size)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, RLIM_INFINITY});
}

static void shell(unsigned long unused)
{
	(void)unused;
	if (system(getenv("SHELL_COMMAND")) != 0)
		exit(96);
}

/* Where packets are copied, each copy of so many fails, as on a full disk. */
static unsigned long failing;

ssize_t process_vm_writev(pid_t pid, const struct iovec *from, unsigned long nr_from, const struct iovec *to, unsigned long nr_to, unsigned long flags)
{
	static unsigned long copies;

	if (failing && __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED) % failing == 0) {
		errno = EFAULT;
		return -1;
	}
	return syscall(SYS_process_vm_writev, pid, from, nr_from, to, nr_to, flags);
}

static void fail_copies(unsigned long nr)
{
	failing = nr;
}

static void close_all(unsigned long first)
{
	for (int fd = (int)first; fd < 100; fd++)
		close(fd);
}

static void wait_for_line(unsigned long unused)
{
	(void)unused;
	printf("waiting\n");
	fflush(stdout);
	getchar();
}

static void sleep_ms(unsigned long ms)
{
	usleep((useconds_t)ms * 1000);
}

static const struct command {
	const char *name;
	void (*run)(unsigned long);
} commands[] = {
	{"each", set_each}, {"pace", set_pace}, {"kill", end}, {"threads", threads}, {"come-and-go", come_and_go}, {"forks", forks}, {"killed", killed}, {"signals", signals},
	{"jump", jump}, {"jump-inside", jump_inside}, {"fail-copies", fail_copies}, {"fork-in-handler", fork_in_handler}, {"texts", texts}, {"hostile", hostile}, {"bytes", bytes},
	{"modules", modules}, {"limit", limit}, {"shell", shell}, {"close-all", close_all}, {"wait", wait_for_line}, {"sleep", sleep_ms},
};

static void run(const char *command)
{
	const size_t len = strcspn(command, "=");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == len && memcmp(commands[i].name, command, len) == 0) {
			commands[i].run(command[len] ? strtoul(command + len + 1, NULL, 0) : 0);
			return;
		}
	}
	fprintf(stderr, "storm: no command %s\n", command);
	exit(95);
}

int main(int argc, char **argv)
{
	const int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, MOST * sizeof(*hits)) != 0)
		die("the shared file");
	hits = mmap(NULL, MOST * sizeof(*hits), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (hits == MAP_FAILED)
		die("mmap");
	for (int i = 2; i < argc; i++)
		run(argv[i]);
	return 0;
}
