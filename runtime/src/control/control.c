/* SPDX-License-Identifier: MIT */
/*
 * control/control.c - whether the process listens, and in which thread: the
 * runtime's helper, or the program's.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include <tp/control.h>

#include "base/fork.h"
#include "base/helper.h"
#include "base/hit.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/stack.h"
#include "control/control.h"
#include "control/serve.h"
#include "control/server.h"

/*
 * Held where the process begins or ends to listen, and by the program's thread that serves: so requests are waited for,
 * and with them readers. Readers never take it, and a fork does not wait for it.
 */
static struct tp_lock lock = TP_LOCK_INIT(TP_RANK_CONTROL, "the control's lock");
static enum { BY_NOBODY, BY_HELPER, BY_PROGRAM } served; /* changes under the lock */
static pid_t owner; /* a child that no handler of forks knows of is another process, and has all of this */

/* Where the helper serves: in a child it begins with the first. */
static enum {
	FORKED,    /* the child may end at once, or become another program: it does not listen yet */
	LISTENING,
	ENDS_WITH, /* it can't listen: it has no descriptor left, say. What the parent's sessions have opened ends with them */
} stage;

#define CHILD_WAITS 100 /* milliseconds */
static uint64_t listens_at;

/* ---- The helper's part ---- */

static uint64_t in_milliseconds(int delay)
{
	return tp_helper_now() + (uint64_t)delay * 1000000;
}

static struct tp_work work;

/* The program may be about to call tp_control_start(), which waits for this. */
static uint64_t open_in_child(void)
{
	struct tp_control_setting setting;

	if (!tp_try_lock(&lock))
		return in_milliseconds(CHILD_WAITS);
	const bool is_open = tp_control_setting(&setting) && tp_server_open_in_child(&setting) == 0;
	stage = is_open ? LISTENING : ENDS_WITH;
	tp_unlock(&lock);
	return 0;
}

static uint64_t turn(void *unused)
{
	int delay;

	(void)unused;
	switch (stage) {
	case FORKED:
		return tp_helper_now() < listens_at ? listens_at : open_in_child();
	case LISTENING:
		delay = tp_server_turn();
		return delay < 0 ? TP_NEVER : in_milliseconds(delay);
	case ENDS_WITH:
		if (!tp_server_end_inherited()) {
			served = BY_NOBODY;
			tp_helper_end(&work);
		}
		break;
	}
	return TP_NEVER;
}

static unsigned int watch(void *unused, struct pollfd *places)
{
	(void)unused;
	return stage == FORKED ? 0 : tp_server_places(places);
}

static struct tp_work work = {.run = turn, .watch = watch, .records = true};
_Static_assert(TP_SERVER_PLACES <= TP_HELPER_PLACES, "it may wait for as many");

static int begin_to_serve(void)
{
	stage = LISTENING;
	work.in_children = true;
	const int error = tp_helper_begin(&work);
	if (!error)
		served = BY_HELPER;
	return error;
}

static void end_serving(void)
{
	tp_helper_end(&work);
	served = BY_NOBODY;
}

/* ---- Forks ---- */

static void in_child(void)
{
	struct tp_control_setting setting;

	lock.mutex.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* its holder may not be in the child */
	work.in_children = served == BY_HELPER && tp_control_setting(&setting) && setting.children && !tp_tracing_lost_in_fork();
	stage = FORKED;
	listens_at = in_milliseconds(CHILD_WAITS);
	owner = getpid();
	tp_server_in_child(work.in_children);
}

/* A child that was forked inside a probe can't wait for itself: what the sessions have opened stays open there. */
static void resume(void)
{
	if (work.in_children && tp_helper_is_there())
		return;
	if (served == BY_HELPER)
		tp_helper_end(&work);
	served = BY_NOBODY;
	if (!tp_reading() && !tp_tracing_lost_in_fork())
		tp_server_end_sessions();
}

static void register_for_forks(void)
{
	/* After the helper's. */
	static struct tp_fork_hook hook = {.rank = TP_RANK_REGISTRY, .in_child = in_child, .resume = resume};

	tp_fork_register(&hook);
}

/* ---- Beginning ---- */

/* Under the lock. */
static int listen_by_helper(const struct tp_control_setting *setting, bool make)
{
	if (served == BY_HELPER && tp_server_is_open())
		return 0;
	if (served == BY_HELPER) /* in a child, where it would wait first */
		end_serving();
	int error = tp_server_open(setting, make, register_for_forks);
	if (error)
		return error;
	owner = getpid();
	error = begin_to_serve();
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
	listen_by_helper(&setting, setting.make);
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
	return tp_reading() || tp_helper_is_self();
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
	error = -listen_by_helper(&setting, true);
	tp_unlock(&lock);
	return error;
}

int tp_control_fd(void)
{
	struct tp_control_setting setting;
	int error = begin(&setting);

	if (error)
		return error;
	if (served == BY_HELPER)
		end_serving();
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
		tp_server_turn();
	tp_unlock(&lock);
	return is_ours ? 0 : -EINVAL;
}

/* ---- The end ---- */

int tp_control_stop(void)
{
	if (is_inside())
		return -EDEADLK;
	tp_lock(&lock);
	if (served == BY_HELPER)
		end_serving();
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
	if (served == BY_HELPER)
		tp_helper_leave();
	tp_server_leave();
}
