/* SPDX-License-Identifier: MIT */
/*
 * base/fork.c - see fork.h. All locks are held across a fork, so that the
 * child finds them free, and what they protect whole.
 */
#include <pthread.h>
#include <signal.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/message.h"
#include "base/thread.h"

/*
 * By rank. Forks walk through them without a lock: one that waits for readers
 * must not hold up another one, in a reader.
 */
static struct tp_fork_hook *hooks;

static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_bit = 1;

/* What is known of the fork that is on its way: it holds all locks. */
static struct {
	uint32_t called; /* hooks by their bits; another thread may register one meanwhile */
	sigset_t signals;
} the_fork;

static struct tp_fork_hook *next_of(struct tp_fork_hook *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static bool is_registered(const struct tp_fork_hook *hook)
{
	const struct tp_fork_hook *at = hooks;

	while (at && at != hook)
		at = at->next;
	return at != NULL;
}

static void link_by_rank(struct tp_fork_hook *hook)
{
	struct tp_fork_hook **at = &hooks;

	while (*at && (*at)->rank <= hook->rank)
		at = &(*at)->next;
	if (!hook->bit) {
		hook->bit = next_bit;
		next_bit <<= 1;
	}
	hook->next = *at;
	__atomic_store_n(at, hook, __ATOMIC_RELEASE);
}

void tp_fork_register(struct tp_fork_hook *hook)
{
	sigset_t all, signals;
	int cancel_state;

	sigfillset(&all); /* a handler that comes here, too, would wait for its own thread */
	pthread_sigmask(SIG_BLOCK, &all, &signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&registering);
	if (!is_registered(hook)) /* its bit says nothing: in a child, the parent's thread may have got no further */
		link_by_rank(hook);
	pthread_mutex_unlock(&registering);
	pthread_setcancelstate(cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/*
 * A child whose parent was being started at the fork starts again, and may
 * have each handler twice. Of two calls the outer one does the work.
 */
static TP_THREAD_LOCAL unsigned int depth;

/* Of a rank that is a leaf's, more than one is held. */
static void take(struct tp_mutex *lock)
{
	pthread_mutex_lock(&lock->mutex);
	tp_rank_enter(lock->rank, lock->name);
}

static void before_fork(void)
{
	uint32_t called = 0;
	sigset_t all, signals;

	if (depth++)
		return;
	/* A handler may hit a tracepoint whose probe wants a lock that is held here. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &signals);
	for (struct tp_fork_hook *hook = next_of(&hooks); hook; hook = next_of(&hook->next)) {
		called |= hook->bit;
		if (hook->lock)
			take(hook->lock);
		if (hook->before)
			hook->before();
	}
	the_fork.called = called;
	the_fork.signals = signals;
}

/* The last hook first. There are no more than a dozen. */
static void call_after(struct tp_fork_hook *hook, uint32_t called, bool child)
{
	if (!hook)
		return;
	call_after(next_of(&hook->next), called, child);
	if (!(hook->bit & called))
		return;
	if (hook->after)
		hook->after(child);
	if (hook->lock)
		tp_mutex_unlock(hook->lock);
}

static void after_fork_parent(void)
{
	const sigset_t signals = the_fork.signals;

	if (--depth)
		return;
	call_after(next_of(&hooks), the_fork.called, false);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

static void after_fork_child(void)
{
	const uint32_t called = the_fork.called;
	const sigset_t signals = the_fork.signals;

	if (--depth)
		return;
	tp_thread_forget_id();
	registering = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* its holder may not be in the child */
	for (struct tp_fork_hook *hook = hooks; hook; hook = hook->next) {
		if (hook->in_child && hook->bit & called)
			hook->in_child();
	}
	call_after(hooks, called, true);
	for (struct tp_fork_hook *hook = hooks; hook; hook = hook->next) {
		if (hook->resume && hook->bit & called)
			hook->resume();
	}
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void tp_fork_start(void)
{
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0)
		tp_complain("no memory to prepare for fork: a forked child must not use tracepoints");
}
