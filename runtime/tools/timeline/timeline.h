/* SPDX-License-Identifier: MIT */
/* timeline.h - traces as a picture, which needs no viewer but a browser: threads, spans and counters over time. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "export/export.h"

/* A file that ends in .html is a page with the picture; any other is SVG. */
bool timeline_write(const struct export_wanted *wanted);

#endif /* TIMELINE_H */
