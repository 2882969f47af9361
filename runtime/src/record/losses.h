/* SPDX-License-Identifier: MIT */
/*
 * record/losses.h - what forked children have lost of a sink's records. They count in memory that they share with the
 * process that opened the sink: so that one can tell of it, however a child ends, and whatever user it has become.
 */
#ifndef TP_LOSSES_H
#define TP_LOSSES_H

#include <stdbool.h>

#include <tp/sink.h>

struct tp_losses_of_child {
	int pid; /* in the child's own numbers; 0: of several */
	unsigned long lost[TP_NR_LOST];
};

/* A sink's. */
struct tp_losses {
	struct tp_losses_of_child *of; /* the memory that is shared */
	struct tp_losses_of_child *own; /* its part of this child, which has lost something; or NULL */
	int child;                      /* this process, which is a child; 0: it has opened the sink */
};

/* False: there is no memory. */
bool tp_losses_begin(struct tp_losses *losses);
void tp_losses_end(const struct tp_losses *losses);

/* In a forked child: from here on what sink loses is counted there, too. */
void tp_losses_in_child(struct tp_losses *losses, struct tp_sink *sink);

/*
 * The next child that has lost records, in the process that opened the sink; *at is 0 before the first.
 * False: there is no more.
 */
bool tp_losses_next(const struct tp_losses *losses, unsigned int *at, struct tp_losses_of_child *child);

#endif /* TP_LOSSES_H */
