/* SPDX-License-Identifier: MIT */
/*
 * latency.c - requests begin in one thread and end in another. A histogram makes an event of each, with its latency; the
 * program has looked at the clock itself before and after both, so that it knows between what the latency is.
 *
 *	latency    prints the histograms, as JSON, and then how many latencies were wrong
 */
#define CREATE_TRACE_POINTS
#include "requests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tp/tp.h>

#include "events/events.h"
#include "sinks/hist/hist.h"

#define NR 2000

static struct {
	atomic_ullong begin[2], end[2]; /* before and after */
	uint64_t latency;
	char peer[16];
} requests[NR];
static atomic_uint nr_begun;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *begin_all(void *unused)
{
	for (uint32_t id = 0; id < NR; id++) {
		char peer[16];
		snprintf(peer, sizeof(peer), "peer-%u", id % 7);
		requests[id].begin[0] = now();
		trace_request_begin(id, peer);
		requests[id].begin[1] = now();
		nr_begun++;
	}
	return unused;
}

static void *end_all(void *unused)
{
	for (uint32_t id = 0; id < NR; id++) {
		while (nr_begun <= id)
			;
		requests[id].end[0] = now();
		trace_request_end(id, id % 10 ? 200 : 500);
		requests[id].end[1] = now();
	}
	return unused;
}

/* request_latency u32 id; u64 lat; char peer[] */
static void note(void *data, const struct tp_event *event, const uint64_t *words)
{
	(void)data;
	(void)event;
	requests[words[0]].latency = words[1];
	snprintf(requests[words[0]].peer, sizeof(requests[0].peer), "%s", (const char *)(uintptr_t)words[2]);
}

static struct tp_sink *open_hist(const char *text, const char *event)
{
	struct tp_filter_error error;
	struct tp_hist_definition *definition = tp_hist_definition_new(text, &error);
	struct tp_sink *hist = definition ? tp_hist_sink(definition, NULL, &error) : NULL;

	if (!hist || tp_enable(hist, event) != 1) {
		fprintf(stderr, "%s: %s\n", text, error.message ? error.message : "stays off");
		exit(1);
	}
	return hist;
}

static void put(struct tp_sink *hist)
{
	struct tp_buffer text = {.text = NULL};

	if (tp_hist_report(hist, true, &text) == 0)
		printf("%s", text.text);
	tp_buffer_free(&text);
}

int main(void)
{
	pthread_t beginner, ender;
	unsigned int wrong = 0;

	tp_synthetic_event("request_latency u32 id; u64 lat; char peer[]", NULL);
	open_hist("keys=id:ts0=common_timestamp:clock=mono", "net:request_begin");
	open_hist("keys=id:lat=common_timestamp-$ts0:clock=mono:onmatch(net.request_begin)."
		  "trace(request_latency,id,$lat,net.request_begin.peer)", "net:request_end");
	open_hist("keys=id:at=common_timestamp:clock=mono", "net:request_begin");
	struct tp_sink *directly = open_hist("keys=id:d=common_timestamp-$at:vals=$d:clock=mono", "net:request_end");
	struct tp_sink *by_log2 = open_hist("keys=lat.log2:vals=lat", "synthetic:request_latency");
	struct tp_sink *by_peer = open_hist("keys=peer,lat.buckets=1000:vals=lat", "synthetic:request_latency");
	tp_probe_register("synthetic:request_latency", "const struct tp_event *, const uint64_t *", (tp_probe_t)note, NULL, 10);
	pthread_create(&beginner, NULL, begin_all, NULL);
	pthread_create(&ender, NULL, end_all, NULL);
	pthread_join(beginner, NULL);
	pthread_join(ender, NULL);
	put(directly);
	put(by_log2);
	put(by_peer);
	for (uint32_t id = 0; id < NR; id++) {
		char peer[16];
		snprintf(peer, sizeof(peer), "peer-%u", id % 7);
		wrong += requests[id].latency + requests[id].begin[1] < requests[id].end[0] ||
			 requests[id].latency + requests[id].begin[0] > requests[id].end[1] || strcmp(peer, requests[id].peer) != 0;
	}
	printf("{\"wrong\": %u}\n", wrong);
	return 0;
}
