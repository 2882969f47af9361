/* SPDX-License-Identifier: MIT */
/*
 * late.c - a program without the runtime, which loads ./module.so, hits its tracepoint, unloads it, and does all that again.
 * In a thread, too, that was there before: it has variables of the runtime's, which was loaded later.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static void (*hit)(int n);
static sem_t loaded, done;

static void *in_thread(void *unused)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&loaded);
		hit(10 + i);
		sem_post(&done);
	}
	return unused;
}

static void *load(void)
{
	void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);

	if (!module) {
		fprintf(stderr, "late: %s\n", dlerror());
		exit(1);
	}
	*(void **)&hit = dlsym(module, "module_hit");
	return module;
}

int main(void)
{
	pthread_t thread;

	sem_init(&loaded, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 2;
	for (int i = 0; i < 2; i++) {
		void *module = load();
		hit(i);
		sem_post(&loaded);
		sem_wait(&done);
		if (dlclose(module) != 0)
			return 3;
	}
	pthread_join(thread, NULL);
	return 0;
}
