/* SPDX-License-Identifier: MIT */
/*
 * start/start.h - whoever composes the rest: TP_ENABLE, TP_OUTPUT and TP_SYNTHETIC.
 */
#ifndef TP_START_H
#define TP_START_H

#include <stdbool.h>

#include <tp/module.h>
#include <tp/tp.h>

/* Opens what the environment names. Only the first call does something. */
void tp_environment_start(void);

/* To be called when a module has come. If it is the program's own, this says which names of TP_ENABLE nothing has; once. */
void tp_environment_tell_unmatched(const struct tp_module *module);

/*
 * The sink that KIND:ARGUMENT of TP_OUTPUT names. NULL after a message that
 * says why. *written: nothing is left to be done at the end of the process.
 */
struct tp_sink *tp_output_open(const char *output, bool *written);

/* What TP_SYNTHETIC says. What is wrong with a definition is told, and the others count. */
void tp_synthetic_define_all(const char *definitions);

#endif /* TP_START_H */
