/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/sink.c - the LTTng sink: events as tracepoints of LTTng-UST, made at run
 * time, which LTTng's own tools list, switch, filter and record.
 *
 * Events of modules that were loaded together, and are of one system, are a
 * provider of LTTng's. It stays when the modules go: the ids of their events
 * do, too, and nothing of what LTTng sees is in the modules.
 *
 * LTTng's lock comes behind tp_events_lock, under which providers are
 * registered, and in front of the locks of the other sinks: who holds it may be waiting
 * for LTTng's readers, in which a signal handler may be that records into those. LTTng's threads take it
 * as well. They never want one of ours but liburcu's, for the first tracepoint that they hit: which
 * is why a forked child starts them again when it holds none any more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/fork.h"
#include "base/message.h"
#include "events/events.h"
#include "record/record.h"
#include "sinks/lttng/lttng.h"

#ifdef TP_HAS_LTTNG

/* The events of a system that came together. Its arrays are made anew to grow. */
struct provider {
	struct provider *next;
	struct lttng_ust_probe_desc desc;
	struct lttng_ust_registered_probe *registered; /* NULL while it is not */
	const struct lttng_ust_event_desc **events;
	struct lttng_ust_tracepoint **tracepoints; /* each the head of a struct tp_lttng_event */
	unsigned int room;                         /* elements of these two */
};

/* The one that there is: with two, LTTng would list and record everything twice. */
static struct tp_sink the_sink;
static bool is_open;

/*
 * What was described stays for ever, as sites look at its enable flags. It is
 * LTTng's only while the sink is open. Under tp_events_lock, or by who opens or closes the sink.
 */
static struct tp_lttng_arena arena;
static struct provider *providers;
static struct provider *coming; /* to be registered by the next write_descriptions */

/*
 * By the ids of events. TP_NR_IDS of them, of which few pages are ever touched; mapped when a sink is first opened,
 * for ever.
 */
static struct tp_lttng_event **by_id;
#define BY_ID_SIZE (TP_NR_IDS * sizeof(*by_id))

static bool is_gone; /* in a forked child that must not use LTTng */

/* ---- Describing ---- */

static bool make_room(struct provider *p)
{
	unsigned int nr = p->desc.nr_events, room = nr ? 2 * nr : 16;

	if (nr < p->room)
		return true;
	const struct lttng_ust_event_desc **events = tp_lttng_alloc(&arena, room * sizeof(*events));
	struct lttng_ust_tracepoint **tracepoints = tp_lttng_alloc(&arena, room * sizeof(*tracepoints));
	if (!events || !tracepoints)
		return false;
	if (nr) {
		memcpy(events, p->events, nr * sizeof(*events));
		memcpy(tracepoints, p->tracepoints, nr * sizeof(*tracepoints));
	}
	p->events = events;
	p->tracepoints = tracepoints;
	p->room = room;
	p->desc.event_desc = events;
	return true;
}

/* The one that is coming of that system, made where there is none. NULL: no memory. */
static struct provider *provider_of(const char *system)
{
	struct provider *p = coming;

	while (p && strcmp(p->desc.provider_name, system) != 0)
		p = p->next;
	if (p)
		return p;
	p = tp_lttng_alloc(&arena, sizeof(*p));
	const char *name = tp_lttng_strdup(&arena, system);
	if (!p || !name)
		return NULL;
	p->desc = (struct lttng_ust_probe_desc){
		.struct_size = sizeof(p->desc),
		.provider_name = name,
		.major = LTTNG_UST_PROVIDER_MAJOR,
		.minor = LTTNG_UST_PROVIDER_MINOR,
	};
	p->next = coming;
	coming = p;
	return p;
}

static struct tp_lttng_event *event_of(const struct provider *p, unsigned int number)
{
	return (struct tp_lttng_event *)p->tracepoints[number];
}

static bool is_coming(uint16_t id)
{
	for (const struct provider *p = coming; p; p = p->next) {
		for (unsigned int i = 0; i < p->desc.nr_events; i++) {
			if (event_of(p, i)->id == id)
				return true;
		}
	}
	return false;
}

static int lttng_describe_event(struct tp_sink *sink, const struct tp_event *event)
{
	struct tp_lttng_event *described;

	(void)sink;
	/* Two modules may carry it; or it was described to an earlier sink. */
	if (is_gone || by_id[event->id] || is_coming(event->id))
		return 0;
	struct provider *p = provider_of(event->system);
	if (!p || !make_room(p))
		return -ENOMEM;
	int error = tp_lttng_describe(&arena, &p->desc, event, &described);
	if (error)
		return error;
	unsigned int nr = p->desc.nr_events++;
	p->events[nr] = &described->desc;
	p->tracepoints[nr] = &described->tracepoint;
	return 0;
}

static int provider_register(struct provider *p)
{
	if (!p->desc.nr_events)
		return 0;
	if (tp_lttng.module_register(p->tracepoints, (int)p->desc.nr_events) == 0) {
		p->registered = tp_lttng.probe_register(&p->desc);
		if (p->registered)
			return 0;
		tp_lttng.module_unregister(p->tracepoints);
	}
	tp_complain("LTTng output: LTTng has refused the events of the system '%s'", p->desc.provider_name);
	return -EINVAL;
}

static int lttng_write_descriptions(struct tp_sink *sink)
{
	int error = 0;

	(void)sink;
	while (coming) {
		struct provider *p = coming;
		coming = p->next;
		int failed = provider_register(p);
		if (failed) {
			error = failed;
			continue;
		}
		for (unsigned int i = 0; i < p->desc.nr_events; i++)
			__atomic_store_n(&by_id[event_of(p, i)->id], event_of(p, i), __ATOMIC_RELAXED);
		p->next = providers;
		providers = p;
	}
	return error;
}

/* ---- Records ---- */

static bool lttng_reserve(struct tp_record *rec)
{
	struct tp_lttng_event *event = __atomic_load_n(&by_id[rec->event->id], __ATOMIC_RELAXED);

	/* No session wants it: nothing is lost. */
	if (!event || !__atomic_load_n(&event->tracepoint.state, __ATOMIC_RELAXED))
		return false;
	return tp_lttng_reserve(rec, event);
}

/* LTTng's flag: the one that reserve looks at. */
static const int *lttng_enable_flag(struct tp_sink *sink, const struct tp_event *event)
{
	(void)sink;
	return by_id[event->id] ? &by_id[event->id]->tracepoint.state : NULL;
}

/* ---- Forks ---- */

static struct {
	bool prepared; /* LTTng is */
	sigset_t signals;
} the_fork; /* under the forks' lock */

/* Also where the sink is closed: LTTng's threads are there still. */
static void before_fork(void)
{
	the_fork.prepared = tp_lttng_handles_fork();
	if (the_fork.prepared)
		tp_lttng.before_fork(&the_fork.signals);
}

static void after_fork(bool child)
{
	if (the_fork.prepared && !child)
		tp_lttng.after_fork_parent(&the_fork.signals);
}

/* With no lock held: LTTng makes threads, which may hit tracepoints, and waits for them. */
static void resume_in_child(void)
{
	if (!the_fork.prepared || tp_lttng_begin_again(&the_fork.signals))
		return;
	if (!is_gone && is_open)
		tp_complain("LTTng output: process %d was forked while another thread loaded or unloaded a library: it goes "
			    "on without LTTng", (int)getpid());
	is_gone = true;
	if (by_id)
		madvise(by_id, BY_ID_SIZE, MADV_DONTNEED); /* which makes it all zeros */
}

static struct tp_fork_hook fork_hook = {
	.rank = TP_RANK_LTTNG, .before = before_fork, .after = after_fork, .resume = resume_in_child,
};

/* ---- Opening and closing ---- */

static void unregister_all(void)
{
	for (struct provider *p = providers; p; p = p->next) {
		if (!p->registered)
			continue;
		tp_lttng.probe_unregister(p->registered);
		tp_lttng.module_unregister(p->tracepoints);
		p->registered = NULL;
	}
}

static int lttng_close(struct tp_sink *sink)
{
	tp_sink_tell_lost(sink);
	unregister_all();
	__atomic_store_n(&is_open, false, __ATOMIC_RELEASE);
	return 0;
}

static const struct tp_sink_ops lttng_ops = {
	.name = "LTTng",
	.reserve = lttng_reserve,
	.commit = tp_lttng_commit,
	.enable_flag = lttng_enable_flag,
	.describe_event = lttng_describe_event,
	.write_descriptions = lttng_write_descriptions,
	.close = lttng_close,
};

static bool map_by_id(void)
{
	if (by_id)
		return true;
	void *memory = mmap(NULL, BY_ID_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	by_id = memory;
	return true;
}

static int sink_open(void)
{
	tp_fork_register(&fork_hook); /* before there are threads of LTTng's */
	int error = tp_lttng_load();

	if (error)
		return error;
	if (!map_by_id())
		return -ENOMEM;
	for (struct provider *p = providers; p; p = p->next)
		provider_register(p); /* what is refused gives nothing */
	error = tp_sink_open(&the_sink, &lttng_ops);
	if (error)
		unregister_all();
	return error;
}

struct tp_sink *tp_lttng_sink(void)
{
	if (__atomic_exchange_n(&is_open, true, __ATOMIC_ACQUIRE)) {
		tp_complain("LTTng output: there is one already, and LTTng sees all events of the process by it");
		errno = EBUSY;
		return NULL;
	}
	int error = sink_open();
	if (!error)
		return &the_sink;
	__atomic_store_n(&is_open, false, __ATOMIC_RELEASE);
	errno = -error;
	return NULL;
}

#else

struct tp_sink *tp_lttng_sink(void)
{
	tp_complain("LTTng output: this libtp was built without the headers of LTTng-UST 2.13: install them (Debian's "
		    "package is liblttng-ust-dev) and build it again; nothing goes to LTTng");
	errno = ENOTSUP;
	return NULL;
}

#endif
