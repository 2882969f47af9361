/* SPDX-License-Identifier: MIT */
/* perfetto.h - events as a Perfetto trace, for ui.perfetto.dev and its Trace Processor: tp help convert. */
#ifndef PERFETTO_H
#define PERFETTO_H

#include "export/export.h"

bool perfetto_write(const struct export_wanted *wanted);

#endif /* PERFETTO_H */
