/* SPDX-License-Identifier: MIT */
/* A program that unloads a module with a custom event while a thread is in the event's writer. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "mod.h"

long slowly(int n);

static int in_writer;

/* Called by the event's TP_fast_assign. */
long slowly(int n)
{
	__atomic_store_n(&in_writer, 1, __ATOMIC_RELEASE);
	usleep(200000);
	return n;
}

static void *hit(void *unused)
{
	trace_mod_hit(1);
	return unused;
}

int main(void)
{
	void *module = dlopen("./slow.so", RTLD_NOW);
	struct tp_sink *sink = tp_text_sink(stdout);
	pthread_t thread;

	if (!module || tp_enable(sink, "slow:*") != 1 || pthread_create(&thread, NULL, hit, NULL) != 0)
		return 1;
	while (!__atomic_load_n(&in_writer, __ATOMIC_ACQUIRE))
		usleep(1000);
	dlclose(module);
	pthread_join(thread, NULL);
	return tp_sink_close(sink) != 0;
}
