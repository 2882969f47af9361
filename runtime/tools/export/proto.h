/* SPDX-License-Identifier: MIT */
/*
 * proto.h - a message of protocol buffers, written field by field into memory: https://protobuf.dev/programming-guides/encoding.
 * A message within a message has its length in four bytes, which are filled in at its end.
 */
#ifndef PROTO_H
#define PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	unsigned char *bytes;
	size_t size, len;
	bool is_full; /* what came after that is not there */
};

void proto_number(struct proto *proto, uint32_t field, uint64_t number); /* also of an int64, and an enumeration's value */
void proto_real(struct proto *proto, uint32_t field, double number);
void proto_bytes(struct proto *proto, uint32_t field, const char *bytes, size_t len);

/* At most len bytes, and up to a NUL; \xHH stands for each byte that is no UTF-8, as strings must be. */
void proto_text(struct proto *proto, uint32_t field, const char *text, size_t len);

/* Where the message begins, for its end. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t begin);

#endif /* PROTO_H */
