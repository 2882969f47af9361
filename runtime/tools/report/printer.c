/* SPDX-License-Identifier: MIT */
#include "report/printer.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "printk/printk.h"
#include "report/line.h"
#include "fail_msg.h"

#define TEXTS_SIZE ((size_t)4 << 20) /* some of the longest */
#define TEXT_ROOM (LINE_BYTES + 2)   /* of each: what is longer is seen to be too long */
#define NOT_PRINTED UINT32_MAX

#define CPU_SECONDS 2u /* for one batch, which takes a few thousandths of one */
#define MEMORY ((rlim_t)1 << 30)
#define NOBODY 65534
#define SOCKET (STDERR_FILENO + 1)

/* What it costs when the process ends; with too many, nothing is printed by it any more. */
#define STRIKES_CRASH 1
#define STRIKES_HANG 8
#define STRIKES_MAX 32

/* What both processes see. The printer may write anything into it, so the other one trusts nothing there. */
struct shared {
	uint32_t nr;
	uint32_t done;
	struct {
		const struct event_format *format; /* the same in both: the process is a fork */
		size_t trace_nr;
		uint32_t record, size; /* in records */
		uint32_t text, len;    /* in texts; or NOT_PRINTED */
	} items[PRINTER_ITEMS];
	_Alignas(8) unsigned char records[PRINTER_RECORDS];
	char texts[TEXTS_SIZE];
};

struct printer {
	struct shared *shared;
	size_t nr_traces;
	int strikes;
	const struct event_format *bad[STRIKES_MAX]; /* of each strike one */
	size_t nr_bad;
	pid_t pid; /* 0: there is none */
	int socket;
};

/* ---- The printer's process ---- */

/* Keeps the socket alone, and no rights that are more than anybody's: a trace may be made to take this process over. */
static void give_up_rights(int *socket)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (dup2(*socket, SOCKET) == SOCKET) {
		*socket = SOCKET;
		tp_file_close_from(SOCKET + 1);
	}
	if (geteuid() == 0 && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	    setresuid(NOBODY, NOBODY, NOBODY) == 0)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user has made it forget this */
}

/* A macro, as the type of a resource is not the same in each C library. */
#define SET_LIMIT(resource, value)                                                       \
	do {                                                                             \
		struct rlimit limit;                                                     \
		if (getrlimit(resource, &limit) == 0 && (value) < limit.rlim_max) {      \
			limit.rlim_cur = (value);                                        \
			setrlimit(resource, &limit);                                     \
		}                                                                        \
	} while (0)

static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* which takes all addresses there are */
	SET_LIMIT(RLIMIT_AS, MEMORY);
#endif
	SET_LIMIT(RLIMIT_CORE, 0);
}

/* So much time of the processor from now on, then a signal ends the process. */
static void limit_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	const rlim_t seconds = (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1 + CPU_SECONDS;
	SET_LIMIT(RLIMIT_CPU, seconds);
}

/* Of a trace's events, by their ids; NULL: it was not needed yet. */
struct known {
	struct printk *events[NR_EVENT_IDS];
	bool is_unprintable[NR_EVENT_IDS];
};

static struct printk *printk_of(struct known **all, size_t trace_nr, const struct event_format *format)
{
	struct known **known = &all[trace_nr];

	if (!*known)
		*known = calloc(1, sizeof(**known));
	if (!*known)
		_exit(1);
	struct printk **printk = &(*known)->events[format->id];
	if (!*printk && !(*known)->is_unprintable[format->id]) {
		*printk = printk_new(format);
		(*known)->is_unprintable[format->id] = !*printk;
	}
	return *printk;
}

/* False: there is no room for its text behind those of others. */
static bool print_item(struct shared *shared, struct known **known, uint32_t i, uint32_t *used)
{
	struct printk *printk = printk_of(known, shared->items[i].trace_nr, shared->items[i].format);
	const size_t left = TEXTS_SIZE - *used;
	struct trace_seq text;

	shared->items[i].len = NOT_PRINTED;
	if (left < 2)
		return false;
	trace_seq_init(&text, shared->texts + *used, left < TEXT_ROOM ? left : TEXT_ROOM);
	if (!printk || !printk_put(printk, &text, shared->records + shared->items[i].record, shared->items[i].size))
		return true;
	if (text.full && left < TEXT_ROOM)
		return false;
	shared->items[i].text = *used;
	shared->items[i].len = (uint32_t)text.len;
	*used += (uint32_t)text.len;
	return true;
}

static void print_batch(struct shared *shared, struct known **known)
{
	uint32_t used = 0;

	while (shared->done < shared->nr && print_item(shared, known, shared->done, &used))
		shared->done++;
}

static _Noreturn void be_printer(struct shared *shared, size_t nr_traces, int socket)
{
	struct known **known = calloc(nr_traces + 1, sizeof(*known));
	char byte;

	give_up_rights(&socket);
	limit_memory();
	signal(SIGXCPU, SIG_DFL);
	while (known && read(socket, &byte, 1) == 1) {
		limit_time();
		print_batch(shared, known);
		if (write(socket, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* ---- The other one ---- */

static bool start(struct printer *printer)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
		return false;
	printer->pid = fork();
	if (printer->pid == 0) {
		close(sockets[0]);
		be_printer(printer->shared, printer->nr_traces, sockets[1]);
	}
	close(sockets[1]);
	if (printer->pid < 0) {
		printer->pid = 0;
		close(sockets[0]);
		return false;
	}
	printer->socket = sockets[0];
	return true;
}

/* Returns how it has ended. */
static int stop(struct printer *printer)
{
	int status = 0;

	if (!printer->pid)
		return 0;
	close(printer->socket);
	while (waitpid(printer->pid, &status, 0) < 0 && errno == EINTR)
		;
	printer->pid = 0;
	return status;
}

struct printer *printer_new(size_t nr_traces)
{
	struct printer *printer = calloc(1, sizeof(*printer));

	if (!printer) {
		fail_no_memory();
		return NULL;
	}
	printer->nr_traces = nr_traces;
	printer->shared = mmap(NULL, sizeof(*printer->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (printer->shared != MAP_FAILED)
		return printer;
	free(printer);
	fail_no_memory();
	return NULL;
}

void printer_free(struct printer *printer)
{
	if (!printer)
		return;
	stop(printer);
	munmap(printer->shared, sizeof(*printer->shared));
	free(printer);
}

static bool is_bad(const struct printer *printer, const struct event_format *format)
{
	for (size_t i = 0; i < printer->nr_bad; i++) {
		if (printer->bad[i] == format)
			return true;
	}
	return false;
}

unsigned char *printer_records(struct printer *printer)
{
	return printer->shared->records;
}

/* Says what is to be printed, and remembers in map which item is which. */
static uint32_t hand_over(struct printer *printer, const struct printer_item *items, size_t nr, uint32_t *map)
{
	struct shared *shared = printer->shared;
	uint32_t given = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (!items[i].format || is_bad(printer, items[i].format))
			continue;
		shared->items[given].format = items[i].format;
		shared->items[given].trace_nr = items[i].trace_nr;
		shared->items[given].record = (uint32_t)(items[i].record - shared->records);
		shared->items[given].size = items[i].size;
		map[given++] = i;
	}
	shared->nr = given;
	shared->done = 0;
	return given;
}

/* False: the process has ended. */
static bool exchange(const struct printer *printer)
{
	char byte = 0;
	ssize_t n;

	if (send(printer->socket, &byte, 1, MSG_NOSIGNAL) != 1)
		return false;
	while ((n = recv(printer->socket, &byte, 1, 0)) < 0 && errno == EINTR)
		;
	return n == 1;
}

static void take_over(const struct shared *shared, struct printer_item *items, const uint32_t *map, uint32_t done)
{
	for (uint32_t i = 0; i < done; i++) {
		struct printer_item *item = &items[map[i]];
		const uint32_t text = shared->items[i].text, len = shared->items[i].len;
		if (len == NOT_PRINTED || text > TEXTS_SIZE || len > TEXTS_SIZE - text)
			continue;
		item->text = shared->texts + text;
		item->len = len;
	}
}

/* The process has ended at the format, and would do so again. */
static void count_strikes(struct printer *printer, const struct event_format *format)
{
	const int status = stop(printer);
	const bool hang = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);

	if (printer->nr_bad < STRIKES_MAX)
		printer->bad[printer->nr_bad++] = format;
	printer->strikes += hang ? STRIKES_HANG : STRIKES_CRASH;
}

size_t printer_print(struct printer *printer, struct printer_item *items, size_t nr)
{
	struct shared *shared = printer->shared;
	uint32_t map[PRINTER_ITEMS];

	for (size_t i = 0; i < nr; i++)
		items[i].text = NULL;
	if (printer->strikes >= STRIKES_MAX)
		return nr;
	const uint32_t given = hand_over(printer, items, nr, map);
	if (!given)
		return nr;
	if (!printer->pid && !start(printer)) {
		printer->strikes = STRIKES_MAX;
		return nr;
	}
	const bool alive = exchange(printer);
	const uint32_t told = __atomic_load_n(&shared->done, __ATOMIC_RELAXED);
	const uint32_t done = told < given ? told : given;
	take_over(shared, items, map, done);
	if (!alive)
		count_strikes(printer, items[map[done < given ? done : given - 1]].format);
	if (done == given)
		return nr;
	/* Where it ended, or made nothing of the first, that one has no text; whoever calls goes on behind it. */
	return !alive || !done ? map[done] + 1 : map[done];
}
