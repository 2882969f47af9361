/* SPDX-License-Identifier: MIT */
#include "export/proto.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* How the value of a field is written. */
enum wire { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2 };

#define LENGTH_BYTES 4 /* seven bits in each: messages are shorter than 2^28 bytes */
#define VARINT_MAX 10

static void put(struct proto *proto, const void *bytes, size_t len)
{
	if (proto->is_full || len > proto->size - proto->len) {
		proto->is_full = true;
		return;
	}
	memcpy(proto->bytes + proto->len, bytes, len);
	proto->len += len;
}

static void put_varint(struct proto *proto, uint64_t number)
{
	unsigned char bytes[VARINT_MAX];
	size_t len = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[len++] = (unsigned char)(number | 0x80);
	bytes[len++] = (unsigned char)number;
	put(proto, bytes, len);
}

static void put_tag(struct proto *proto, uint32_t field, enum wire wire)
{
	put_varint(proto, (uint64_t)field << 3 | wire);
}

void proto_number(struct proto *proto, uint32_t field, uint64_t number)
{
	put_tag(proto, field, WIRE_VARINT);
	put_varint(proto, number);
}

void proto_real(struct proto *proto, uint32_t field, double number)
{
	put_tag(proto, field, WIRE_EIGHT);
	put(proto, &number, sizeof(number));
}

void proto_bytes(struct proto *proto, uint32_t field, const char *bytes, size_t len)
{
	put_tag(proto, field, WIRE_BYTES);
	put_varint(proto, len);
	put(proto, bytes, len);
}

/* Bytes of the character there; 0: it is none. */
static size_t char_at(const char *text, size_t len)
{
	char c[5] = "";

	memcpy(c, text, len < 4 ? len : 4);
	return tp_utf8_char(c);
}

static void put_escaped(struct proto *proto, uint32_t field, const char *text, size_t len)
{
	const size_t begin = proto_begin(proto, field);
	char escape[8];

	for (size_t at = 0, taken; at < len; at += taken ? taken : 1) {
		taken = char_at(text + at, len - at);
		if (taken)
			put(proto, text + at, taken);
		else
			put(proto, escape, (size_t)snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)text[at]));
	}
	proto_end(proto, begin);
}

void proto_text(struct proto *proto, uint32_t field, const char *text, size_t len)
{
	size_t whole = 0, taken;

	len = strnlen(text, len);
	while (whole < len && (taken = char_at(text + whole, len - whole)) != 0)
		whole += taken;
	if (whole == len)
		proto_bytes(proto, field, text, len);
	else
		put_escaped(proto, field, text, len);
}

size_t proto_begin(struct proto *proto, uint32_t field)
{
	static const unsigned char nothing[LENGTH_BYTES];

	put_tag(proto, field, WIRE_BYTES);
	put(proto, nothing, sizeof(nothing));
	return proto->len;
}

void proto_end(struct proto *proto, size_t begin)
{
	size_t len = proto->len - begin;

	if (proto->is_full)
		return;
	for (size_t i = LENGTH_BYTES; i > 0; i--, len >>= 7)
		proto->bytes[begin - i] = (unsigned char)((len & 0x7f) | (i > 1 ? 0x80 : 0));
}
