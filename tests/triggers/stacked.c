/* SPDX-License-Identifier: MIT */
/*
 * stacked.c - stacks through functions that no other file knows, into a trace, by the steps of the command line.
 *
 *	open DIRECTORY OPTIONS   a trace with shop:order and its stacks
 *	hit                      shop:order in a static function
 *	load PATH, unload        a library, bounce.c
 *	bounce                   hit, called by the library
 *	stacks, no_stacks        the trigger is set, or taken off
 *	traceoff, snapshot       triggers of shop:failure, which is hit
 *	await PATH               until it is there
 *	fork                     what follows is done by a child, at whose end the parent ends
 *	kill                     the end, without anything that would be written then
 */
#define CREATE_TRACE_POINTS
#include "shop.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#define ALONE static __attribute__((noinline))

static struct tp_sink *sink;
static void *library;

ALONE void deepest(void)
{
	trace_order(1, 2);
	__asm__ volatile("");
}

ALONE void hit(void)
{
	deepest();
	__asm__ volatile("");
}

static void trigger(const char *patterns, const char *text)
{
	char *error = NULL;

	if (tp_trigger(sink, patterns, text, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		exit(2);
	}
	free(error);
}

static void bounce(void)
{
	void (*call)(void (*)(void));

	*(void **)&call = dlsym(library, "bounce");
	call(hit);
	__asm__ volatile("");
}

static void open_trace(const char *directory, const char *options)
{
	sink = tp_ctf_sink(directory, options);
	if (!sink || tp_enable(sink, "shop:order") != 1)
		exit(2);
	trigger("shop:order", "stacktrace");
}

static void load(const char *path)
{
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
}

static void fork_here(void)
{
	int status;
	const pid_t child = fork();

	if (!child)
		return;
	waitpid(child, &status, 0);
	exit(status ? 1 : 0);
}

static void do_step(const char *step)
{
	if (strcmp(step, "hit") == 0)
		hit();
	else if (strcmp(step, "unload") == 0)
		dlclose(library);
	else if (strcmp(step, "bounce") == 0)
		bounce();
	else if (strcmp(step, "stacks") == 0)
		trigger("shop:order", "stacktrace");
	else if (strcmp(step, "no_stacks") == 0)
		trigger("shop:order", "!stacktrace");
	else if (strcmp(step, "fork") == 0)
		fork_here();
	else if (strcmp(step, "kill") == 0)
		kill(getpid(), SIGKILL);
	else {
		trigger("shop:failure", step);
		trace_failure(1, "text");
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	for (char **step = argv + 1; *step; step++) {
		if (strcmp(*step, "open") == 0) {
			open_trace(step[1], step[2]);
			step += 2;
		} else if (strcmp(*step, "load") == 0) {
			load(*++step);
		} else if (strcmp(*step, "await") == 0) {
			for (step++; access(*step, F_OK) != 0;)
				usleep(1000);
		} else {
			do_step(*step);
		}
	}
	return sink ? tp_sink_close(sink) != 0 : 0;
}
