/* SPDX-License-Identifier: MIT */
/*
 * filter/predicate.c - see predicate.h. What may be compared with what is as in the kernel's parse_pred().
 */
#include <string.h>

#include "filter/decimal.h"
#include "filter/fields.h"
#include "filter/here.h"
#include "filter/operand.h"
#include "filter/predicate.h"

#define ILLEGAL_OPERATION "Illegal operation for field type"

static bool fail(const struct tp_filter_work *work, size_t at, const char *message)
{
	return tp_filter_fail(work->error, at, message);
}

static const char *value_text(const struct tp_filter_work *work)
{
	return work->filter->text + work->predicate->value.at;
}

/* ---- Numbers ---- */

struct range {
	uint64_t first, last;
};

/* As high as numbers go in 64 bits; the processor's number is looked at as it is. */
static uint32_t shift_of(const struct tp_filter_step *step)
{
	return step->value.source == TP_SOURCE_CPU ? 0 : 64 - 8 * step->value.size;
}

static void set_range(struct tp_filter_step *step, uint64_t first, uint64_t last)
{
	step->test = step->value.source == TP_SOURCE_CPU ? TP_TEST_CPU : TP_TEST_RANGE;
	step->base = first << shift_of(step);
	step->span = (last - first) << shift_of(step);
}

/* All comparisons are one: whether the number is in *range, which at first is what it is compared with. False: it never is. */
static bool range_of(const struct tp_filter_work *work, const struct range *all, struct range *range)
{
	const struct range equal = *range;

	switch (work->predicate->op) {
	case TP_FILTER_NE:
		*work->inverted = !*work->inverted;
		return true;
	case TP_FILTER_LE:
		range->first = all->first;
		return true;
	case TP_FILTER_LT:
		*range = (struct range){all->first, equal.first - 1};
		return equal.first != all->first;
	case TP_FILTER_GE:
		range->last = all->last;
		return true;
	case TP_FILTER_GT:
		*range = (struct range){equal.last + 1, all->last};
		return equal.last != all->last;
	default:
		return true;
	}
}

/* All that the step's width has. */
static struct range limits_of(const struct tp_filter_step *step)
{
	const uint32_t bits = 8 * step->value.size - step->value.is_signed;
	const uint64_t max = UINT64_MAX >> (64 - bits);

	return (struct range){step->value.is_signed ? ~max : 0, max};
}

static void compare(const struct tp_filter_work *work, uint64_t value)
{
	struct tp_filter_step *step = work->step;
	const struct range all = limits_of(step);
	struct range range = {value, value};

	if (work->predicate->op == TP_FILTER_BAND) {
		step->test = TP_TEST_BITS;
		step->base = value << shift_of(step);
	} else if (range_of(work, &all, &range)) {
		set_range(step, range.first, range.last);
	} else {
		step->test = TP_TEST_FALSE;
	}
}

/* ---- Floating point ---- */

static bool fail_float(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;

	tp_buffer_printf(&work->error->hint, "a %s is compared with numbers like 1.5, -2e-3 and inf; !(%.*s <= inf) is true for NaN",
			 field->size == sizeof(float) ? "float" : field->size == sizeof(double) ? "double" : "long double",
			 (int)predicate->field.len, work->filter->text + predicate->field.at);
	return fail(work, predicate->value_at, "Illegal floating-point value");
}

static bool long_double(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	static const uint8_t orders[] = {
		[TP_FILTER_NE] = TP_ORDER_EQUAL, [TP_FILTER_EQ] = TP_ORDER_EQUAL, [TP_FILTER_LE] = TP_ORDER_LESS | TP_ORDER_EQUAL,
		[TP_FILTER_LT] = TP_ORDER_LESS, [TP_FILTER_GE] = TP_ORDER_GREATER | TP_ORDER_EQUAL, [TP_FILTER_GT] = TP_ORDER_GREATER,
	};

	long double number;

	if (!tp_long_double_parse(value_text(work), work->predicate->value.len, &number))
		return fail_float(work, field);
	if (work->predicate->op == TP_FILTER_NE)
		*work->inverted = !*work->inverted;
	work->step->test = TP_TEST_LONG_DOUBLE;
	work->step->match = orders[work->predicate->op];
	work->step->length = sizeof(number);
	work->step->bytes = memcpy(work->bytes, &number, sizeof(number));
	return true;
}

/* As in C: 0 equals -0, and NaNs, which are in no range, only differ. */
static bool real(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	struct tp_filter_step *step = work->step;
	const uint64_t sign = UINT64_C(1) << 63, inf = tp_float_infinity(field->size) << shift_of(step);
	const struct range all = {tp_float_order(sign | inf), tp_float_order(inf)};
	uint64_t bits;

	if (!tp_float_parse(value_text(work), predicate->value.len, field->size, &bits))
		return fail_float(work, field);
	bits <<= shift_of(step);
	struct range range = {tp_float_order(bits), tp_float_order(bits)};
	if (!(bits & ~sign))
		range = (struct range){tp_float_order(sign), tp_float_order(0)};
	step->test = TP_TEST_FALSE;
	if (range_of(work, &all, &range)) {
		step->test = TP_TEST_FLOAT;
		step->base = range.first;
		step->span = range.last - range.first;
	}
	return true;
}

/* ---- Integers ---- */

/* The comparison with an integer that means the same as one with a decimal number. False: it is always or never true. */
static bool integer_of(const struct tp_filter_work *work, const struct tp_decimal *decimal, enum tp_filter_op *op, uint64_t *magnitude)
{
	*op = work->predicate->op;
	*magnitude = decimal->whole;
	if (!decimal->has_fraction)
		return true;
	/* The next integer towards 0 is on that side of it. */
	if (decimal->negative)
		*op = *op == TP_FILTER_LT || *op == TP_FILTER_LE ? TP_FILTER_LT : TP_FILTER_GE;
	else
		*op = *op == TP_FILTER_LT || *op == TP_FILTER_LE ? TP_FILTER_LE : TP_FILTER_GT;
	return work->predicate->op != TP_FILTER_EQ && work->predicate->op != TP_FILTER_NE;
}

/* What to write instead of a decimal number. */
static void tell_integer(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	const struct range all = limits_of(work->step);
	struct tp_buffer *hint = &work->error->hint;
	struct tp_decimal decimal;
	enum tp_filter_op op;
	uint64_t magnitude;

	if (!tp_decimal_parse(value_text(work), predicate->value.len, &decimal))
		return;
	if (predicate->op == TP_FILTER_BAND || decimal.whole > all.last || (decimal.negative && !field->is_signed))
		tp_buffer_printf(hint, "it is an integer of %u bits %s a sign", 8 * field->size, field->is_signed ? "with" : "without");
	else if (integer_of(work, &decimal, &op, &magnitude))
		tp_buffer_printf(hint, "it is an integer; write %.*s %s %s%llu", (int)predicate->field.len,
				 work->filter->text + predicate->field.at, tp_filter_op_names[op],
				 decimal.negative && magnitude ? "-" : "", (unsigned long long)magnitude);
	else
		tp_buffer_printf(hint, "it is an integer, and never equals that");
}

/* As in the kernel, the number loses what the field has no room for. */
static bool integer(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	uint64_t value;

	if (!tp_number_parse(value_text(work), predicate->value.len, field->is_signed, &value)) {
		tell_integer(work, field);
		return fail(work, predicate->value_at, "Illegal integer value");
	}
	compare(work, tp_number_truncate(value, field->size, field->is_signed));
	return true;
}

static bool number(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;

	if (field->type == TP_TYPE_TEXT)
		return fail(work, predicate->value_at, "Expecting string field");
	if (field->type == TP_TYPE_CPUS || predicate->op == TP_FILTER_GLOB ||
	    (field->type != TP_TYPE_NUMBER && predicate->op == TP_FILTER_BAND))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	if (field->type != TP_TYPE_FLOAT)
		return integer(work, field);
	return field->size <= sizeof(double) ? real(work, field) : long_double(work, field);
}

/* ---- Texts ---- */

static bool is_for_texts(enum tp_filter_op op)
{
	return op == TP_FILTER_EQ || op == TP_FILTER_NE || op == TP_FILTER_GLOB;
}

static bool name_of_value(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	uint64_t value;

	if (predicate->op != TP_FILTER_GLOB &&
	    tp_filter_field_value(field, value_text(work), predicate->value.len, &value)) {
		compare(work, tp_number_truncate(value, field->size, field->is_signed));
		return true;
	}
	tp_filter_field_values_tell(&work->error->hint, field);
	return fail(work, predicate->value_at, is_for_texts(predicate->op) ? "Expecting numeric field" : ILLEGAL_OPERATION);
}

static bool string(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	struct tp_filter_step *step = work->step;
	const char *text = value_text(work);
	uint32_t len = predicate->value.len;

	if (field->type == TP_TYPE_NUMBER)
		return name_of_value(work, field);
	if (!is_for_texts(predicate->op))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	if (field->type != TP_TYPE_TEXT)
		return fail(work, predicate->value_at, "Expecting numeric field");
	if (predicate->op == TP_FILTER_NE)
		*work->inverted = !*work->inverted;
	if (predicate->op == TP_FILTER_GLOB) {
		if (len && *text == '!') {
			*work->inverted = !*work->inverted;
			text++;
			len--;
		}
		step->match = (uint8_t)tp_text_match_of(&text, &len);
	}
	step->test = TP_TEST_TEXT;
	step->length = len;
	step->bytes = memcpy(work->bytes, text, len);
	return true;
}

/* ---- Processors ---- */

/* A number is the set of just that one. */
static void number_among(const struct tp_filter_work *work, const struct tp_filter_field *field, const struct tp_cpus *cpus)
{
	struct tp_filter_step *step = work->step;

	if (cpus->nr == 1) {
		const uint64_t one = tp_number_truncate(cpus->last, field->size, field->is_signed);
		set_range(step, one, one);
	} else if (work->predicate->op == TP_FILTER_BAND) {
		step->test = TP_TEST_IN_SET;
	} else {
		step->test = TP_TEST_FALSE; /* it is not several at once */
	}
}

static bool cpus(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	struct tp_filter_step *step = work->step;
	struct tp_cpus set;

	if (field->type == TP_TYPE_TEXT || field->type == TP_TYPE_FLOAT ||
	    (predicate->op != TP_FILTER_EQ && predicate->op != TP_FILTER_NE && predicate->op != TP_FILTER_BAND))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	if (!tp_cpus_parse(&set, value_text(work), predicate->value.len)) {
		tp_buffer_printf(&work->error->hint, "the machine's processors are 0-%u", tp_here_last_cpu());
		return fail(work, predicate->value.at, "Invalid cpulist");
	}
	if (predicate->op == TP_FILTER_NE)
		*work->inverted = !*work->inverted;
	step->length = set.last / 8 + 1;
	step->bytes = memcpy(work->bytes, set.bytes, step->length);
	if (field->type == TP_TYPE_CPUS)
		step->test = predicate->op == TP_FILTER_BAND ? TP_TEST_SET_MEETS : TP_TEST_SET_EQUALS;
	else
		number_among(work, field, &set);
	return true;
}

/* ---- Functions ---- */

static bool function(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	const uint64_t size = predicate->function_size ? predicate->function_size : 1;

	if (field->type != TP_TYPE_NUMBER || field->size != sizeof(long))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	set_range(work->step, predicate->function, predicate->function + size - 1);
	if (predicate->op == TP_FILTER_NE)
		*work->inverted = !*work->inverted;
	return true;
}

bool tp_filter_predicate_compile(const struct tp_filter_work *work)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	struct tp_filter_field field;

	const char *name = work->filter->text + predicate->field.at;
	if (!tp_filter_field_find(&field, work->event, name, predicate->field.len)) {
		tp_filter_fields_tell(&work->error->hint, work->event, name, predicate->field.len, NULL);
		work->error->lacks_field = true;
		return fail(work, predicate->field.at, "Field not found");
	}
	if (field.type == TP_TYPE_NONE || predicate->ustring) {
		tp_buffer_printf(&work->error->hint, "%s",
				 field.why_not ? field.why_not : "it is no pointer to a text; leave out .ustring");
		return fail(work, predicate->field.at, ILLEGAL_OPERATION);
	}
	*work->step = (struct tp_filter_step){
		.value = tp_value_at(field.source, field.offset, field.size, field.is_signed),
		.field = field.is_own ? UINT64_C(1) << (field.number < 63 ? field.number : 63) : 0,
	};
	*work->reads_header = *work->reads_header || (!field.is_own && field.source == TP_SOURCE_NUMBER);
	switch (predicate->kind) {
	case TP_FILTER_STRING:
		return string(work, &field);
	case TP_FILTER_CPUS:
		return cpus(work, &field);
	case TP_FILTER_FUNCTION:
		return function(work, &field);
	default:
		return number(work, &field);
	}
}
