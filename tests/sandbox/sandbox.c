/* SPDX-License-Identifier: MIT */
/*
 * A program in a sandbox of system calls:
 *
 *	sandbox MOMENT watch                what is called at this moment, in this order
 *	sandbox MOMENT kill CALL...         nothing but these calls is allowed; others end the process by SIGSYS
 *	sandbox MOMENT EPERM|ENOSYS CALL... these calls fail so; others are allowed
 *
 * The filter is that of one thread, the subject, which has recorded before, or not, as the moment wants it. It is in
 * force from just before the moment to just behind it, where the subject stays: so nothing that the program does for
 * itself is in it, but for what the moment is about (fork, dlopen, exit). Prints how often the tracepoints were hit,
 * and how many records of them the sink has lost. The last moments are those of a whole process: "life", with one
 * filter for all threads; "alone", with one thread; "workers", with threads that have a filter of their own, whose
 * calls stand behind "--". SANDBOX_LIMITS forbids further files, bytes in files and processes.
 *
 * CALL is a name; NAME:ARGUMENT=VALUE, a call with this value only; NAME:ARGUMENT&MASK, one with no other bits; or
 * NAME!ERROR, one that fails so in a filter that kills.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "sandbox.h"

#include <tp/tp.h>

#define CANNOT 77
#define NR_CALLS 1024

struct moment {
	const char *name;
	void (*before)(void);
	void (*at)(void);
};

static const struct moment *moment;
static bool is_whole;        /* the process is the subject */
static bool is_synchronized; /* and the filter is that of all threads */
static char **arguments; /* what is to be done, and the calls */
static int hits;
static int notifications = -1;
static int may_begin, is_over; /* between main() and the subject */
static char *names[NR_CALLS];
static struct {
	pid_t child;
	int may_end; /* whatever threads the child has got, they have begun */
} *shared;           /* with a forked child, which must not make a call to wait for them */

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "sandbox: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- The filter ---- */

static void add_call(scmp_filter_ctx filter, uint32_t action, const char *call)
{
	const size_t len = strcspn(call, ":!");
	char *name = strndup(call, len);
	unsigned int argument, value;
	char relation;
	int error;

	must(name, "strndup");
	int number = seccomp_syscall_resolve_name(name);
	must(number != __NR_SCMP_ERROR, name);
	if (call[len] == '!') {
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)atoi(call + len + 1)), number, 0);
	} else if (call[len] == ':') {
		must(sscanf(call + len, ":%u%c%u", &argument, &relation, &value) == 3, call);
		const bool is_mask = relation == '&';
		const struct scmp_arg_cmp compare = {
			.arg = argument,
			.op = is_mask ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
			.datum_a = is_mask ? ~(uint64_t)value : value,
		};
		error = seccomp_rule_add_array(filter, action, number, 1, &compare);
	} else {
		error = seccomp_rule_add(filter, action, number, 0);
	}
	must(error == 0, "seccomp_rule_add");
	free(name);
}

static void set_limits(void)
{
	static const int limited[] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC};

	for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
		const rlim_t limit = limited[i] == RLIMIT_NOFILE;
		must(setrlimit(limited[i], &(struct rlimit){limit, limit}) == 0, "setrlimit");
	}
}

static void enter_filter_of(char **calls)
{
	const bool watch = strcmp(*arguments, "watch") == 0, kill_it = strcmp(*arguments, "kill") == 0;
	const int error = strcmp(*arguments, "EPERM") == 0 ? EPERM : ENOSYS;

	scmp_filter_ctx filter = seccomp_init(watch ? SCMP_ACT_NOTIFY : kill_it ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW);
	must(filter, "seccomp_init");
	for (char **call = calls; *call && strcmp(*call, "--") != 0; call++)
		add_call(filter, kill_it ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)error), *call);
	if (is_synchronized)
		must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0, "seccomp_attr_set");
	if (getenv("SANDBOX_LIMITS"))
		set_limits();
	if (seccomp_load(filter) != 0)
		_exit(CANNOT);
	if (watch)
		__atomic_store_n(&notifications, seccomp_notify_fd(filter), __ATOMIC_RELEASE);
}

static void enter(void)
{
	enter_filter_of(arguments + 1);
}

/* The subject makes no more calls, whatever its filter allows. */
static void stay(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* ---- What is told of calls ---- */

/* Without malloc and stdio, whose locks the subject may hold: in fork(), for one. */
static void tell_call(struct seccomp_notif *request, struct seccomp_notif_resp *response)
{
	static bool told[NR_CALLS];
	int number;

	memset(request, 0, sizeof(*request));
	if (seccomp_notify_receive(notifications, request) != 0)
		return;
	number = request->data.nr;
	must(number >= 0 && number < NR_CALLS && names[number], "a call without a name");
	if (!told[number])
		must(write(STDOUT_FILENO, names[number], strlen(names[number])) > 0 && write(STDOUT_FILENO, "\n", 1) == 1, "write");
	told[number] = true;
	memset(response, 0, sizeof(*response));
	response->id = request->id;
	response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	seccomp_notify_respond(notifications, response);
}

/* ---- A child's threads ---- */

/* It sleeps for some time, and not for a lock: in futex(address, operation, value, timeout). */
static bool sleeps(pid_t process, const char *thread)
{
	char path[64];
	unsigned long timeout = 0;
	int call = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/syscall", (int)process, thread);
	FILE *now = fopen(path, "re");
	if (!now)
		return false;
	if (fscanf(now, "%d %*x %*x %*x %lx", &call, &timeout) < 1)
		call = -1; /* it runs */
	fclose(now);
	return call == __NR_futex && timeout;
}

static bool all_others_sleep(pid_t process)
{
	const struct dirent *entry;
	char path[64];
	bool all = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	DIR *threads = opendir(path);
	if (!threads)
		return false;
	while ((entry = readdir(threads))) {
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != process)
			all = all && sleeps(process, entry->d_name);
	}
	closedir(threads);
	return all;
}

/* Nobody waits to be told of a call. Two looks, as a thread may have begun to wait for that since: then it seems to sleep. */
static void look_after_child(void)
{
	static bool slept;
	const pid_t child = __atomic_load_n(&shared->child, __ATOMIC_ACQUIRE);
	const bool sleep = child && all_others_sleep(child);

	if (slept && sleep)
		__atomic_store_n(&shared->may_end, 1, __ATOMIC_RELEASE);
	slept = sleep;
}

static void wait_for_subject(void)
{
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;

	must(seccomp_notify_alloc(&request, &response) == 0, "seccomp_notify_alloc");
	for (int i = 0; i < NR_CALLS; i++)
		names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
	__atomic_store_n(&may_begin, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		struct pollfd event = {.fd = __atomic_load_n(&notifications, __ATOMIC_ACQUIRE), .events = POLLIN};
		if (poll(&event, 1, 5) == 1)
			tell_call(request, response);
		else
			look_after_child();
	}
	seccomp_notify_free(request, response);
}

/* ---- What a program does ---- */

static void hit(void)
{
	trace_sandbox_hit(__atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED), "some text of no great length");
}

/* Packets are filled several times. */
static void hit_often(void)
{
	const char *wanted = getenv("SANDBOX_HITS");
	const int number = wanted ? atoi(wanted) : 2000;

	for (int i = 0; i < number; i++)
		hit();
}

static void nothing(void)
{
}

/* A text sink looks after its file once a second: at the first event in each. */
static void hit_and_wait(void)
{
	const struct timespec time = {.tv_sec = 1, .tv_nsec = 50000000};

	hit();
	nanosleep(&time, NULL);
}

static void hit_a_few_times(void)
{
	for (int i = 0; i < 10; i++)
		hit();
}

/* The clock is measured anew, and that is not due again before as much time has passed. */
static void fill_ring(void)
{
	hit_often();
	hit_and_wait();
	hit_often();
}

static void *fill_and_stay(void *may_go_on)
{
	hit_often();
	__atomic_store_n((int *)may_go_on, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
	return NULL;
}

static void let_another_fill(void)
{
	static int filled;
	pthread_t thread;

	must(pthread_create(&thread, NULL, fill_and_stay, &filled) == 0, "pthread_create");
	while (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void rename_and_wait(void)
{
	hit();
	must(rename(getenv("SANDBOX_FILE"), getenv("SANDBOX_FILE_THEN")) == 0, "rename");
	hit_and_wait();
}

/* Each byte more in a file is one too many. */
static void hit_and_limit(void)
{
	hit();
	must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1}) == 0, "setrlimit");
}

static void *hit_from_another_thread(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		hit();
	return unused;
}

/* Another thread is at it all the time. */
static void hit_together(void)
{
	pthread_t thread;

	hit();
	must(pthread_create(&thread, NULL, hit_from_another_thread, NULL) == 0, "pthread_create");
}

static pthread_key_t last_key;

static void stay_at_exit(void *unused)
{
	(void)unused;
	stay();
}

static void hit_and_arm(void)
{
	hit();
	pthread_setspecific(last_key, &last_key); /* behind those of the libraries, whose keys are older */
}

static unsigned long lost_by_child;

static unsigned long lost(void)
{
	const char *name = getenv("SANDBOX_SINK");
	struct tp_sink *sink = name ? tp_output(name) : NULL;

	return sink ? tp_sink_lost(sink) : 0;
}

static void forks(void)
{
	pid_t child = fork();
	int status;

	hits++; /* the child's */
	if (child == 0) {
		hit();
		while (!__atomic_load_n(&shared->may_end, __ATOMIC_ACQUIRE))
			;
		_exit((int)lost());
	}
	__atomic_store_n(&shared->child, child, __ATOMIC_RELEASE);
	must(waitpid(child, &status, 0) == child, "waitpid");
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	lost_by_child = (unsigned long)WEXITSTATUS(status);
}

static void ends(void)
{
	exit(0);
}

static void closes(void)
{
	const int error = tp_sink_close(tp_output(getenv("SANDBOX_SINK")));

	must(error != -EINVAL && error != -EDEADLK, "tp_sink_close");
}

static FILE *file;

static void open_file(void)
{
	file = strcmp(getenv("SANDBOX_SINK"), "text") == 0 ? fopen(getenv("SANDBOX_FILE"), "w") : stdout;
	must(file, "fopen");
}

static void opens(void)
{
	const char *kind = getenv("SANDBOX_SINK"), *path = getenv("SANDBOX_FILE");
	struct tp_sink *sink = NULL;

	if (strcmp(kind, "text") == 0)
		sink = tp_text_sink(file);
	else if (strcmp(kind, "ctf") == 0)
		sink = tp_ctf_sink(path, NULL);
	else if (strcmp(kind, "stats") == 0)
		sink = tp_stats_sink(path, NULL);
	else if (strcmp(kind, "sdt") == 0)
		sink = tp_sdt_sink();
	else if (strcmp(kind, "ftrace") == 0)
		sink = tp_ftrace_sink(getenv("SANDBOX_INSTANCE"));
	else if (strcmp(kind, "lttng") == 0)
		sink = tp_lttng_sink();
	must(sink, "open");
}

static void probe(void *data, int n, const char *text)
{
	(void)data;
	(void)n;
	(void)text;
}

static void registers(void)
{
	must(register_trace_sandbox_hit(probe, NULL) == 0, "register");
}

static void unregisters(void)
{
	must(unregister_trace_sandbox_hit(probe, NULL) == 0, "unregister");
	tracepoint_synchronize_unregister();
}

static void *module;

static void loads(void)
{
	module = dlopen(getenv("SANDBOX_MODULE"), RTLD_NOW);
	must(module, "dlopen");
}

static void unloads(void)
{
	must(dlclose(module) == 0, "dlclose");
}

static void writes(void)
{
	tp_stats_write(tp_output("stats"));
}

static void wrong_prototype(void)
{
	must(tp_probe_register("sandbox_hit", "int", (tp_probe_t)probe, NULL, 10) == -EINVAL, "tp_probe_register");
}

/* ---- A whole process ---- */

static pthread_t old_thread;
static int filtered;

static void *live_long(void *unused)
{
	hit_often();
	while (!__atomic_load_n(&filtered, __ATOMIC_ACQUIRE))
		sched_yield();
	hit_often();
	return unused;
}

static void begin_life(void)
{
	hit_often();
	must(pthread_create(&old_thread, NULL, live_long, NULL) == 0, "pthread_create");
}

static void *hit_in_new_thread(void *unused)
{
	hit_often();
	return unused;
}

static void live(void)
{
	pthread_t new_thread;

	__atomic_store_n(&filtered, 1, __ATOMIC_RELEASE);
	hit_often();
	if (getenv("SANDBOX_NEW_THREADS")) {
		must(pthread_create(&new_thread, NULL, hit_in_new_thread, NULL) == 0, "pthread_create");
		pthread_join(new_thread, NULL);
	}
	pthread_join(old_thread, NULL);
}

static void begin_alone(void)
{
	fill_ring();
}

#define NR_WORKERS 4
static int nr_filtered, nr_done;

static void *work(void *calls)
{
	fill_ring();
	enter_filter_of(calls);
	__atomic_fetch_add(&nr_filtered, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&filtered, __ATOMIC_ACQUIRE))
		;
	hit_often();
	__atomic_fetch_add(&nr_done, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
	return NULL;
}

static void wait_until_all(const int *number)
{
	while (__atomic_load_n(number, __ATOMIC_ACQUIRE) < NR_WORKERS)
		;
}

static void begin_workers(void)
{
	char **calls = arguments;
	pthread_t worker;

	while (*calls && strcmp(*calls, "--") != 0)
		calls++;
	must(*calls, "no -- between the filters");
	for (int i = 0; i < NR_WORKERS; i++)
		must(pthread_create(&worker, NULL, work, calls + 1) == 0, "pthread_create");
	fill_ring();
	wait_until_all(&nr_filtered);
}

/* The process then ends while they are there still. */
static void work_with_workers(void)
{
	__atomic_store_n(&filtered, 1, __ATOMIC_RELEASE);
	hit_often();
	wait_until_all(&nr_done);
}

static const struct moment moments[] = {
	{"first", nothing, hit},
	{"event", hit_and_wait, hit_a_few_times},
	{"rename", rename_and_wait, hit_a_few_times},
	{"broken", hit_and_limit, hit_a_few_times},
	{"together", hit_together, hit_often},
	{"packet", hit_and_wait, hit_often},
	{"ring", fill_ring, hit_often},
	{"taken", let_another_fill, hit_often},
	{"thread", hit_and_arm, NULL}, /* it returns */
	{"fork", hit, forks},
	{"end", hit_and_wait, ends},
	{"close", hit_and_wait, closes},
	{"open", open_file, opens},
	{"message", nothing, wrong_prototype},
	{"life", begin_life, live},
	{"alone", begin_alone, hit_often},
	{"workers", begin_workers, work_with_workers},
	{"register", nothing, registers},
	{"unregister", registers, unregisters},
	{"load", hit, loads},
	{"unload", loads, unloads},
	{"write", hit, writes},
};

/* By no more than one kind of call, as the filter of a whole process may be in force. */
static void tell(const char *what, unsigned long number)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s%lu\n", what, number);

	must(write(STDOUT_FILENO, line, (size_t)len) == len, "write");
}

static void *subject(void *unused)
{
	while (!__atomic_load_n(&may_begin, __ATOMIC_ACQUIRE))
		sched_yield();
	moment->before();
	enter();
	if (moment->at) {
		moment->at();
		stay();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (size_t i = 0; argc > 2 && i < sizeof(moments) / sizeof(moments[0]); i++) {
		if (strcmp(argv[1], moments[i].name) == 0)
			moment = &moments[i];
	}
	must(moment, "usage: sandbox MOMENT watch|kill|EPERM|ENOSYS CALL...");
	arguments = argv + 2;
	is_synchronized = moment->at == live;
	is_whole = is_synchronized || moment->before == begin_workers || moment->before == begin_alone;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	must(pthread_key_create(&last_key, stay_at_exit) == 0, "pthread_key_create");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	if (is_whole) {
		moment->before();
		enter();
		moment->at();
	} else {
		must(pthread_create(&thread, NULL, subject, NULL) == 0, "pthread_create");
		wait_for_subject();
	}
	tell("hits=", (unsigned long)__atomic_load_n(&hits, __ATOMIC_RELAXED));
	tell("lost=", lost() + lost_by_child);
	return 0;
}
