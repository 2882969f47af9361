/* SPDX-License-Identifier: MIT */
/* What a program in C++ can't define itself. */
#define CREATE_TRACE_POINTS
#include "mod.h"
