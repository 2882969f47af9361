/* SPDX-License-Identifier: MIT */
/*
 * A probe of TRACER's is registered, taken off, and waited for. The argument
 * says what another thread does, which has hit the tracepoint: 0 there is
 * none, 1 it sleeps, 2 it hits the tracepoint all the while, and calls a second probe.
 */
#include <unistd.h>

#include TRACER

static uint64_t hits; /* of the other thread */
static bool is_busy, is_over;
static pthread_t other;

static void hit(uint64_t number)
{
	HIT(number, 1, "a task's name");
}

static void *be_the_other_thread(void *unused)
{
	pin(1);
	for (uint64_t i = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
		hit(i);
		__atomic_store_n(&hits, i, __ATOMIC_RELAXED);
		while (!is_busy)
			pause();
	}
	return unused;
}

/*
 * While the other thread is not running, an operation is so fast that a whole
 * measurement fits in such a pause: so none begins but when it is seen to run.
 */
static void wait_for_a_hit(void)
{
	uint64_t before = __atomic_load_n(&hits, __ATOMIC_RELAXED);

	while (__atomic_load_n(&hits, __ATOMIC_RELAXED) == before)
		;
}

/* LTTng-UST's destructors take away what it uses. */
static void stop_other_thread(void)
{
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
}

static void start_other_thread(bool busy)
{
	static char data;

	is_busy = busy;
	add_probe(&data);
	if (pthread_create(&other, NULL, be_the_other_thread, NULL) != 0)
		fail("no thread can be made");
	pin(0);
	while (!__atomic_load_n(&hits, __ATOMIC_RELAXED))
		;
	if (busy) {
		atexit(stop_other_thread);
	} else {
		remove_probe(&data);
		usleep(1000);
	}
}
#undef PREPARE
#define PREPARE(argument) \
	do { \
		if ((argument) > 0) \
			start_other_thread((argument) == 2); \
	} while (0)

static void add_and_remove_probe(void)
{
	if (is_busy)
		wait_for_a_hit();
	add_probe(NULL);
	remove_probe(NULL);
}
#undef HIT
#define HIT(number, id, name) ((void)(number), add_and_remove_probe())
