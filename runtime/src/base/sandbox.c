/* SPDX-License-Identifier: MIT */
/*
 * base/sandbox.c - see sandbox.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/sandbox.h"

bool tp_sandboxed;

void tp_sandbox_start(void)
{
	const char *value = secure_getenv("TP_SANDBOX");

	tp_sandboxed = value && strcmp(value, "1") == 0;
	if (value && *value && !tp_sandboxed && strcmp(value, "0") != 0)
		tp_complain("TP_SANDBOX=%s: write 1 for a program that forbids itself system calls, or 0; it is 0 now", value);
}
