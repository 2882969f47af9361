/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/proto.h - a message of protocol buffers, written field by field into memory:
 * https://protobuf.dev/programming-guides/encoding. A message within a message has its length in four bytes, or in one, which are
 * filled in at its end. Nothing here allocates, and all of it is safe in signal handlers. For the tools, too.
 */
#ifndef TP_PROTO_H
#define TP_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the value of a field is written. */
enum tp_proto_wire { TP_PROTO_VARINT = 0, TP_PROTO_EIGHT = 1, TP_PROTO_BYTES = 2 };

#define TP_PROTO_LENGTH_BYTES 4u /* seven bits in each: messages are shorter than 2^28 bytes */
#define TP_PROTO_SHORT_MAX 127u  /* bytes of a message whose length has one */

struct tp_proto {
	unsigned char *bytes;
	size_t size, len;
	bool is_full; /* what came after that is not there */
};

/* A length in four bytes, whatever it is. */
static inline void tp_proto_put_length(unsigned char *at, size_t length)
{
	for (unsigned int i = 0; i < TP_PROTO_LENGTH_BYTES; i++, length >>= 7)
		at[i] = (unsigned char)((length & 0x7f) | (i + 1 < TP_PROTO_LENGTH_BYTES ? 0x80 : 0));
}

void tp_proto_number(struct tp_proto *proto, uint32_t field, uint64_t number); /* also of an int64, and an enumeration's value */
void tp_proto_real(struct tp_proto *proto, uint32_t field, double number);
void tp_proto_bytes(struct tp_proto *proto, uint32_t field, const char *bytes, size_t len);

/* At most len bytes, and up to a NUL; \xHH stands for each byte that is no UTF-8, as strings must be. */
void tp_proto_text(struct tp_proto *proto, uint32_t field, const char *text, size_t len);

/* The bytes alone, as a piece of a field that has begun. */
void tp_proto_append(struct tp_proto *proto, const char *bytes, size_t len);

/* Where the message begins, for its end. */
size_t tp_proto_begin(struct tp_proto *proto, uint32_t field);
void tp_proto_end(struct tp_proto *proto, size_t begin);

/* The same of a message that has at most TP_PROTO_SHORT_MAX bytes. */
size_t tp_proto_begin_short(struct tp_proto *proto, uint32_t field);
void tp_proto_end_short(struct tp_proto *proto, size_t begin);

#endif /* TP_PROTO_H */
