/* SPDX-License-Identifier: MIT */
/* tables.h - events as tables: a directory with a Parquet file for each event, a column for each field. */
#ifndef TABLES_H
#define TABLES_H

#include "export/export.h"

/* The directory must not be there; it appears when it is complete. */
bool tables_write(const struct export_wanted *wanted);

#endif /* TABLES_H */
