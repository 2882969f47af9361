/* SPDX-License-Identifier: MIT */
/* processes.c - forks, outside and inside probes; what children do before they exit. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

bool in_child, may_be_dark;

/* Who the child is, and the child's child: they can't both be the forker. */
static __thread struct worker *generations[2];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void await(pid_t pid, const struct worker *child, const char *what)
{
	double until = now() + (double)opt_stall;
	int status;

	at("waiting for a child");
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			break;
		CHECK(got == 0 || errno == EINTR, "waitpid: %s", strerror(errno));
		if (now() > until) {
			const char *where = child->where;
			kill(pid, SIGABRT);
			die("a child that was forked %s hangs; its last word was: %s", what, where);
		}
		at("waiting for a child");
		nap(500);
	}
	CHECK(!WIFSIGNALED(status), "a child that was forked %s died of signal %d (%s); its last word was: %s", what,
	      WTERMSIG(status), strsignal(WTERMSIG(status)), child->where);
	CHECK(WEXITSTATUS(status) == 0, "a child that was forked %s exited with %d", what, WEXITSTATUS(status));
}

static struct worker *generation(unsigned int n)
{
	if (!generations[n])
		generations[n] = worker_new(n ? "grandchild" : "child");
	return generations[n];
}

static void be(struct worker *worker)
{
	in_child = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that hangs must not outlive a test that has failed */
	me = worker;
	me->running = true;
	at("being forked");
}

/* Tracing is off in this child if a probe that is registered is not called; nobody else can have removed it. */
static void look_whether_dark(void)
{
	struct listener *listener = listener_new(POINT_torture_bare, LISTEN, new_token());
	int error = listener_add(listener);

	hit(POINT_torture_bare, listener->token, 1);
	if (!listener->own)
		count(COUNT_dark);
	if (!error)
		CHECK(listener_remove(listener) == 0, "unregister in a child");
}

static void live(bool exact)
{
	at("hitting in a child");
	for (int i = 0; i < 20; i++)
		hit_any(PLAIN_HIT);
	if (!opt_child_allocates)
		return;
	for (int i = 0; i < 2; i++)
		session(exact);
	if (!exact)
		look_whether_dark();
}

static _Noreturn void child(bool exact)
{
	count(COUNT_children);
	live(exact);
	at("fork in a child");
	pid_t pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		be(generations[1]);
		count(COUNT_grandchildren);
		live(exact);
		_exit(0);
	}
	await(pid, generations[1], "in a child");
	live(exact);
	at("exit");
	_exit(0);
}

static void fork_outside(void)
{
	at("fork");
	pid_t pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		be(generations[0]);
		child(true);
	}
	count(COUNT_forks);
	await(pid, generations[0], "outside a probe");
}

static __thread pid_t forked;

/* Called by a listener. Both go on in the probe: the parent can't wait in it. */
void fork_inside(struct listener *listener)
{
	(void)listener;
	if (forked)
		return;
	at("fork inside a probe");
	forked = fork();
	CHECK(forked >= 0, "fork: %s", strerror(errno));
	if (forked == 0) {
		may_be_dark = true;
		be(generations[0]);
		if (!opt_child_after_probe)
			_exit(0);
		at("hitting inside the probe in which it was forked");
		hit_any(NESTED_HIT);
	}
}

static void fork_in_a_probe(void)
{
	enum point point = (enum point)rnd(NR_OWN_POINTS);
	struct listener *listener = listener_new(point, FORK, new_token());

	at("register");
	int error = listener_add(listener);
	if (error) {
		CHECK(error == -EBUSY && point == POINT_torture_fn, "register: %s", strerror(-error));
		listener_bury(listener);
		return;
	}
	forked = 0;
	hit(point, listener->token, 1);
	if (in_child)
		child(false);
	CHECK(listener->own == 1, "a probe that forks was called %lu times", listener->own);
	count(COUNT_forks_inside);
	await(forked, generations[0], "inside a probe");
	at("unregister");
	error = listener_remove(listener);
	CHECK(error == 0, "unregister: %s", strerror(-error));
	synchronize();
	listener_bury(listener);
}

void forker(void)
{
	static __thread bool inside;

	generation(0);
	generation(1);
	if (inside)
		fork_in_a_probe();
	else
		fork_outside();
	inside = !inside;
	nap(2000);
}
