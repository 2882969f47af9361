/* SPDX-License-Identifier: MIT */
/*
 * base/helper.c - see helper.h.
 *
 * While no work waits for descriptors, the helper sleeps in a futex, and whoever has something to do needs no descriptor. Else
 * it sleeps in poll(2), and is woken by another one, its bell. Should the program close that, it is up to a second late.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/futex.h"
#include "base/guard.h"
#include "base/helper.h"
#include "base/locks.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/thread.h"

/* Its frames are small. */
#define STACK ((size_t)256 << 10)

static const uint64_t second = 1000000000;

/* While there is always something to do, descriptors are looked at that often. */
#define OFTEN 10000000u

/* Under the lock. */
static struct tp_work *works;
static const struct tp_work *at_work; /* that is being done; one at a time, by whatever helper */
static pthread_t thread, main_thread;
static bool is_there;

/* Of the thread. It ends when it is of an old one. */
static uintptr_t generation;

static struct tp_guarded_fd bell = TP_GUARDED_FD_NONE;
static enum { AWAKE, IN_FUTEX, IN_POLL } asleep;
static uint32_t wakes;
static uint32_t turns; /* how often a work was done, or a helper has begun, for those who wait */
static bool finishing;

static TP_THREAD_LOCAL bool is_self, has_ended_itself;

uint64_t tp_helper_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
}

/* ---- Waking ---- */

/* False: the program has closed it. */
static bool ring_bell(void)
{
	const uint64_t once = 1;
	const int fd = tp_guarded_fd_descriptor(&bell);

	return fd >= 0 && (write(fd, &once, sizeof(once)) > 0 || errno == EAGAIN); /* it rings already */
}

/* False: it sleeps on, for a second if there is other work than to wait for descriptors. */
static bool wake(void)
{
	__atomic_fetch_add(&wakes, 1, __ATOMIC_SEQ_CST);
	switch (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST)) {
	case AWAKE:
		break;
	case IN_FUTEX:
		tp_futex(&wakes, FUTEX_WAKE, 1, NULL);
		break;
	case IN_POLL:
		return ring_bell();
	}
	return true;
}

void tp_helper_wake(struct tp_work *work)
{
	__atomic_store_n(&work->wanted, true, __ATOMIC_SEQ_CST);
	wake();
}

/* ---- Sleeping ---- */

static void sleep_in_futex(uint32_t seen, uint64_t until)
{
	const uint64_t now = tp_helper_now(), left = until > now ? until - now : 0;
	const struct timespec time = {.tv_sec = (time_t)(left / second), .tv_nsec = (long)(left % second)};

	__atomic_store_n(&asleep, IN_FUTEX, __ATOMIC_SEQ_CST);
	tp_futex(&wakes, FUTEX_WAIT, seen, until == TP_NEVER ? NULL : &time);
	__atomic_store_n(&asleep, AWAKE, __ATOMIC_SEQ_CST);
}

static int bell_descriptor(void)
{
	int fd = tp_guarded_fd_descriptor(&bell);

	if (fd < 0 && tp_guarded_fd_take(&bell, tp_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) == 0)
		fd = tp_guarded_fd_descriptor(&bell);
	return fd;
}

static unsigned int find_places(struct pollfd *places, bool *alone)
{
	unsigned int nr = 0;

	tp_lock(&tp_helper_lock);
	for (struct tp_work *work = works; work && !nr; work = work->next) {
		nr = work->watch ? work->watch(work->data, places) : 0;
		if (nr == TP_HELPER_NOW)
			__atomic_store_n(&work->wanted, true, __ATOMIC_RELAXED);
	}
	*alone = works && !works->next;
	tp_unlock(&tp_helper_lock);
	return nr;
}

static void want_watchers(void)
{
	tp_lock(&tp_helper_lock);
	for (struct tp_work *work = works; work; work = work->next) {
		if (work->watch)
			__atomic_store_n(&work->wanted, true, __ATOMIC_RELAXED);
	}
	tp_unlock(&tp_helper_lock);
}

static void sleep_in_poll(uint32_t seen, uint64_t until, struct pollfd *places, unsigned int nr, bool alone)
{
	const uint64_t now = tp_helper_now();
	uint64_t count;
	int timeout = -1;

	if (!alone && until > now + second) /* the program may close the bell */
		until = now + second;
	if (until != TP_NEVER)
		timeout = until > now ? (int)((until - now + 999999) / 1000000) : 0;
	places[nr] = (struct pollfd){.fd = bell_descriptor(), .events = POLLIN};
	__atomic_store_n(&asleep, IN_POLL, __ATOMIC_SEQ_CST);
	const int found = __atomic_load_n(&wakes, __ATOMIC_SEQ_CST) == seen ? poll(places, nr + 1, timeout) : 0;
	__atomic_store_n(&asleep, AWAKE, __ATOMIC_SEQ_CST);
	if (found <= 0)
		return;
	if (places[nr].revents & POLLIN && tp_guarded_fd_descriptor(&bell) == places[nr].fd &&
	    read(places[nr].fd, &count, sizeof(count)) < 0)
		return; /* nobody else reads it */
	if (found > (places[nr].revents != 0))
		want_watchers();
}

static void sleep_until(uint32_t seen, uint64_t until)
{
	struct pollfd places[TP_HELPER_PLACES + 1];
	bool alone;
	const unsigned int nr = find_places(places, &alone);

	if (nr == TP_HELPER_NOW)
		return;
	if (nr)
		sleep_in_poll(seen, until, places, nr, alone);
	else
		sleep_in_futex(seen, until);
}

/* ---- Working ---- */

static bool is_current(const void *of)
{
	return __atomic_load_n(&generation, __ATOMIC_ACQUIRE) == (uintptr_t)of;
}

/* So that all have their turn. */
static void put_last(struct tp_work **at)
{
	struct tp_work *work = *at;

	*at = work->next;
	while (*at)
		at = &(*at)->next;
	work->next = NULL;
	*at = work;
}

/* One that is to be done now, or NULL; *next is when another one is. */
static struct tp_work *take(const void *of, uint64_t *next)
{
	const uint64_t now = tp_helper_now();
	struct tp_work *found = NULL, **at;

	*next = TP_NEVER;
	tp_lock(&tp_helper_lock);
	for (at = &works; is_current(of) && !at_work && *at; at = &(*at)->next) {
		if (__atomic_exchange_n(&(*at)->wanted, false, __ATOMIC_SEQ_CST) || (*at)->due <= now) {
			found = *at;
			break;
		}
		if ((*at)->due < *next)
			*next = (*at)->due;
	}
	if (found) {
		found->due = TP_NEVER;
		put_last(at);
		at_work = found;
	}
	tp_unlock(&tp_helper_lock);
	return found;
}

static void tell_turn(void)
{
	__atomic_fetch_add(&turns, 1, __ATOMIC_RELEASE);
	tp_futex(&turns, FUTEX_WAKE, INT_MAX, NULL);
}

static void done(const void *of, struct tp_work *work, uint64_t due)
{
	tp_lock(&tp_helper_lock);
	if (!has_ended_itself)
		work->due = due;
	has_ended_itself = false;
	at_work = NULL;
	tp_unlock(&tp_helper_lock);
	if (!is_current(of))
		wake(); /* a younger helper, which does nothing meanwhile */
	tell_turn();
}

static void do_it(const void *of, struct tp_work *work)
{
	struct tp_guard guard;
	const bool guarded = !work->records && tp_guard_enter(&guard);
	const uint64_t due = work->run(work->data);

	if (guarded)
		tp_guard_leave(&guard);
	done(of, work, due);
}

static void *run(void *of)
{
	struct tp_work *work;
	uint64_t next, looked = 0;
	int state;

	prctl(PR_SET_NAME, "tp-helper");
	is_self = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	tp_readers_register_thread(); /* before all locks that its work takes */
	tell_turn();
	while (is_current(of)) {
		const uint32_t seen = __atomic_load_n(&wakes, __ATOMIC_SEQ_CST);
		work = take(of, &next);
		if (work)
			do_it(of, work);
		if (!work || tp_helper_now() - looked > OFTEN) {
			if (is_current(of))
				sleep_until(seen, work ? 0 : next);
			looked = tp_helper_now();
		}
	}
	return NULL;
}

bool tp_helper_is_self(void)
{
	return is_self;
}

bool tp_helper_is_there(void)
{
	return __atomic_load_n(&is_there, __ATOMIC_RELAXED);
}

/* ---- The thread: under the lock ---- */

/* What threads' local storage takes of a stack only glibc knows; it has told so since 2.15 (as the JVM asks, too). */
static void set_attributes(pthread_attr_t *attributes)
{
	static size_t (*least)(const pthread_attr_t *);
	static bool looked; /* not in a forked child, where nobody may give back the loader's lock */

	if (!looked)
		least = (size_t (*)(const pthread_attr_t *))(uintptr_t)dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
	looked = true;
	pthread_attr_init(attributes);
	pthread_attr_setstacksize(attributes, STACK + (least ? least(attributes) : 0));
}

/* False: it is left behind, and ends when something wakes it. */
static bool let_end(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&is_there, false, __ATOMIC_RELAXED);
	return wake();
}

/* Where main() has called pthread_exit(), the process ends with its last thread, which must not be ours. */
static void end_with_main_thread(void)
{
	if (is_there && tp_thread_is_exiting() && pthread_equal(pthread_self(), main_thread)) {
		pthread_detach(thread);
		let_end();
	}
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	struct tp_guard guard;

	set_attributes(&attributes);
	if (tp_thread_id() == getpid()) {
		main_thread = pthread_self();
		tp_thread_arm(end_with_main_thread);
	}
	tp_guard_enter(&guard); /* the program's handlers are not for this thread, which inherits what is blocked */
	const int error = pthread_create(&thread, &attributes, run, (void *)generation);
	tp_guard_leave(&guard);
	pthread_attr_destroy(&attributes);
	__atomic_store_n(&is_there, error == 0, __ATOMIC_RELAXED);
	return error;
}

/* ---- Forks ---- */

/* What was to be done is the parent's. */
static void in_child(void)
{
	at_work = NULL;
	is_there = is_self = finishing = false;
	asleep = AWAKE;
	generation++;
	tp_guarded_fd_close(&bell);
	bell = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
	for (struct tp_work *work = works; work; work = work->next) {
		if (work->in_child)
			work->in_child(work->data);
	}
}

static void resume(void)
{
	bool wanted = false;

	tp_lock(&tp_helper_lock);
	for (struct tp_work *work = tp_tracing_lost_in_fork() ? NULL : works; work; work = work->next) {
		work->wanted = true;
		wanted = wanted || work->in_children;
	}
	const int error = wanted && !is_there ? start_thread() : 0;
	tp_unlock(&tp_helper_lock);
	if (error)
		tp_complain("process %d, a forked child, has no thread of the runtime's: %s; nobody can look into it, its statistics "
			    "are written at its end, and triggers take no snapshots",
			    (int)getpid(), tp_strerror(error));
}

static void start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_LEAF, .in_child = in_child, .resume = resume};

	tp_fork_register(&hook);
}

/* ---- Works that come and go ---- */

/*
 * What switches code asks for this, and once there is a second thread, the kernel takes some 10 ms for it. Where it has it not,
 * or there is one already, nothing is lost.
 */
static void ask_before_there_is_a_thread(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

static void wait_for_turn(uint32_t before, const struct timespec *patience)
{
	tp_futex(&turns, FUTEX_WAIT, before, patience);
}

int tp_helper_begin(struct tp_work *work)
{
	start();
	tp_lock(&tp_helper_lock);
	const bool is_new = !is_there;
	if (is_new)
		ask_before_there_is_a_thread();
	if (work->watch)
		bell_descriptor(); /* so that the process has it from here on */
	const uint32_t before = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
	const int error = is_new ? start_thread() : 0;
	if (!error) {
		work->wanted = true;
		work->due = TP_NEVER;
		work->next = works;
		works = work;
	}
	tp_unlock(&tp_helper_lock);
	if (!error && is_new) /* a filter of system calls may come right behind the opening of a sink */
		wait_for_turn(before, &(struct timespec){.tv_sec = 1});
	if (!error)
		wake();
	return error;
}

/* Under the lock, which it gives back meanwhile. */
static void wait_until_idle(const struct tp_work *work)
{
	while (at_work == work && !is_self) {
		const uint32_t before = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
		tp_unlock(&tp_helper_lock);
		wait_for_turn(before, NULL);
		tp_lock(&tp_helper_lock);
	}
}

void tp_helper_end(struct tp_work *work)
{
	struct tp_work **at = &works;
	bool ends = false;
	pthread_t old;

	tp_lock(&tp_helper_lock);
	wait_until_idle(work);
	while (*at && *at != work)
		at = &(*at)->next;
	if (*at)
		*at = work->next;
	has_ended_itself = at_work == work; /* it is the helper that calls */
	old = thread;
	if (!works && is_there) {
		ends = let_end() && !is_self;
		if (!ends)
			pthread_detach(old);
	}
	tp_unlock(&tp_helper_lock);
	if (ends)
		pthread_join(old, NULL);
}

/* ---- The end of the process ---- */

/* As far as can be told: a handler that has called exit() may have interrupted this thread's own holding of the lock. */
static bool any_left(void)
{
	bool left = false;

	if (!tp_try_lock(&tp_helper_lock))
		return true;
	for (const struct tp_work *work = works; work; work = work->next)
		left = left || (work->at_end && (work == at_work || __atomic_load_n(&work->wanted, __ATOMIC_SEQ_CST)));
	tp_unlock(&tp_helper_lock);
	return left;
}

static void want_all(void)
{
	if (!tp_try_lock(&tp_helper_lock))
		return;
	for (struct tp_work *work = works; work; work = work->next) {
		if (work->at_end)
			__atomic_store_n(&work->wanted, true, __ATOMIC_SEQ_CST);
	}
	tp_unlock(&tp_helper_lock);
}

bool tp_helper_is_finishing(void)
{
	return __atomic_load_n(&finishing, __ATOMIC_RELAXED);
}

/*
 * The helper does it, and not this thread, which may have called exit() anywhere: the helper may wait for a lock that this one
 * holds, and so this one does not wait for ever.
 */
void tp_helper_finish(unsigned int seconds)
{
	const uint64_t end_of_patience = tp_helper_now() + seconds * second;
	const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};

	__atomic_store_n(&finishing, true, __ATOMIC_RELAXED);
	want_all();
	while (tp_helper_is_there()) {
		const uint32_t before = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
		if (!any_left() || tp_helper_now() > end_of_patience)
			break;
		wake();
		wait_for_turn(before, &moment);
	}
}

bool tp_thread_ends_soon(pthread_t which)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200 * 1000 * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(which, NULL, &until) == 0;
}

/* Without the lock: whoever has it may be waiting for a reader that never returns. */
void tp_helper_leave(void)
{
	if (tp_helper_is_there() && !is_self && let_end())
		tp_thread_ends_soon(thread);
}
