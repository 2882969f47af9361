/* SPDX-License-Identifier: MIT */
/*
 * base/sandbox.c - see sandbox.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sandbox.h"

bool tp_sandboxed;

void tp_sandbox_start(void)
{
	const char *value = secure_getenv("TP_SANDBOX");

	tp_sandboxed = value && *value && strcmp(value, "0") != 0;
}
