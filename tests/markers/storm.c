/* SPDX-License-Identifier: MIT */
/*
 * Modules with a marker come and go and are hit, while probes and sinks do so,
 * too: storm MODULE...
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tp/marker.h>
#include <tp/tp.h>

#define ROUNDS 150
#define HITS 300

static unsigned long calls, wrong;
static bool done;

static void count(void *data, void *marker, const char *fmt, va_list *args)
{
	char text[64];
	int i = va_arg(*args, int);

	(void)data;
	(void)fmt;
	snprintf(text, sizeof(text), "%s", va_arg(*args, const char *));
	if (i < 0 || i >= HITS || text[0] != 'm' || ((struct marker *)marker)->name[0] != 'm')
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void *come_and_go(void *path)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*hit)(int n);
		if (!module) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		*(void **)&hit = dlsym(module, "module_hit");
		hit(HITS);
		dlclose(module);
	}
	return NULL;
}

static void *listen(void *unused)
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		marker_probe_register("module_hit", "i %d of %s", count, NULL);
		marker_probe_unregister("module_hit", count, NULL);
		marker_synchronize_unregister();
	}
	return unused;
}

static void *record(void *sink)
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		tp_enable(sink, "marker:*");
		tp_disable(sink, "marker:module_*");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t modules[4], others[2];
	struct tp_sink *sink = tp_text_sink(stdout);
	int nr = argc - 1 < 4 ? argc - 1 : 4;

	marker_probe_register("module_hit", "i %d of %s", count, &calls);
	pthread_create(&others[0], NULL, listen, NULL);
	pthread_create(&others[1], NULL, record, sink);
	for (int i = 0; i < nr; i++)
		pthread_create(&modules[i], NULL, come_and_go, argv[i + 1]);
	for (int i = 0; i < nr; i++)
		pthread_join(modules[i], NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	marker_probe_unregister("module_hit", count, &calls);
	tp_sink_close(sink);
	/* Each hit has called the probe that was there all the time. */
	fprintf(stderr, "%s, %lu wrong\n", calls >= (unsigned long)nr * ROUNDS * HITS ? "all" : "too few", wrong);
	return 0;
}
