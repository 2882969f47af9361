/* SPDX-License-Identifier: MIT */
/*
 * base/json.h - texts in JSON.
 */
#ifndef TP_JSON_H
#define TP_JSON_H

#include "base/buffer.h"

/* Appends the text in quotes. Bytes that are no UTF-8 are shown as \xff, as text. */
void tp_json_string(struct tp_buffer *b, const char *text);

#endif /* TP_JSON_H */
