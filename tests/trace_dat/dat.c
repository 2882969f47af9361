// SPDX-License-Identifier: MIT
/*
 * dat THREADS ROUNDS [slow|wait|kill|fork|FLIGHT SNAPSHOT]: hits the events of
 * dat.tp, in each of so many threads, and in a child for "fork". Then it waits for a line of input; or kills itself;
 * or makes a snapshot of a flight recorder that it has in FLIGHT.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "dat.h"

static unsigned int rounds;
static bool slow; /* with pauses that are too long for the bits that the ring buffer has for most */
static pthread_barrier_t begin; /* all at once: else one takes on the stream of another that has ended */

static void hit_all(const struct dat_values *v)
{
	trace_numbers(v);
	trace_flags(v);
	trace_symbolic(v);
	trace_flags_u64(v);
	trace_symbolic_u64(v);
	trace_seconds(v);
	trace_strings(v);
	trace_rel_strings(v);
	trace_hex(v);
	trace_length(v);
	trace_rel_length(v);
	trace_bitmask(v);
	trace_rel_bitmask(v);
	trace_cpumask(v);
	trace_rel_cpumask(v);
	trace_sockaddr(v);
	trace_rel_sockaddr(v);
	trace_pointers(v);
	trace_array(v);
	trace_rel_array(v);
	trace_dynamic_array(v);
	trace_hex_dump(v);
	trace_rel_hex_dump(v);
	trace_literals(v);
	trace_names(v);
	trace_nothing(0);
}

/* Around the ends of small events, of pages, and of what a record can be. */
static void hit_big(unsigned int round)
{
	static const unsigned int sizes[] = {0, 1, 87, 88, 89, 90, 91, 92, 93, 2000, 4000, 4030, 4040, 4050, 4060, 8100,
					     65500};
	const unsigned int nr = sizeof(sizes) / sizeof(sizes[0]);

	trace_big(round, sizes[round % nr] + round / nr);
}

static void *hit(void *arg)
{
	static const char *const texts[] = {"", "a", "two words", "gr\303\274n", "a longer text, with 100 signs %d %s"};
	static const uint32_t words[] = {1, 2, 0xffffffff, 0x80000000, 77, 6, 7};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(8080)};
	char name[16];

	snprintf(name, sizeof(name), "worker %u", (unsigned int)(uintptr_t)arg);
	prctl(PR_SET_NAME, name);
	trace_nothing(0);
	pthread_barrier_wait(&begin);
	for (unsigned int i = 0; i < rounds; i++) {
		struct dat_values v = {
			.i = (int)(i * 7 % 13) - 3, .byte = (unsigned char)(i * 3), .s = (short)(i * 991), .ll = -(long long)i * i,
			.u64 = i % 4 ? (uint64_t)i << 38 | i : 3, .text = texts[i % 5], .words = words, .nr_words = i % 8,
			.address = &address,
		};
		address.sin_addr.s_addr = htonl(0x7f000001u + i);
		hit_all(&v);
		hit_big(i);
		if (slow)
			usleep(140000u << i % 2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[1]) : 0;
	const char *end = argc > 3 ? argv[3] : "";
	pthread_t ids[64];

	if (threads < 1 || threads > 64)
		return 2;
	rounds = (unsigned int)atoi(argv[2]);
	slow = strcmp(end, "slow") == 0;
	struct tp_sink *flight = argc > 4 ? tp_ctf_sink(end, "mode=flight,packet=128K,packets=2") : NULL;
	if (argc > 4 && (!flight || tp_enable(flight, "*") < 0))
		return 1;
	pthread_barrier_init(&begin, NULL, 1);
	if (strcmp(end, "fork") == 0 && fork() == 0) {
		hit(NULL);
		exit(0);
	}
	pthread_barrier_init(&begin, NULL, threads);
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, hit, (void *)(uintptr_t)i);
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	wait(NULL);
	if (strcmp(end, "wait") == 0) {
		puts("waiting");
		fflush(stdout);
		getchar();
	}
	if (flight && tp_ctf_snapshot(flight, argv[4]) < 0)
		return 1;
	if (strcmp(end, "kill") == 0)
		raise(SIGKILL);
	return 0;
}
