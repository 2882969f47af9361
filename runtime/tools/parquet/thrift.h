/* SPDX-License-Identifier: MIT */
/*
 * thrift.h - structures in Thrift's compact protocol, as the heads and the foot of a Parquet file have it:
 * https://github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
#ifndef THRIFT_H
#define THRIFT_H

#include "base/text.h"

#define THRIFT_DEPTH 8

enum thrift_type { THRIFT_TRUE = 1, THRIFT_FALSE = 2, THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

/* One that is being written. Fields come in the order of their numbers. */
struct thrift {
	struct tp_buffer *to;
	int16_t last[THRIFT_DEPTH]; /* field of each open structure */
	unsigned int depth;
};

/* Begins a structure: that of the whole, or one of a list. */
void thrift_begin(struct thrift *thrift);

/* The same as a field. */
void thrift_struct(struct thrift *thrift, int16_t id);
void thrift_end(struct thrift *thrift);

void thrift_bool(struct thrift *thrift, int16_t id, bool value);
void thrift_byte(struct thrift *thrift, int16_t id, int8_t value);
void thrift_i32(struct thrift *thrift, int16_t id, int32_t value);
void thrift_i64(struct thrift *thrift, int16_t id, int64_t value);
void thrift_binary(struct thrift *thrift, int16_t id, const void *bytes, size_t len);

/* A field of nr elements, which come next. */
void thrift_list(struct thrift *thrift, int16_t id, enum thrift_type type, size_t nr);
void thrift_element_i32(struct thrift *thrift, int32_t value);
void thrift_element_binary(struct thrift *thrift, const void *bytes, size_t len);

#endif /* THRIFT_H */
