/* SPDX-License-Identifier: MIT */
/*
 * examples.c - the kernel's events, hit by lines from standard input. Histograms are triggers here:
 *
 *	trigger PATTERNS TRIGGER       0 or more, or "error" and the text; of no sink
 *	logged PATTERNS TRIGGER        the same, of a text sink on standard output
 *	hist PATTERNS                  what is shown, and a line "."
 *	kmalloc CALL_SITE REQ ALLOC    CALL_SITE may be a function of this program, with "+N" behind it
 *	receive SKBADDR LEN            netif_receive_skb, from napi_gro_receive()
 *	backlog SKBADDR LEN            the same, from process_backlog()
 *	rx SKBADDR LEN                 netif_rx
 *	enter ID, read COUNT, recvfrom SIZE
 *	fork CHILD_COMM, exec FILENAME, exit COMM
 *	thread NAME LINE               the line, in a thread of that name
 */
#define CREATE_TRACE_POINTS
#include "kernel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <tp/tp.h>

#include "../lines.h"

static void obey(char *line);

static struct tp_sink *log_sink;

static void set_trigger(struct tp_sink *sink, char *rest)
{
	char *trigger = strchr(rest, ' ');
	char *error = NULL;

	*trigger++ = '\0';
	const int result = tp_trigger(sink, rest, trigger, &error);
	if (result < 0)
		printf("error %d %s\n", result, error ? error : "");
	else
		printf("%d\n", result);
	free(error);
}

static void show(const char *patterns)
{
	char *text = tp_hist_text(patterns, false);

	printf("%s.\n", text ? text : "");
	free(text);
}

/* ---- Hits ---- */

/* Functions that are in stacks by name: none is left before the event is hit, and no two are the same to the compiler. */
#define CALLER(name, call)                                                              \
	void name(const void *skbaddr, unsigned int len);                               \
	__attribute__((noinline)) void name(const void *skbaddr, unsigned int len)      \
	{                                                                               \
		static const char *volatile left;                                       \
		call(skbaddr, len);                                                     \
		left = #name;                                                           \
		(void)left;                                                             \
	}

CALLER(netif_receive_skb_internal, trace_netif_receive_skb)
CALLER(napi_gro_receive, netif_receive_skb_internal)
CALLER(process_backlog, netif_receive_skb_internal)

static unsigned long address_of(char *text)
{
	char *offset = strchr(text, '+');

	if (!offset)
		return strtoul(text, NULL, 0);
	*offset++ = '\0';
	return (unsigned long)dlsym(RTLD_DEFAULT, text) + strtoul(offset, NULL, 0);
}

static void kmalloc(char *rest)
{
	char *site = strtok(rest, " ");
	const unsigned long req = strtoul(strtok(NULL, " "), NULL, 0);

	trace_kmalloc(address_of(site), req, strtoul(strtok(NULL, " "), NULL, 0));
}

static void hit_skb(char kind, char *rest)
{
	char *len;
	const void *skbaddr = (const void *)strtoul(rest, &len, 16);
	const unsigned int n = (unsigned int)atoi(len);

	if (kind == 'r')
		trace_netif_rx(skbaddr, n);
	else if (kind == 'n')
		napi_gro_receive(skbaddr, n);
	else
		process_backlog(skbaddr, n);
}

struct errand {
	const char *name;
	char *line;
};

static void *run_errand(void *data)
{
	const struct errand *errand = data;

	prctl(PR_SET_NAME, errand->name);
	obey(errand->line);
	return NULL;
}

static void in_thread(char *rest)
{
	struct errand errand = {.name = strtok(rest, " "), .line = strtok(NULL, "")};
	pthread_t thread;

	pthread_create(&thread, NULL, run_errand, &errand);
	pthread_join(thread, NULL);
}

/* ---- Lines ---- */

static void obey(char *line)
{
	char *rest = strchr(line, ' ');

	*rest++ = '\0';
	if (strcmp(line, "trigger") == 0)
		set_trigger(NULL, rest);
	else if (strcmp(line, "logged") == 0)
		set_trigger(log_sink, rest);
	else if (strcmp(line, "hist") == 0)
		show(rest);
	else if (strcmp(line, "kmalloc") == 0)
		kmalloc(rest);
	else if (strcmp(line, "receive") == 0)
		hit_skb('n', rest);
	else if (strcmp(line, "backlog") == 0)
		hit_skb('b', rest);
	else if (strcmp(line, "rx") == 0)
		hit_skb('r', rest);
	else if (strcmp(line, "enter") == 0)
		trace_sys_enter(atol(rest));
	else if (strcmp(line, "read") == 0)
		trace_sys_enter_read(strtoul(rest, NULL, 0));
	else if (strcmp(line, "recvfrom") == 0)
		trace_sys_enter_recvfrom(strtoul(rest, NULL, 0));
	else if (strcmp(line, "fork") == 0)
		trace_sched_process_fork(rest);
	else if (strcmp(line, "exec") == 0)
		trace_sched_process_exec(rest);
	else if (strcmp(line, "exit") == 0)
		trace_sched_process_exit(rest);
	else if (strcmp(line, "thread") == 0)
		in_thread(rest);
}

int main(void)
{
	log_sink = tp_text_sink(stdout);
	obey_lines(obey);
	tp_sink_close(log_sink);
	return 0;
}
