/* SPDX-License-Identifier: MIT */
/* A module with nothing but a custom event. */
#define CREATE_TRACE_POINTS
#include "custom.h"
