/* SPDX-License-Identifier: MIT */
/*
 * storm.c - storm ROUNDS: threads and their signal handlers hit one event, which several histograms count, while these are
 * shown, and one is cleared. Prints the number of hits and the histograms as JSON, those first that are never cleared.
 */
#define CREATE_TRACE_POINTS
#include "storm.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "sinks/hist/hist.h"

#define NR_THREADS 4
#define NR_TEXTS 64
#define ENOUGH 50000 /* hits, also where threads come to run late */

static const char *const definitions[] = {
	"keys=number:vals=value",
	"keys=number:vals=value:size=128", /* for fewer keys than there are */
	"keys=text,number.buckets=50:vals=value",
	"keys=common_pid.execname,text:vals=value,hitcount.hex:size=256",
	"keys=stacktrace:vals=value",
	"keys=number,text:vals=value", /* is cleared */
};

#define NR_HISTS (sizeof(definitions) / sizeof(definitions[0]))

static struct tp_sink *hists[NR_HISTS];
static char texts[NR_TEXTS][32];
static bool end;
static unsigned long hits;

static void hit(unsigned int number)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	trace_storm_hit(number, texts[number % NR_TEXTS], 7);
}

static void handler(int sig)
{
	static unsigned int last;

	(void)sig;
	for (unsigned int i = 0; i < 20; i++)
		hit(__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) % 300);
}

static void *work(void *data)
{
	unsigned int number = (unsigned int)(uintptr_t)data;

	while (!__atomic_load_n(&end, __ATOMIC_RELAXED)) {
		number = number * 1103515245u + 12345u;
		hit((number >> 16) % 300);
	}
	return NULL;
}

static bool open_all(void)
{
	struct tp_filter_error error;

	for (size_t i = 0; i < NR_HISTS; i++) {
		struct tp_hist_definition *definition = tp_hist_definition_new(definitions[i], &error);
		hists[i] = definition ? tp_hist_sink(definition, NULL, &error) : NULL;
		if (!hists[i] || tp_enable(hists[i], "storm:*") != 1)
			return false;
	}
	return true;
}

static bool show_all(bool print)
{
	for (size_t i = 0; i < NR_HISTS; i++) {
		struct tp_buffer text = {.text = NULL};
		if (tp_hist_report(hists[i], print, &text) != 0 || tp_sink_lost(hists[i]) != 0)
			return false;
		if (print)
			fputs(text.text, stdout);
		tp_buffer_free(&text);
	}
	return true;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS];

	for (unsigned int i = 0; i < NR_TEXTS; i++)
		snprintf(texts[i], sizeof(texts[i]), "%0*u", (int)(i % 20 + 2), i);
	if (argc != 2 || !open_all())
		return 1;
	signal(SIGUSR1, handler);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < atoi(argv[1]) || __atomic_load_n(&hits, __ATOMIC_RELAXED) < ENOUGH; i++) {
		pthread_kill(threads[i % NR_THREADS], SIGUSR1);
		if (tp_hist_clear(hists[NR_HISTS - 1]) != 0 || (i % 50 == 0 && !show_all(false)))
			return 2;
	}
	if (tp_hist_clear(hists[NR_HISTS - 1]) != 0)
		return 2;
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("{\"hits\": %lu}\n", hits);
	if (!show_all(true))
		return 3;
	for (size_t i = 0; i < NR_HISTS; i++)
		tp_sink_close(hists[i]);
	return 0;
}
