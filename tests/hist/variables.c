/* SPDX-License-Identifier: MIT */
/*
 * variables.c - threads and signal handlers set variables, read them, and let actions save and trace, all at the same key,
 * while reports are made, and histograms come and go.
 *
 *	variables ROUNDS   prints a JSON object; then the reports of the histogram that saves, one a round
 */
#define CREATE_TRACE_POINTS
#include "tasks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "sinks/hist/hist.h"

#define THREADS 3
#define NAME 15 /* letters of a name, all the same */

static atomic_bool ends;
static atomic_ulong nr_set, nr_records, nr_torn;
static atomic_int highest;

/* ---- Hits ---- */

/* The name is made of the number, so that whoever has both knows whether they belong together. */
static void hit(int number)
{
	char name[NAME + 1], decimal[12];
	struct task named = {.pid = 1, .prio = number, .comm = name};
	struct task counted = {.pid = number, .prio = number, .comm = decimal};

	memset(name, 'a' + number % 26, NAME);
	name[NAME] = '\0';
	snprintf(decimal, sizeof(decimal), "%d", number);
	nr_set++;
	trace_sched_waking(&named);
	trace_sched_switch(&named, &named);
	int before = highest;
	while (number > before && !atomic_compare_exchange_weak(&highest, &before, number))
		;
	trace_sched_wakeup_new(&counted);
}

static _Thread_local unsigned int state = 1;

static int next_number(void)
{
	state = state * 1103515245u + 12345u;
	return (int)(state >> 8 & 0xfffff) + 1;
}

static void on_signal(int number)
{
	(void)number;
	hit(next_number());
}

static void *hit_all_the_time(void *seed)
{
	state = *(unsigned int *)seed;
	while (!ends) {
		hit(next_number());
		if (state % 3 == 0)
			raise(SIGUSR1);
	}
	return NULL;
}

/* A probe of the synthetic event: the text is that of one hit. */
static void look(void *data, const struct tp_event *event, const uint64_t *words)
{
	const char *name = (const char *)(uintptr_t)words[0];
	size_t len = strlen(name);

	(void)data;
	(void)event;
	nr_records++;
	for (size_t i = 0; i < len; i++) {
		if (name[i] != name[0] || len != NAME) {
			nr_torn++;
			return;
		}
	}
}

/* ---- Histograms ---- */

static struct tp_sink *open_hist(const char *text, const char *event)
{
	struct tp_filter_error error;
	struct tp_hist_definition *definition = tp_hist_definition_new(text, &error);
	struct tp_sink *hist = definition ? tp_hist_sink(definition, NULL, &error) : NULL;

	if (!hist || tp_enable(hist, event) != 1) {
		fprintf(stderr, "%s: %s\n", text, error.message);
		exit(1);
	}
	return hist;
}

static atomic_int nr_snapshots;

static void count_snapshot(void *data)
{
	(void)data;
	nr_snapshots++;
}

static struct tp_sink *fickle; /* read by a histogram that stays */

static void *come_and_go(void *unused)
{
	while (!ends) {
		struct tp_sink *reader = open_hist("keys=next_pid:d=next_prio-$number:onmatch(sched.sched_waking)."
						   "named(sched.sched_waking.comm)", "sched:sched_switch");
		tp_sink_close(reader);
		tp_sink_close(fickle);
		fickle = open_hist("keys=pid:fickle=prio", "sched:sched_waking");
	}
	tp_sink_close(fickle);
	return unused;
}

static void put(struct tp_sink *hist)
{
	struct tp_buffer text = {.text = NULL};

	if (tp_hist_report(hist, true, &text) == 0)
		printf("%s", text.text);
	tp_buffer_free(&text);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t threads[THREADS], comer;
	unsigned int seeds[THREADS] = {1, 2, 3};

	if (tp_synthetic_event("named char name[]", NULL))
		return 1;
	tp_probe_register("synthetic:named", "const struct tp_event *, const uint64_t *", (tp_probe_t)look, NULL, 10);
	struct tp_sink *setter = open_hist("keys=pid:number=prio,name=comm", "sched:sched_waking");
	fickle = open_hist("keys=pid:fickle=prio", "sched:sched_waking");
	struct tp_sink *of_fickle = open_hist("keys=next_pid:d=$fickle", "sched:sched_switch");
	struct tp_sink *once = open_hist("keys=next_pid:d=next_prio-$number", "sched:sched_switch");
	struct tp_sink *tracer = open_hist("keys=next_pid:onmatch(sched.sched_waking).named($name)", "sched:sched_switch");
	struct tp_sink *saver = open_hist("keys=common_type:p=prio:onmax($p).save(pid,comm)", "sched:sched_wakeup_new");
	struct tp_sink *changer = open_hist("keys=common_type:p=prio:onchange($p).save(comm,pid):onmax($p).snapshot()",
					    "sched:sched_wakeup_new");
	tp_hist_on_snapshot(changer, count_snapshot, NULL);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hit_all_the_time, &seeds[i]);
	pthread_create(&comer, NULL, come_and_go, NULL);
	for (int i = 0; i < rounds; i++) {
		put(saver);
		put(changer);
		if (i % 10 == 0)
			tp_hist_clear(setter);
		usleep(1000);
	}
	ends = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(comer, NULL);
	put(once);
	put(changer);
	put(saver);
	printf("{\"set\": %lu, \"records\": %lu, \"torn\": %lu, \"highest\": %d, \"snapshots\": %d, \"lost\": %lu}\n", nr_set, nr_records,
	       nr_torn, highest, nr_snapshots, tp_sink_lost(once) + tp_sink_lost(tracer) + tp_sink_lost(saver));
	tp_probe_unregister("synthetic:named", (tp_probe_t)look, NULL);
	tp_sink_close(setter);
	tp_sink_close(once);
	tp_sink_close(of_fickle);
	tp_sink_close(tracer);
	tp_sink_close(saver);
	tp_sink_close(changer);
	return tp_synthetic_event("!named", NULL) ? 1 : 0;
}
