/* SPDX-License-Identifier: MIT */
/* json_lines.h - events as JSON, one object a line: docs/tp.md, "tp convert". */
#ifndef JSON_LINES_H
#define JSON_LINES_H

#include "export/export.h"

bool json_lines_write(const struct export_wanted *wanted);

#endif /* JSON_LINES_H */
