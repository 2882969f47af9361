/* SPDX-License-Identifier: MIT */
/*
 * start/start.h - whoever composes the rest: TP_ENABLE and TP_OUTPUT.
 */
#ifndef TP_START_H
#define TP_START_H

#include <stdbool.h>

#include <tp/tp.h>

/* Opens what the environment names. Only the first call does something. */
void tp_environment_start(void);

/*
 * The sink that KIND:ARGUMENT of TP_OUTPUT names. NULL after a message that
 * says why. *written: nothing is left to be done at the end of the process.
 */
struct tp_sink *tp_output_open(const char *output, bool *written);

#endif /* TP_START_H */
