/* SPDX-License-Identifier: MIT */
#include "parquet/thrift.h"

#include "parquet/packed.h"

#define BYTE 3
#define SHORT_LIST 15

static void put_byte(struct thrift *thrift, unsigned int byte)
{
	tp_buffer_put(thrift->to, &(char){(char)byte}, 1);
}

static void put_signed(struct thrift *thrift, int64_t number)
{
	packed_varint(thrift->to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

/* Numbers of fields are written as how much they are more than the one before. */
static void put_field(struct thrift *thrift, int16_t id, unsigned int type)
{
	int16_t *last = &thrift->last[thrift->depth - 1];

	put_byte(thrift, (unsigned int)(id - *last) << 4 | type);
	*last = id;
}

void thrift_begin(struct thrift *thrift)
{
	thrift->last[thrift->depth++] = 0;
}

void thrift_struct(struct thrift *thrift, int16_t id)
{
	put_field(thrift, id, THRIFT_STRUCT);
	thrift_begin(thrift);
}

void thrift_end(struct thrift *thrift)
{
	put_byte(thrift, 0);
	thrift->depth--;
}

void thrift_bool(struct thrift *thrift, int16_t id, bool value)
{
	put_field(thrift, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_byte(struct thrift *thrift, int16_t id, int8_t value)
{
	put_field(thrift, id, BYTE);
	put_byte(thrift, (unsigned char)value);
}

void thrift_i32(struct thrift *thrift, int16_t id, int32_t value)
{
	put_field(thrift, id, THRIFT_I32);
	put_signed(thrift, value);
}

void thrift_i64(struct thrift *thrift, int16_t id, int64_t value)
{
	put_field(thrift, id, THRIFT_I64);
	put_signed(thrift, value);
}

void thrift_element_binary(struct thrift *thrift, const void *bytes, size_t len)
{
	packed_varint(thrift->to, len);
	tp_buffer_put(thrift->to, bytes, len);
}

void thrift_binary(struct thrift *thrift, int16_t id, const void *bytes, size_t len)
{
	put_field(thrift, id, THRIFT_BINARY);
	thrift_element_binary(thrift, bytes, len);
}

void thrift_list(struct thrift *thrift, int16_t id, enum thrift_type type, size_t nr)
{
	put_field(thrift, id, THRIFT_LIST);
	put_byte(thrift, (unsigned int)(nr < SHORT_LIST ? nr : SHORT_LIST) << 4 | type);
	if (nr >= SHORT_LIST)
		packed_varint(thrift->to, nr);
}

void thrift_element_i32(struct thrift *thrift, int32_t value)
{
	put_signed(thrift, value);
}
