/* SPDX-License-Identifier: MIT */
#include "report/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[NR_SIGNALS];
static volatile sig_atomic_t came;

static void note(int sig)
{
	came = sig;
}

void interrupt_begin(void)
{
	const struct sigaction noted = {.sa_handler = note};

	for (size_t i = 0; i < NR_SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN) /* nohup, and programs in a shell's background */
			sigaction(signals[i], &noted, NULL);
	}
}

bool interrupt_came(void)
{
	return came != 0;
}

void interrupt_forget(void)
{
	for (size_t i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	came = 0;
}

void interrupt_end(void)
{
	const int sig = came;

	interrupt_forget();
	if (sig)
		raise(sig);
}
