/* SPDX-License-Identifier: MIT */
/*
 * control/control.c - whether the process listens, and in which thread: one of
 * the runtime's own, or the program's.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <tp/control.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/helper_thread.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/stack.h"
#include "base/thread.h"
#include "control/control.h"
#include "control/serve.h"
#include "control/server.h"

#define PATIENCE_OF_THREAD 5000 /* milliseconds */
#define PATIENCE_OF_PROGRAM 100

/*
 * Held where the process begins or ends to listen, and by the program's thread that serves: so requests are waited for,
 * and with them readers. Readers never take it, and a fork does not wait for it.
 */
static struct tp_lock lock = TP_LOCK_INIT(TP_RANK_CONTROL, "the control's lock");
static pthread_t thread;
static enum { BY_NOBODY, BY_THREAD, BY_PROGRAM } served; /* changes under the lock */
static pid_t owner; /* a child that no handler of forks knows of is another process, and has all of this */

/* Of the thread. One that can't be woken is left behind: it ends when something wakes it, as it is of an old one. */
static uintptr_t generation;

/* A child may end at once, or become another program: until then, it has no name that nobody would remove. */
#define CHILD_WAITS 100 /* milliseconds */

/* ---- The thread ---- */

static bool is_current(const void *of)
{
	return __atomic_load_n(&generation, __ATOMIC_ACQUIRE) == (uintptr_t)of;
}

static bool open_in_child(const void *of)
{
	struct tp_control_setting setting;

	poll(NULL, 0, CHILD_WAITS);
	tp_lock(&lock); /* the program may have called tp_control_start() */
	const bool is_open = is_current(of) && tp_control_setting(&setting) && tp_server_open(&setting, false, NULL) == 0;
	tp_unlock(&lock);
	return is_open;
}

/* Its signals are blocked by the one who has made it. of: the generation. */
static void *run(void *of)
{
	int state;

	prctl(PR_SET_NAME, "tp-control");
	tp_readers_register_thread();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!tp_server_is_open() && !open_in_child(of)) {
		/* It has changed its user, say. What was opened before the fork goes on here, too, until its session ends. */
		while (is_current(of) && tp_server_await_ends())
			continue;
		if (is_current(of)) {
			pthread_detach(pthread_self());
			served = BY_NOBODY;
		}
		return NULL;
	}
	while (is_current(of))
		tp_server_turn(true, PATIENCE_OF_THREAD);
	return NULL;
}

static void end_with_main_thread(void);

static int start_thread(void)
{
	pthread_attr_t attributes;
	struct tp_guard guard;

	tp_helper_thread_attributes(&attributes);
	if (tp_thread_id() == getpid())
		tp_thread_arm(end_with_main_thread);
	tp_guard_enter(&guard); /* the program's handlers are not for this thread, which inherits what is blocked */
	const int error = pthread_create(&thread, &attributes, run, (void *)generation);
	tp_guard_leave(&guard);
	pthread_attr_destroy(&attributes);
	if (!error)
		served = BY_THREAD;
	return error;
}

/* False: if the program has closed the socket, nothing wakes the thread. */
static bool ask_thread_to_stop(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
	return tp_server_wake();
}

/* Where main() has called pthread_exit(), the process ends with its last thread, which must not be ours. */
static void end_with_main_thread(void)
{
	if (served == BY_THREAD && tp_thread_id() == getpid())
		ask_thread_to_stop();
}

static void stop_thread(void)
{
	if (ask_thread_to_stop())
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
	tp_server_drop_socket();
	served = BY_NOBODY;
}

/* ---- Forks ---- */

static bool live; /* the child of the fork at hand listens, too */

static void in_child(void)
{
	struct tp_control_setting setting;

	lock.mutex.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* its holder may not be in the child */
	live = served == BY_THREAD && tp_control_setting(&setting) && setting.children && !tp_tracing_lost_in_fork();
	served = BY_NOBODY;
	owner = getpid();
	tp_server_in_child(live);
}

/* A child that was forked inside a probe can't wait for itself: what the sessions have opened stays open there. */
static void resume(void)
{
	if (live && start_thread() == 0)
		return;
	if (!tp_reading() && !tp_tracing_lost_in_fork())
		tp_server_end_sessions();
}

static void register_for_forks(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_OUTPUTS, .in_child = in_child, .resume = resume};

	tp_fork_register(&hook);
}

/* ---- Beginning ---- */

/* Under the lock. */
static int listen_by_thread(const struct tp_control_setting *setting, bool make)
{
	if (served == BY_THREAD && tp_server_is_open())
		return 0;
	if (served == BY_THREAD) /* in a child, where it would wait first */
		stop_thread();
	int error = tp_server_open(setting, make, register_for_forks);
	if (error)
		return error;
	owner = getpid();
	error = start_thread();
	if (!error)
		return 0;
	tp_complain("nobody can look into this process: its thread can't be made: %s", tp_strerror(error));
	tp_server_close();
	served = BY_NOBODY;
	return error;
}

/* Where there is no directory, this makes one system call: tp_lock() would make two more. */
static void start_if_wanted(void)
{
	struct tp_control_setting setting;

	tp_serve_start();
	if (!tp_control_setting(&setting) || setting.off || !tp_try_lock(&lock))
		return;
	listen_by_thread(&setting, setting.make);
	tp_unlock(&lock);
}

void tp_control_start_if_wanted(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_if_wanted);
	if (served != BY_NOBODY)
		tp_stack_start(); /* while a sandbox lets it be loaded; somebody may ask for stacks later */
}

/* Whether the caller would wait for itself. */
static bool is_inside(void)
{
	return tp_reading() || (served == BY_THREAD && pthread_equal(pthread_self(), thread));
}

/* 0, and the lock is taken; or a negative errno value. */
static int begin(struct tp_control_setting *setting)
{
	tp_control_start_if_wanted();
	if (!tp_control_setting(setting)) {
		tp_complain("nobody can look into this process: it is a set-uid, set-gid or capability program");
		return -EPERM;
	}
	if (is_inside())
		return -EDEADLK;
	tp_stack_start();
	tp_lock(&lock);
	return 0;
}

int tp_control_start(void)
{
	struct tp_control_setting setting;
	int error = begin(&setting);

	if (error)
		return error;
	error = -listen_by_thread(&setting, true);
	tp_unlock(&lock);
	return error;
}

int tp_control_fd(void)
{
	struct tp_control_setting setting;
	int error = begin(&setting);

	if (error)
		return error;
	if (served == BY_THREAD)
		stop_thread();
	error = tp_server_open(&setting, true, register_for_forks);
	const int fd = error ? -error : tp_server_descriptor();
	if (fd < 0) {
		tp_server_close();
	} else {
		owner = getpid();
		served = BY_PROGRAM;
	}
	tp_unlock(&lock);
	return fd;
}

int tp_control_serve(void)
{
	if (tp_reading())
		return -EDEADLK;
	if (!tp_try_lock(&lock))
		return -EBUSY;
	const bool is_ours = served == BY_PROGRAM;
	if (is_ours)
		tp_server_turn(false, PATIENCE_OF_PROGRAM);
	tp_unlock(&lock);
	return is_ours ? 0 : -EINVAL;
}

/* ---- The end ---- */

int tp_control_stop(void)
{
	if (is_inside())
		return -EDEADLK;
	tp_lock(&lock);
	if (served == BY_THREAD)
		stop_thread();
	tp_server_close();
	served = BY_NOBODY;
	tp_unlock(&lock);
	return 0;
}

/* Without the lock: whoever has it may be waiting for a reader that never returns. */
void tp_control_end(void)
{
	if (served == BY_NOBODY || getpid() != owner)
		return;
	if (served == BY_THREAD && ask_thread_to_stop())
		tp_thread_ends_soon(thread);
	tp_server_leave();
}
