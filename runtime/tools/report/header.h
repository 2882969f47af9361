/* SPDX-License-Identifier: MIT */
/* header.h - lines that say what a report is of: the traces' hosts, programs, clocks and times. */
#ifndef REPORT_HEADER_H
#define REPORT_HEADER_H

#include "read/traces.h"

/* A line for each of the first traces, each of which begins with "# ". False, and a message: they can't be written. */
bool header_print(const struct traces *traces, bool with_colours);

#endif /* REPORT_HEADER_H */
