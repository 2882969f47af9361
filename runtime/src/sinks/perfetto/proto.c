/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/proto.c - see proto.h.
 */
#include <string.h>

#include "base/text.h"
#include "sinks/perfetto/proto.h"

#define VARINT_MAX 10

void tp_proto_append(struct tp_proto *proto, const char *bytes, size_t len)
{
	if (proto->is_full || len > proto->size - proto->len) {
		proto->is_full = true;
		return;
	}
	memcpy(proto->bytes + proto->len, bytes, len);
	proto->len += len;
}

/* Where up to so many bytes can be written; NULL: there is no room. */
static inline unsigned char *room(struct tp_proto *proto, size_t most)
{
	proto->is_full = proto->is_full || proto->size - proto->len < most;
	return proto->is_full ? NULL : proto->bytes + proto->len;
}

static inline unsigned char *put_varint(unsigned char *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (unsigned char)(number | 0x80);
	*at++ = (unsigned char)number;
	return at;
}

/* A tag and a number behind it. */
static inline void put_head(struct tp_proto *proto, uint32_t field, enum tp_proto_wire wire, uint64_t number)
{
	unsigned char *at = room(proto, (size_t)2 * VARINT_MAX);

	if (at)
		proto->len = (size_t)(put_varint(put_varint(at, (uint64_t)field << 3 | wire), number) - proto->bytes);
}

void tp_proto_number(struct tp_proto *proto, uint32_t field, uint64_t number)
{
	put_head(proto, field, TP_PROTO_VARINT, number);
}

void tp_proto_real(struct tp_proto *proto, uint32_t field, double number)
{
	uint64_t bits;
	unsigned char *at = room(proto, VARINT_MAX + sizeof(bits));

	if (!at)
		return;
	at = put_varint(at, (uint64_t)field << 3 | TP_PROTO_EIGHT);
	memcpy(&bits, &number, sizeof(bits));
	for (size_t i = 0; i < sizeof(bits); i++, bits >>= 8)
		*at++ = (unsigned char)bits;
	proto->len = (size_t)(at - proto->bytes);
}

void tp_proto_bytes(struct tp_proto *proto, uint32_t field, const char *bytes, size_t len)
{
	put_head(proto, field, TP_PROTO_BYTES, len);
	tp_proto_append(proto, bytes, len);
}

/* Bytes of the character there; 0: it is none. */
static size_t char_at(const char *text, size_t len)
{
	char c[5] = "";

	if ((unsigned char)*text < 0x80)
		return 1;
	memcpy(c, text, len < 4 ? len : 4);
	return tp_utf8_char(c);
}

static void put_escaped(struct tp_proto *proto, uint32_t field, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const size_t begin = tp_proto_begin(proto, field);
	char escape[4] = "\\x";

	for (size_t at = 0, taken; at < len; at += taken ? taken : 1) {
		taken = char_at(text + at, len - at);
		escape[2] = digits[(unsigned char)text[at] >> 4];
		escape[3] = digits[(unsigned char)text[at] & 15];
		tp_proto_append(proto, taken ? text + at : escape, taken ? taken : sizeof(escape));
	}
	tp_proto_end(proto, begin);
}

void tp_proto_text(struct tp_proto *proto, uint32_t field, const char *text, size_t len)
{
	size_t whole = 0, taken;

	len = strnlen(text, len);
	while (whole < len && (taken = char_at(text + whole, len - whole)) != 0)
		whole += taken;
	if (whole == len)
		tp_proto_bytes(proto, field, text, len);
	else
		put_escaped(proto, field, text, len);
}

static size_t begin_with(struct tp_proto *proto, uint32_t field, size_t length_bytes)
{
	unsigned char *at = room(proto, VARINT_MAX + length_bytes);

	if (at)
		proto->len = (size_t)(put_varint(at, (uint64_t)field << 3 | TP_PROTO_BYTES) + length_bytes - proto->bytes);
	return proto->len;
}

size_t tp_proto_begin(struct tp_proto *proto, uint32_t field)
{
	return begin_with(proto, field, TP_PROTO_LENGTH_BYTES);
}

void tp_proto_end(struct tp_proto *proto, size_t begin)
{
	if (!proto->is_full)
		tp_proto_put_length(proto->bytes + begin - TP_PROTO_LENGTH_BYTES, proto->len - begin);
}

size_t tp_proto_begin_short(struct tp_proto *proto, uint32_t field)
{
	return begin_with(proto, field, 1);
}

void tp_proto_end_short(struct tp_proto *proto, size_t begin)
{
	if (!proto->is_full)
		proto->bytes[begin - 1] = (unsigned char)(proto->len - begin);
}
