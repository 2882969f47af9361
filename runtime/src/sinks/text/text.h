/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/text.h - the text sink on a file by name.
 */
#ifndef TP_TEXT_H
#define TP_TEXT_H

#include <tp/tp.h>

/* On stderr, stdout or the file of that name, which is appended to. NULL with errno set. */
struct tp_sink *tp_text_file_sink(const char *name);

#endif /* TP_TEXT_H */
