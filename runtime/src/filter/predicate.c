/* SPDX-License-Identifier: MIT */
/*
 * filter/predicate.c - see predicate.h. What may be compared with what is as in the kernel's parse_pred().
 */
#include <string.h>

#include "filter/fields.h"
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

/* The processor's number is looked at as it is; others as high as they go. */
static void set_range(struct tp_filter_step *step, uint64_t first, uint64_t last)
{
	const uint32_t by = step->value.source == TP_SOURCE_CPU ? 0 : 64 - 8 * step->value.size;

	step->test = step->value.source == TP_SOURCE_CPU ? TP_TEST_CPU : TP_TEST_RANGE;
	step->base = first << by;
	step->span = (last - first) << by;
}

/* The lowest or the highest number of the step's width. */
static uint64_t limit_of(const struct tp_filter_step *step, bool highest)
{
	const uint32_t bits = 8 * step->value.size - step->value.is_signed;
	const uint64_t max = UINT64_MAX >> (64 - bits);

	return highest ? max : step->value.is_signed ? ~max : 0;
}

/* All comparisons are one: whether the number is in a range. */
static void compare(const struct tp_filter_work *work, uint64_t value)
{
	struct tp_filter_step *step = work->step;
	const uint64_t min = limit_of(step, false), max = limit_of(step, true);

	step->test = TP_TEST_FALSE;
	switch (work->predicate->op) {
	case TP_FILTER_NE:
		*work->inverted = !*work->inverted;
		set_range(step, value, value);
		break;
	case TP_FILTER_LE:
		set_range(step, min, value);
		break;
	case TP_FILTER_LT:
		if (value != min)
			set_range(step, min, value - 1);
		break;
	case TP_FILTER_GE:
		set_range(step, value, max);
		break;
	case TP_FILTER_GT:
		if (value != max)
			set_range(step, value + 1, max);
		break;
	case TP_FILTER_BAND:
		step->test = TP_TEST_BITS;
		step->base = value << (64 - 8 * step->value.size);
		break;
	default:
		set_range(step, value, value);
	}
}

/* As in the kernel, the number loses what the field has no room for. */
static bool number(const struct tp_filter_work *work, const struct tp_filter_field *field)
{
	const struct tp_filter_predicate *predicate = work->predicate;
	uint64_t value;

	if (field->type == TP_TYPE_TEXT)
		return fail(work, predicate->value_at, "Expecting string field");
	if (field->type == TP_TYPE_CPUS || predicate->op == TP_FILTER_GLOB ||
	    (field->type == TP_TYPE_CPU && predicate->op == TP_FILTER_BAND))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	if (!tp_number_parse(value_text(work), predicate->value.len, field->is_signed, &value))
		return fail(work, predicate->value_at, "Illegal integer value");
	compare(work, tp_number_truncate(value, field->size, field->is_signed));
	return true;
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

	if (field->type == TP_TYPE_TEXT ||
	    (predicate->op != TP_FILTER_EQ && predicate->op != TP_FILTER_NE && predicate->op != TP_FILTER_BAND))
		return fail(work, predicate->value_at, ILLEGAL_OPERATION);
	if (!tp_cpus_parse(&set, value_text(work), predicate->value.len)) {
		tp_buffer_printf(&work->error->hint, "the machine's processors are 0-%u", tp_cpus_last());
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

	if (!tp_filter_field_find(&field, work->event, work->filter->text + predicate->field.at, predicate->field.len)) {
		tp_filter_fields_tell(&work->error->hint, work->event);
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
