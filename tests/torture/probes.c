/* SPDX-License-Identifier: MIT */
/* probes.c - those who hit, who register and remove, who look. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

#define MAX_LISTENERS 4
#define MAX_HITS 4

void hitter(void)
{
	at("hitting");
	for (int i = 0; i < 100; i++)
		hit_any(PLAIN_HIT);
	if (rnd(4) == 0)
		nap(100); /* on few processors, the others want to live */
}

/* ---- Registrars ---- */

/* What one thread has on one tracepoint, and must be called for by its own hits. */
struct session {
	enum point point;
	unsigned long token;
	unsigned int nr;
	struct listener *listeners[MAX_LISTENERS]; /* in order of registration */
	bool on[MAX_LISTENERS];
	unsigned long expected[MAX_LISTENERS];
	unsigned int order;
	bool exact;
};

static void expect_order(const struct session *s)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		for (unsigned int j = i + 1; j < s->nr; j++) {
			const struct listener *first = s->listeners[i], *second = s->listeners[j];
			if (!s->on[i] || !s->on[j])
				continue;
			bool in_order = first->prio >= second->prio;
			CHECK(in_order == (first->place < second->place),
			      "probes of priority %d and %d were called as number %u and %u", first->prio, second->prio,
			      first->place, second->place);
		}
	}
}

static void hit_own(struct session *s)
{
	unsigned long b = rnd(~0ul);
	unsigned int nr_on = 0;

	at("hitting its own");
	s->order = 0;
	hit(s->point, s->token, b);
	count(COUNT_own);
	for (unsigned int i = 0; i < s->nr; i++) {
		struct listener *listener = s->listeners[i];
		nr_on += s->on[i];
		if (s->on[i] && passes(s->point, b))
			s->expected[i]++;
		if (s->exact ? listener->own != s->expected[i] : listener->own > s->expected[i])
			die("%s: a probe that is %s was called %lu times of %lu", "own hits", s->on[i] ? "on" : "off",
			    listener->own, s->expected[i]);
	}
	if (!s->exact)
		return;
	CHECK(!nr_on || is_enabled(s->point), "there is a probe, and the tracepoint says it is off");
	if (passes(s->point, b))
		expect_order(s);
}

static void add_one(struct session *s)
{
	/* LISTEN twice: many that recurse and nest make few rounds. */
	static const enum listener_kind kinds[] = {LISTEN, LISTEN, NEST, RECURSE};
	struct listener *listener = listener_new(s->point, kinds[rnd(4)], s->token);
	unsigned int i = s->nr;

	at("register");
	listener->order = &s->order;
	int error = listener_add(listener);
	if (error) {
		CHECK(!s->exact || (error == -EBUSY && s->point == POINT_torture_fn && !s->nr), "register: %s",
		      strerror(-error));
		count(COUNT_refused);
		listener_bury(listener);
		return;
	}
	s->listeners[i] = listener;
	s->on[i] = true;
	s->nr++;
	if (rnd(8) == 0) {
		error = listener_add(listener);
		CHECK(error == -EEXIST, "register again returned %d", error);
	}
}

static void remove_one(struct session *s, unsigned int i)
{
	at("unregister");
	int error = listener_remove(s->listeners[i]);
	CHECK(error == 0, "unregister: %s", strerror(-error));
	s->on[i] = false;
	if (rnd(8) == 0) {
		error = listener_remove(s->listeners[i]);
		CHECK(error == -ENOENT, "unregister again returned %d", error);
	}
}

void session(bool exact)
{
	struct session s = {.point = (enum point)rnd(NR_OWN_POINTS), .token = new_token(), .exact = exact};
	unsigned int nr = 1 + (unsigned int)rnd(MAX_LISTENERS);

	for (unsigned int i = 0; i < nr; i++) {
		add_one(&s);
		if (rnd(2))
			hit_own(&s);
	}
	for (unsigned long n = rnd(MAX_HITS); n; n--)
		hit_own(&s);
	for (unsigned int left = s.nr; left; left--) {
		unsigned int i = (unsigned int)rnd(s.nr);
		while (!s.on[i])
			i = (i + 1) % s.nr;
		remove_one(&s, i);
		hit_own(&s);
	}
	/* At once, or whoever waits next: who removes much waits seldom. */
	bool leave = !in_child && rnd(2);
	if (!leave)
		synchronize();
	for (unsigned int i = 0; i < s.nr; i++) {
		s.listeners[i]->order = NULL;
		if (leave)
			listener_leave(s.listeners[i]);
		else
			listener_bury(s.listeners[i]);
	}
}

void registrar(void)
{
	session(true);
}

/* ---- Registrars inside probes ---- */

#define NR_MEDDLERS 3

/* Whether it has; where it is about to, it must have, before anybody waits for its readers. */
static bool removes_itself(struct listener *listener)
{
	if (begin_removal(listener))
		return false;
	while (__atomic_load_n(&listener->removal, __ATOMIC_ACQUIRE) != DONE)
		nap(10);
	return true;
}

void meddler(void)
{
	struct listener *listeners[NR_MEDDLERS];

	at("register");
	for (int i = 0; i < NR_MEDDLERS; i++) {
		/* The last, if any, on what only a module hits. */
		enum listener_kind kind = i == 0 ? LEAVE : MEDDLE;
		enum point point = (enum point)rnd(i == NR_MEDDLERS - 1 ? NR_POINTS : NR_OWN_POINTS);
		listeners[i] = listener_new(point, kind, 0);
		int error = listener_add(listeners[i]);
		if (!error)
			continue;
		CHECK(error == -EBUSY && point == POINT_torture_fn, "register: %s", strerror(-error));
		listener_bury(listeners[i]);
		listeners[i] = NULL;
	}
	at("hitting");
	for (int i = 0; i < 50; i++)
		hit_any(PLAIN_HIT);
	at("unregister");
	for (int i = 0; i < NR_MEDDLERS; i++) {
		if (!listeners[i])
			continue;
		if (!removes_itself(listeners[i])) {
			int error = listener_remove(listeners[i]);
			CHECK(error == 0, "unregister: %s", strerror(-error));
		}
		listener_leave(listeners[i]);
	}
	synchronize();
}

/* ---- Those who only look ---- */

void reader(void)
{
	unsigned long on = 0;

	at("asking");
	for (int i = 0; i < 1000; i++)
		on += is_enabled((enum point)rnd(NR_OWN_POINTS));
	count_by(COUNT_asked, 1000);
	__asm__ volatile("" : : "r"(on));
	nap(200);
}

static void look(struct tracepoint *tp, void *seen)
{
	CHECK(strncmp(tp->name, "torture_", 8) == 0 || strncmp(tp->name, "visitor_", 8) == 0, "a strange name: %s",
	      tp->name);
	CHECK(strcmp(tp->proto, "unsigned long, unsigned long, unsigned long") == 0, "a strange prototype: %s", tp->proto);
	CHECK(tp->line > 0 && strstr(tp->file, ".tp"), "a strange place: %s:%d", tp->file, tp->line);
	struct tp_tracepoint_info info;
	tp_get_tracepoint_info(tp, &info);
	CHECK(info.module && info.module[0], "%s is of no module", tp->name);
	bool on = info.state == TP_STATE_ON || info.state == TP_STATE_FAILED;
	CHECK(on == (info.nr_probes > 0), "%s has %u probes, and its state is %d", tp->name, info.nr_probes, info.state);
	(*(unsigned int *)seen)++;
}

void walker(void)
{
	unsigned int seen = 0;

	at("walking");
	tp_for_each_tracepoint(look, &seen);
	CHECK(seen >= NR_OWN_POINTS, "only %u tracepoints are there", seen);
	count_by(COUNT_walked, seen);
	nap(500);
}
