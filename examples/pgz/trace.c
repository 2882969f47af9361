// SPDX-License-Identifier: MIT
/*
 * trace.c - the one file of pgz that defines its tracepoints, from
 * defs/pgz.tp. The others just include the header and call trace_pgz_...().
 */
#define CREATE_TRACE_POINTS
#include "pgz.h"
