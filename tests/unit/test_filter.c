/* SPDX-License-Identifier: MIT */
/*
 * test_filter.c - expressions: what they mean, what is refused and where, and what is not looked at.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <tp/define_trace.h>

#include "describe.h"
#include "failing_malloc.h"
#include "filter/filter.h"
#include "util.h"

#include "../processors.h"

/* ---- A record with a field of each kind ---- */

typedef long double other_type; /* whose name does not say which format it is */

struct trace_event_raw_all {
	struct trace_entry ent;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	bool flag;
	char letter;
	double real, not_a_number, minus_zero, infinite;
	float tenth;
	long double wide, no_wide;
	other_type other;
	float several[2];
	const void *pointer;
	const char *name;
	int method;
	uint32_t mode;
	char full[4];
	char fixed[16];
	uint8_t raw[4];
	int32_t pair[2];
	struct point {
		int x, y;
	} point;
	tp_data_loc_t __data_loc_text;
	tp_data_loc_t __rel_loc_later;
	tp_data_loc_t __data_loc_cpus;
	tp_data_loc_t __data_loc_bits;
	tp_data_loc_t __data_loc_broken;
	char __data[128];
};

/* A value that has no room in 32 bits: a long may have none, either. */
#if __SIZEOF_LONG__ == 8
#define TOO_BIG {1ul << 40, "too big"},
#else
#define TOO_BIG
#endif

static const struct trace_print_flags methods[] = {
	{1, "GET"}, {2, "POST"}, {(unsigned long)-1, "NONE"}, TOO_BIG {7, "7"}, {0, NULL},
};
static const struct trace_print_flags modes[] = {{1, "R"}, {2, "W"}, {4, "X"}, {6, "W|X|Q"}, {0, NULL}};

#define ALL(kind, member, name, type, ...) ALL_BY(kind, member, name, type, __VA_ARGS__, NULL, )
#define ALL_BY(kind, member, name, type, table, delimiter, ...) \
	PART(kind, false, trace_event_raw_all, member, name, type, table, delimiter)

static const struct part fields[] = {
	ALL(TP_FIELD, s8, "s8", int8_t, NULL),
	ALL(TP_FIELD, u8, "u8", uint8_t, NULL),
	ALL(TP_FIELD, s16, "s16", int16_t, NULL),
	ALL(TP_FIELD, u16, "u16", uint16_t, NULL),
	ALL(TP_FIELD, s32, "s32", int32_t, NULL),
	ALL(TP_FIELD, u32, "u32", uint32_t, NULL),
	ALL(TP_FIELD, s64, "s64", int64_t, NULL),
	ALL(TP_FIELD, u64, "u64", uint64_t, NULL),
	ALL(TP_FIELD, flag, "flag", bool, NULL),
	ALL(TP_FIELD, flag, "größe$", bool, NULL), /* as C has names, too */
	ALL(TP_FIELD, letter, "letter", char, NULL),
	ALL(TP_FIELD, real, "real", double, NULL),
	ALL(TP_FIELD, not_a_number, "nan", double, NULL),
	ALL(TP_FIELD, minus_zero, "zero", double, NULL),
	ALL(TP_FIELD, infinite, "infinite", double, NULL),
	ALL(TP_FIELD, tenth, "tenth", float, NULL),
	ALL(TP_FIELD, wide, "wide", long double, NULL),
	ALL(TP_FIELD, no_wide, "no_wide", long double, NULL),
	ALL(TP_FIELD, other, "other", other_type, NULL),
	ALL(TP_ARRAY, several, "several", float, NULL),
	ALL(TP_FIELD, pointer, "pointer", const void *, NULL),
	ALL(TP_FIELD, name, "name", const char *, NULL),
	ALL(TP_FIELD, method, "method", int, methods),
	ALL(TP_FIELD, mode, "mode", uint32_t, modes, "|"),
	ALL(TP_ARRAY, full, "full", char, NULL),
	ALL(TP_ARRAY, fixed, "fixed", char, NULL),
	ALL(TP_ARRAY, raw, "raw", uint8_t, NULL),
	ALL(TP_ARRAY, pair, "pair", int32_t, NULL),
	ALL(TP_STRUCT, point, "point", struct point, NULL),
	ALL(TP_STRING, __data_loc_text, "text", char, NULL),
	PART(TP_STRING, true, trace_event_raw_all, __rel_loc_later, "later", char, NULL, NULL),
	ALL(TP_CPUMASK, __data_loc_cpus, "cpus", unsigned long, NULL),
	ALL(TP_BITMASK, __data_loc_bits, "bits", unsigned long, NULL),
	ALL(TP_STRING, __data_loc_broken, "broken", char, NULL),
};

static struct tp_event event = {.system = "test", .name = "all"};

static __attribute__((constructor)) void describe_all(void)
{
	event.event_class = describe(&(struct parts){
		.fields = fields, .nr_fields = NR_OF(fields), .fixed_size = offsetof(struct trace_event_raw_all, __data),
	});
}

static tp_data_loc_t put(struct trace_event_raw_all *record, size_t at, const void *bytes, size_t len)
{
	memcpy(record->__data + at, bytes, len);
	return (tp_data_loc_t)(len << 16 | (offsetof(struct trace_event_raw_all, __data) + at));
}

static struct trace_event_raw_all make_record(void)
{
	static const unsigned long cpus[128 / (8 * sizeof(long))] = {[0] = 1ul << 2 | 1ul << 5, [64 / (8 * sizeof(long))] = 1};
	struct trace_event_raw_all r = {
		.ent = {.type = 77, .flags = 1, .preempt_count = 2, .pid = 1234},
		.s8 = -8, .u8 = 200, .s16 = -16, .u16 = 40000, .s32 = -32, .u32 = 3000000000u, .s64 = INT64_MIN,
		.u64 = UINT64_MAX, .flag = true, .letter = 'x', .method = 2, .mode = 5,
		.full = {'f', 'u', 'l', 'l'}, .fixed = "fixed",
		.real = -2.5e-3, .not_a_number = NAN, .minus_zero = -0.0, .infinite = INFINITY, .tenth = 0.1f, .wide = -0.1L, .no_wide = NAN,
	};
	const uintptr_t address = (uintptr_t)strlen;
	const size_t later = offsetof(struct trace_event_raw_all, __rel_loc_later) + sizeof(tp_data_loc_t);

	r.pointer = (const void *)address;
	r.__data_loc_text = put(&r, 0, "10.0.0.1", 9);
	r.__rel_loc_later = put(&r, 16, "later on", 9) - (tp_data_loc_t)later;
	r.__data_loc_cpus = put(&r, 32, cpus, sizeof(cpus));
	r.__data_loc_bits = put(&r, 48, cpus, sizeof(cpus));
	r.__data_loc_broken = 0xffffu << 16 | 8;
	return r;
}

/* ---- What they mean ---- */

static bool accepts(const char *text)
{
	struct trace_event_raw_all record = make_record();
	struct tp_filter_error error;
	struct tp_filter *filter = tp_filter_new(text, &error);

	ck_assert_msg(filter != NULL, "%s: %s at %zu", text, error.message, error.at);
	ck_assert_str_eq(tp_filter_text(filter), text);
	struct tp_filter_program *program = tp_filter_compile(filter, &event, &error);
	ck_assert_msg(program != NULL, "%s: %s at %zu", text, error.message, error.at);
	tp_filter_free(filter); /* the program needs it no more */
	const bool accepted = tp_filter_accepts(program, &record.ent, sizeof(record));
	tp_filter_program_free(program);
	return accepted;
}

static const char *const accepted[] = {
	"s8 == -8", "s8 < 0", "s8 <= -8", "s8 >= -8", "s8 > -9", "s8 != 8", "s8 & 8", "s8 == 248", "s8 == -0x8",
	"u8 == 200", "u8 > 127", "u8 == 0310", "u8 == 0xC8", "u8 == 456", "u8 & 0xc0", "u8 < 201",
	"s16 == -16", "s16 < 0", "u16 == 40000", "u16 >= 40000", "s32 == -32", "s32 < -31", "u32 == 3000000000",
	"u32 > 2147483647", "s64 == -9223372036854775808", "s64 <= -9223372036854775808", "s64 < 0",
	"u64 == 18446744073709551615", "u64 == 0xffffffffffffffff", "u64 >= 0", "u64 & 1", "flag == 1", "flag & 1",
	"größe$ == 1", "!größe$==0",
	"letter == 120", "pointer != 0", "method == 2", "method == \"POST\"", "method != 'GET'", "method >= \"GET\"",
	"method > \"NONE\"", "mode == \"R|X\"", "mode & \"W|X\"", "mode & \"R\"", "!(mode & \"W\")", "mode < \"W|X|Q\"",
	"full == \"full\"", "full ~ \"*ll\"", "full != \"ful\"", "full != \"full!\"", "fixed == \"fixed\"", "fixed ~ \"f*\"",
	"fixed ~ \"*ed\"", "fixed ~ \"*ixe*\"", "text == \"10.0.0.1\"", "text ~ \"10.*\"", "text ~ \"1*.1\"", "text ~ '*'",
	"text ~ \"!11*\"", "text ~ \"10.?.[0-9].[!2-9]\"", "text ~ \"**\"", "later == \"later on\"", "later ~ \"later*\"",
	"text ~ \"1\\0.*\"", "text ~ \"*[0.]1\"", "later ~ \"l[a-]t*\"", "broken != \"x\"", "!(broken ~ \"*\")",
	"cpus == CPUS{2,5,64}", "cpus & CPUS{5}", "cpus & CPUS{4-6}", "cpus != CPUS{2,5}", "cpus == CPUS{2-5:1/3,64}",
	"u8 & CPUS{100-300}", "cpu & CPUS{all}", "cpu & CPUS{0-N}", "flag & CPUS{0 1, 2}", "u8 == CPUS{200}", "u8 != CPUS{0-3}", "u8 & CPUS{200}", "s8 != CPUS{1}", "s8 != CPUS{1-2}",
	"common_type == 77", "common_flags == 1", "common_preempt_count == 2", "common_pid == 1234",
	"cpu >= 0", "CPU < 8192", "common_cpu != -1", "cpu & CPUS{0-1000}", "pointer.function == strlen",
	"s8==-8&&u8==200", "s8 == 1 || u8 == 200", " ( s8 == -8 ) ", "((((u8 == 200))))", "!s8 == 1", "!!u8 == 200",
	"! ( s8 == 1 || u8 == 1 )", "s8 == 1 || u8 == 1 || u16 == 40000", "s8 == 1 && u8 == 1 || u16 == 40000",
	"u16 == 40000 || s8 == 1 && u8 == 1", "!(s8 == 1) && !(u8 == 1)", "(s8 == 1 || u8 == 200) && (u16 == 40000 || s8 == 2)",
	"real == -0.0025", "real == -2.5e-3", "real==-2.5E-03", "real != -0.00250000001", "real < 0", "real < -.002", "real > -0.003",
	"real >= -2.5e-3", "real <= -25e-4", "real > -1e300", "real < inf", "real > -inf", "real > -18446744073709551615", "real < 0x10",
	"real < 0777", "real < 1.", "real < 1000000000000000000000", "real < -4.9e-324", "!(real > 0)", "real < 1e-400",
	"nan != 0", "nan != inf", "!(nan <= inf)", "!(nan >= -inf)", "!(nan == 0)", "!(nan < 0) && !(nan > 0)",
	"zero == 0", "zero == -0.0", "zero >= 0", "zero <= -0", "!(zero < 0)", "!(zero != 0)", "zero > -5e-324", "zero < 5e-324", "zero == 0e9999",
	"infinite == inf", "infinite > 1.7976931348623157e308", "infinite >= inf", "infinite <= inf", "infinite != -inf", "!(infinite < inf)",
	"tenth == 0.1", "tenth == 0.100000001490116119384765625", "tenth <= 0.1", "tenth >= .1", "tenth != 0.11", "tenth < 3.4e38",
	"wide == -0.1", "wide == -1e-1", "wide >= -.1", "wide <= -0.1", "wide != 0.1", "wide < 0", "wide > -inf", "wide > -0x1", 
#if LDBL_MANT_DIG > DBL_MANT_DIG
	"wide < -0.0999999999999999999", "wide > -1e4000", "wide > -0.1000000000000000001",
#endif
	"no_wide != 0", "!(no_wide <= inf)", "!(no_wide > 0 || no_wide < 0 || no_wide == 0)",
	"tenth > 1e-45", "tenth > -inf", "tenth < 0.10000001", "tenth == 1e-1 && real < 1e5",
	"\ts8\n==\v-8\f&&\ru8 == 200", "text == \"10.0.0.1\" && !later ~ \"x*\"",
};

static const char *const refused[] = {
	"s8 == 8", "s8 > 0", "u8 < 0", "u8 > 255", "u64 > 18446744073709551615", "s64 < -9223372036854775808", "s64 & 1",
	"s8 & 7", "s64 > 9223372036854775807", "text == \"10.0.0.\"", "text == \"10.0.0.12\"",
	"text ~ \"10\"", "text ~ \"!10.*\"", "text ~ \"10.?\"", "text ~ \"\"", "text == ''", "full == \"fullest\"",
	"full ~ \"*l[\"", "fixed ~ \"*ed \"", "later ~ \"*later\"", "text ~ \"[!1]*\"", "text ~ \"1\\\\0*\"", "cpus == CPUS{2,5}",
	"cpus & CPUS{3-4}", "cpus & CPUS{6-63}", "u8 == CPUS{200-201}", "u8 & CPUS{0-199}", "s8 & CPUS{0-8191}", "cpu == -1",
	"pointer.function != strlen", "pointer.function == strcmp", "broken == \"x\"", "broken ~ \"*\"", "method == \"NONE\"",
	"real == 0.0025", "real > -0.0025", "real < -0.0025", "real != -0.0025", "real >= 0", "real > -4.9e-324", "real < -inf", "real > inf",
	"nan == 0", "nan < 0", "nan > 0", "nan <= inf", "nan >= -inf", "nan == inf", "zero > 0", "zero < 0", "zero != 0", "zero >= 5e-324",
	"infinite < inf", "infinite > inf", "infinite != inf", "infinite <= 1.7976931348623157e308", "tenth != 0.1", "tenth < 0.1", "tenth > 0.1",
	"wide == 0.1", "wide > -0.1", "wide < -0.1", "wide != -0.1", "wide >= 0", "no_wide == 0", "no_wide >= 0", "no_wide < 0", "no_wide <= inf",
	"tenth == 0.2", "tenth == inf",
	"mode == \"R\"", "common_pid != 1234", "!(u8 == 200)", "s8 == 1 && (u8 == 200 || u16 == 40000)",
};

LOOP_TEST(are_accepted, NR_OF(accepted))
{
	ck_assert_msg(accepts(accepted[_i]), "%s", accepted[_i]);
}

LOOP_TEST(are_refused, NR_OF(refused))
{
	ck_assert_msg(!accepts(refused[_i]), "%s", refused[_i]);
}

TEST(thread_name)
{
	char name[17] = "";

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "some name");
	ck_assert(accepts("comm == 'some name' && COMM ~ \"some*\""));
	prctl(PR_SET_NAME, "another");
	for (int i = 0; i < 64; i++) /* it is cached for so many */
		accepts("comm == 'x'");
	ck_assert(accepts("comm == \"another\""));
	prctl(PR_SET_NAME, name);
}

/* ---- What is wrong, and where ---- */

static const struct {
	const char *text;
	size_t at;
	const char *message;
	const char *hint; /* something of it */
} wrong[] = {
	{"", 0, "No filter found", NULL},
	{"   ", 3, "No filter found", NULL},
	{"s8", 2, "Invalid operator", NULL},
	{"s8 =~ \"x\"", 3, "Invalid operator", NULL},
	{"s8 = 1", 3, "Invalid operator", NULL},
	{"s8 | 1", 3, "Invalid operator", NULL},
	{"nothing == 1 && u8 = 1", 19, "Invalid operator", NULL},
	{"s8 == 1x && nothing == 1", 6, "Illegal integer value", NULL},
	{"s8 == ", 6, "Invalid value (did you forget quotes)?", NULL},
	{"s8 == u8", 6, "Invalid value (did you forget quotes)?", NULL},
	{"text == bash", 8, "Invalid value (did you forget quotes)?", NULL},
	{"s8 == +1", 6, "Invalid value (did you forget quotes)?", NULL},
	{"s8 == 1 &&", 10, "Meaningless filter expression", NULL},
	{"s8 == 1 && && u8 == 1", 11, "A field's name is missing", NULL},
	{"&& s8 == 1", 0, "A field's name is missing", NULL},
	{"()", 1, "A field's name is missing", NULL},
	{"!", 1, "No filter found", NULL},
	{"!= 1", 0, "A field's name is missing", NULL},
	{"s8 == 1 s8 == 2", 8, "Too many terms in predicate expression", NULL},
	{"s8 == 1 & s8 == 2", 8, "Too many terms in predicate expression", NULL},
	{"(s8 == 1 s8 == 2)", 9, "Too many terms in predicate expression", NULL},
	{"s8 == 1)", 7, "Too few '('", NULL},
	{"u8 == 1 || (s8 == 1", 11, "Too many '('", NULL},
	{"text == \"x", 8, "Missing matching quote", NULL},
	{"text == 'x\"", 8, "Missing matching quote", NULL},
	{"text == \"x\\\"y\"", 13, "Missing matching quote", NULL},
	{"nothing == 1 && ((s8 == 1) || u8 == 1", 16, "Too many '('", NULL},
	{"(text == \")\"", 0, "Too many '('", NULL},
	{"s8 = 1 && ) (", 10, "Too few '('", NULL},
	{"u8 == CPUS1}", 10, "Missing '{'", NULL},
	{"u8 == CPUS{1", 12, "Missing '}'", NULL},
	{"u8 == CPUS{}", 11, "Invalid cpulist", NULL},
	{"u8 == CPUS{x}", 11, "Invalid cpulist", NULL},
	{"u8 == CPUS{2-1}", 11, "Invalid cpulist", NULL},
	{"u8 == CPUS{9999999999}", 11, "Invalid cpulist", NULL},
	{"u8 == CPUS{8192}", 11, "Invalid cpulist", "the machine's processors are 0-8191"},
	{"u8 == CPUS{0-4:5/2}", 11, "Invalid cpulist", NULL},
	{"u8 == CPUS{0-4:1/0}", 11, "Invalid cpulist", NULL},
	{"u8 < CPUS{1}", 5, "Illegal operation for field type", NULL},
	{"text == CPUS{1}", 8, "Illegal operation for field type", NULL},
	{"cpus == 1", 8, "Illegal operation for field type", NULL},
	{"cpu & 1", 6, "Illegal operation for field type", NULL},
	{"s8 ~ 1", 5, "Illegal operation for field type", NULL},
	{"text < \"x\"", 7, "Illegal operation for field type", NULL},
	{"text & 'x'", 7, "Illegal operation for field type", NULL},
	{"u8 == 1 && nothing == 2", 11, "Field not found", "'test:all' has s8, u8, s16"},
	{"s31 == 2", 0, "Field not found", "did you mean 's32'? 'test:all' has s8, u8"},
	{"s23 == 2", 0, "Field not found", "did you mean 's32'? 'test:all' has s8, u8"},
	{"comon_pid == 2", 0, "Field not found", "did you mean 'common_pid'? 'test:all' has s8, u8"},
	{"nothing == 2", 0, "Field not found", "common_pid, cpu, comm"},
	{"u8 == \"x\"", 6, "Expecting numeric field", NULL},
	{"cpus == \"x\"", 8, "Expecting numeric field", NULL},
	{"text == 1", 8, "Expecting string field", NULL},
	{"method == \"PUT\"", 10, "Expecting numeric field", "its values have the names \"GET\", \"POST\""},
#if __SIZEOF_LONG__ == 8
	{"method == \"too big\"", 10, "Expecting numeric field", NULL},
#endif
	{"method == \"GET|POST\"", 10, "Expecting numeric field", NULL},
	{"mode == \"R|Q\"", 8, "Expecting numeric field", NULL},
	{"method ~ \"P*\"", 9, "Expecting numeric field", "its values have the names \"GET\", \"POST\""},
	{"cpu > \"0\"", 6, "Illegal operation for field type", NULL},
	{"u8 == 1x", 6, "Illegal integer value", NULL},
	{"u8 == -1", 6, "Illegal integer value", NULL},
	{"s8 == -", 6, "Illegal integer value", NULL},
	{"s8 == - 1", 6, "Illegal integer value", NULL},
	{"u8 == 08", 6, "Illegal integer value", NULL},
	{"u8 == 0x", 6, "Illegal integer value", NULL},
	{"u64 == 18446744073709551616", 7, "Illegal integer value", NULL},
	{"s64 == 9223372036854775808", 7, "Illegal integer value", NULL},
	{"u8 == 000000000000000000000000", 6, "Operand too long", NULL},
	{"real & 1", 7, "Illegal operation for field type", NULL},
	{"real ~ 1", 7, "Illegal operation for field type", NULL},
	{"real == \"1\"", 8, "Expecting numeric field", NULL},
	{"real == CPUS{0}", 8, "Illegal operation for field type", NULL},
	{"real.ustring == 1", 0, "Illegal operation for field type", "floating-point"},
	{"real == nan", 8, "Illegal floating-point value", "!(real <= inf) is true for NaN"},
	{"real == -nan", 8, "Illegal floating-point value", NULL},
	{"real == infinity", 8, "Invalid value (did you forget quotes)?", NULL},
	{"real == 1.5f", 8, "Illegal floating-point value", "a double is compared with numbers like 1.5, -2e-3 and inf"},
	{"real == 1.5.2", 8, "Illegal floating-point value", NULL},
	{"real == 1e", 8, "Illegal floating-point value", NULL},
	{"real == 1e+", 8, "Illegal floating-point value", NULL},
	{"real == -.", 8, "Illegal floating-point value", NULL},
	{"real == .", 8, "Invalid value (did you forget quotes)?", NULL},
	{"real == 0x1p3", 8, "Illegal floating-point value", NULL},
	{"real == 0x1.8", 8, "Illegal floating-point value", NULL},
	{"real == 08", 8, "Illegal floating-point value", NULL},
	{"real == --1", 8, "Illegal integer value", NULL},
	{"real == 1e400", 8, "Illegal floating-point value", NULL},
	{"tenth == -1e39", 9, "Illegal floating-point value", "a float"},
	{"real == 1e3-2", 11, "Too many terms in predicate expression", NULL},
	{"real == 0.00000000000000000000000000000000000000000000000000000000000000", 8, "Operand too long", NULL},
	{"several == 1.5", 0, "Illegal operation for field type", "array of floating-point numbers"},
#if LDBL_MANT_DIG > DBL_MANT_DIG /* else it is a double */
	{"wide == nan", 8, "Illegal floating-point value", "a long double is compared with numbers like 1.5"},
	{"other > 1.5", 0, "Illegal operation for field type", "neither a float nor a double, nor declared as long double"},
#endif
	{"wide & 1", 7, "Illegal operation for field type", NULL},
	{"wide == 1e99999", 8, "Illegal floating-point value", NULL},
	{"u8 > 1.5", 5, "Illegal integer value", "it is an integer; write u8 > 1"},
	{"u8 >= 1.5", 6, "Illegal integer value", "write u8 > 1"},
	{"u8 < 1.5", 5, "Illegal integer value", "write u8 <= 1"},
	{"u8 <= 0.5e-1", 6, "Illegal integer value", "write u8 <= 0"},
	{"u8 == 1.5", 6, "Illegal integer value", "it is an integer, and never equals that"},
	{"u8 != 1.5", 6, "Illegal integer value", "it is an integer, and never equals that"},
	{"u8 == 1.50e2", 6, "Illegal integer value", "write u8 == 150"},
	{"u8 != 2.", 6, "Illegal integer value", "write u8 != 2"},
	{"u8 > 256.5", 5, "Illegal integer value", "it is an integer of 8 bits without a sign"},
	{"u8 > -1.5", 5, "Illegal integer value", "it is an integer of 8 bits without a sign"},
	{"u8 & 1.5", 5, "Illegal integer value", "it is an integer of 8 bits without a sign"},
	{"s32 > -1.5", 6, "Illegal integer value", "write s32 >= -1"},
	{"s32 < -1.5", 6, "Illegal integer value", "write s32 < -1"},
	{"s32 <= -0.5", 7, "Illegal integer value", "write s32 < 0"},
	{"s32 >= -20e-1", 7, "Illegal integer value", "write s32 >= -2"},
	{"s64 > 1e18", 6, "Illegal integer value", "write s64 > 1000000000000000000"},
	{"s64 > 1e9999999999999999999999", 6, "Operand too long", NULL},
	{"s64 > 1.e99999999999999999999", 6, "Illegal integer value", NULL},
	{"s64 > 1.e-99999999999999999999", 6, "Illegal integer value", "write s64 > 0"},
	{"u64 > 18446744073709551615.5", 6, "Illegal integer value", "write u64 > 18446744073709551615"},
	{"cpu > 0.5", 6, "Illegal integer value", "write cpu > 0"},
	{"u8 < inf", 5, "Illegal integer value", NULL},
	{"text == 1.5", 8, "Expecting string field", NULL},
	{"text == inf", 8, "Expecting string field", NULL},
	{"name == \"x\"", 0, "Illegal operation for field type", "__string"},
	{"text.ustring == \"x\"", 0, "Illegal operation for field type", "leave out .ustring"},
	{"raw == 1", 0, "Illegal operation for field type", "neither"},
	{"pair == 1", 0, "Illegal operation for field type", "neither"},
	{"point == 1", 0, "Illegal operation for field type", "neither"},
	{"bits == 1", 0, "Illegal operation for field type", "neither"},
	{"pointer.function == no_such_function", 20, "Function not found", "-rdynamic"},
	{"pointer.function == 0x1", 20, "Function not found", NULL},
	{"pointer.function < strlen", 19, "Invalid operator", NULL},
	{"u8.function == strlen", 15, "Illegal operation for field type", NULL},
};

/* The filter that is wrong in itself, or does not fit. */
static struct tp_filter_error error_of(const char *text)
{
	struct tp_filter_error error;
	struct tp_filter *filter = tp_filter_new(text, &error);

	if (filter)
		ck_assert_msg(tp_filter_compile(filter, &event, &error) == NULL, "%s", text);
	tp_filter_free(filter);
	return error;
}

LOOP_TEST(is_wrong, NR_OF(wrong))
{
	struct tp_filter_error error = error_of(wrong[_i].text);

	ck_assert_msg(error.message && strcmp(error.message, wrong[_i].message) == 0, "%s: %s", wrong[_i].text, error.message);
	ck_assert_msg(error.at == wrong[_i].at, "%s: at %zu", wrong[_i].text, error.at);
	ck_assert_int_eq(error.error, -EINVAL);
	if (wrong[_i].hint)
		ck_assert_contains(error.hint.text, wrong[_i].hint);
	tp_filter_error_free(&error);
}

static const struct {
	long nr; /* processors, as the system says */
	const char *text;
	bool is_right;
} lists[] = {
	{2, "u8 != CPUS{1}", true}, {2, "u8 != CPUS{0-1}", true}, {2, "u8 != CPUS{2}", false}, {2, "u8 != CPUS{0-2}", false},
	{2, "u8 != CPUS{1024}", false}, {2, "u8 != CPUS{0-9999999999}", false}, {8192, "u8 != CPUS{8191}", true},
	{8192, "u8 != CPUS{8192}", false}, {-1, "u8 != CPUS{8191}", true}, {-1, "u8 != CPUS{8192}", false},
	{8193, "u8 != CPUS{8191}", true}, {2, "u8 != CPUS{0-1:0/2}", true}, {2, "u8 & CPUS{0-1:0/2}", true},
	{2, "cpus == CPUS{0-1:0/2}", true}, {2, "u8 != CPUS{0-1:1/100000}", true}, {2, "u8 != CPUS{0-1:3/2}", false},
	{2, "u8 != CPUS{1:1/2}", false}, {2, "u8 != CPUS{ }", true}, {4, "u8 != CPUS{all:1/2}", true}, {4, "u8 != CPUS{All}", true},
	{4, "u8 != CPUS{aLL:N/N,N}", true}, {4, "u8 != CPUS{allN}", false}, {4, "u8 != CPUS{al}", false},
};

/* The kernel accepts the same where it has as many: bitmap_parselist(). */
LOOP_TEST(lists_of_processors, NR_OF(lists))
{
	struct tp_filter_error error;
	struct tp_filter *filter = tp_filter_new(lists[_i].text, &error);

	ck_assert_ptr_nonnull(filter);
	nr_processors = lists[_i].nr;
	struct tp_filter_program *program = tp_filter_compile(filter, &event, &error);
	ck_assert_msg((program != NULL) == lists[_i].is_right, "%s of %ld", lists[_i].text, lists[_i].nr);
	tp_filter_program_free(program);
	tp_filter_error_free(&error);
	tp_filter_free(filter);
	nr_processors = 8192;
}

TEST(processors_of_a_set)
{
	nr_processors = 201;
	ck_assert(accepts("u8 & CPUS{all}") && accepts("u8 == CPUS{N}") && accepts("u8 & CPUS{aLL:1/2}"));
	ck_assert(!accepts("u8 & CPUS{All:1/3}"));
	ck_assert(!accepts("u8 & CPUS{0-N:0/2}") && accepts("u8 != CPUS{all:0/2}") && accepts("cpus != CPUS{0-N:0/2}"));
	nr_processors = 8192;
}

TEST(long_string)
{
	char text[400];

	snprintf(text, sizeof(text), "text == \"%0255d\"", 1);
	ck_assert(!accepts(text));
	snprintf(text, sizeof(text), "text == \"%0256d\"", 1);
	struct tp_filter_error error = error_of(text);
	ck_assert_str_eq(error.message, "Operand too long");
}

TEST(printed)
{
	struct tp_buffer text = {.text = NULL};
	const char *filter = "text ~ \"\xc3\xa4*\" &&\tsise > 1";
	struct tp_filter_error error = error_of(filter);

	tp_filter_error_print(&text, filter, &error);
	ck_assert_contains(text.text, "text ~ \"\xc3\xa4*\" &&\tsise > 1\n              \t^\nparse_error: Field not found: 'test:all' has s8, u8");
	tp_buffer_free(&text);
	tp_filter_error_print_line(&text, filter, &error);
	ck_assert_contains(text.text, "Field not found, at 'sise > 1': 'test:all' has s8, u8");
	tp_buffer_free(&text);
	tp_filter_error_free(&error);
}

/* ---- Limits ---- */

static char *repeated(const char *what, size_t times, const char *middle, const char *after)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < times; i++)
		fputs(what, file);
	fputs(middle, file);
	for (size_t i = 0; i < times; i++)
		fputs(after, file);
	fclose(file);
	return text;
}

TEST(limits)
{
	char *text = repeated("(", TP_FILTER_DEPTH, "u8 == 200", ")");
	struct tp_filter_error error;

	ck_assert(accepts(text));
	free(text);
	text = repeated("(", TP_FILTER_DEPTH + 1, "u8 == 200", ")");
	error = error_of(text);
	ck_assert_str_eq(error.message, "Too many nested parentheses");
	ck_assert_uint_eq(error.at, TP_FILTER_DEPTH);
	free(text);
	text = repeated("!", 60000, "u8 == 200", "");
	ck_assert(accepts(text));
	free(text);
	text = repeated("u8==1||", 9000, "u8==200", "");
	ck_assert(accepts(text));
	free(text);
	text = repeated("u8!=1&&", 9000, "u8==201", "");
	ck_assert(!accepts(text));
	free(text);
	text = repeated(" ", TP_FILTER_MAX - 5, "u8!=1", "");
	ck_assert(accepts(text));
	free(text);
	text = repeated(" ", TP_FILTER_MAX - 4, "u8!=1", "");
	error = error_of(text);
	ck_assert_contains(error.message, "longer than");
	free(text);
}

TEST(no_memory)
{
	const char *text = "u8 == 1 || (s8 == 1 && !s16 == 2) || u8 == 2 || u8 == 3 || u8 == 4 || u8 == 5";
	struct tp_filter_program *program = NULL;
	struct tp_filter_error error;
	unsigned int needed = 0;

	while (!program) {
		fail_malloc_after(needed++);
		struct tp_filter *filter = tp_filter_new(text, &error);
		program = filter ? tp_filter_compile(filter, &event, &error) : NULL;
		ck_assert(program || error.error == -ENOMEM);
		tp_filter_free(filter);
	}
	let_malloc_be();
	ck_assert_uint_gt(needed, 3);
	tp_filter_program_free(program);
}

/* ---- What is not looked at: each field has a page of its own, and those can't be read ---- */

#define NR_PAGED 8
#define BEHIND 8 /* bytes of its page: a field is read together with bytes in front of it */

static const struct {
	const char *filter;
	const char *values; /* of a to h */
	bool match;
	const char *unseen;
} visits[] = {
	{"a == 1 && b == 1 && c == 1 && d == 1", "1111", true, "efgh"},
	{"a == 1 && b == 1 && c == 1 && d == 1", "0...", false, "bcdefgh"},
	{"a == 1 && b == 1 && c == 1 && d == 1", "110.", false, "defgh"},
	{"a == 1 || b == 1 || c == 1 || d == 1", "1...", true, "bcdefgh"},
	{"a == 1 || b == 1 || c == 1 || d == 1", "0000", false, "efgh"},
	{"a == 1 || b == 1 || c == 1 || d == 1", "001.", true, "defgh"},
	{"(a == 1 || b == 1) && (c == 1 || d == 1) && (e == 1 || f == 1) && (g == 1 || h == 1)", "1.1.1.1.", true, "bdfh"},
	{"(a == 1 || b == 1) && (c == 1 || d == 1) && (e == 1 || f == 1) && (g == 1 || h == 1)", "00......", false, "cdefgh"},
	{"(a == 1 || b == 1) && (c == 1 || d == 1) && (e == 1 || f == 1) && (g == 1 || h == 1)", "01001111", false, "efgh"},
	{"(a == 1 && b == 1) || (c == 1 && d == 1) || (e == 1 && f == 1) || (g == 1 && h == 1)", "0.11....", true, "befgh"},
	{"(a == 1 && b == 1) || (c == 1 && d == 1) || (e == 1 && f == 1) || (g == 1 && h == 1)", "100.0.0.", false, "dfh"},
	{"(a == 1 && b == 1) && (c == 1 && d == 1) && (e == 1 && f == 1) || (g == 1 && h == 1)", "0.....11", true, "bcdef"},
	{"!(a == 1 && b == 1) || c == 1", "0.......", true, "bcdefgh"},
	{"!(a == 1 || b == 1) && c == 1", "1.......", false, "bcdefgh"},
	{"!(!(a == 1) || b == 1) && c == 1", "101.....", true, "defgh"},
	{"!a == 1 && b == 1", "1.......", false, "bcdefgh"},
	{"a != 1 && b == 1", "1.......", false, "bcdefgh"},
	{"((((((((a == 1) && (b == 1)) || (c == 1)) && (d == 1)) || (e == 1)) && (f == 1)) || (g == 1)) && (h == 1))", "11.1.1.1", true, "ceg"},
	{"((((((((a == 1) || (b == 1)) && (c == 1)) || (d == 1)) && (e == 1)) || (f == 1)) && (g == 1)) || (h == 1))", "1.1.1.1.", true, "bdfh"},
};

LOOP_TEST(short_circuit, NR_OF(visits))
{
	static const char *const names[NR_PAGED] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct part paged[NR_PAGED];
	struct tp_event in_pages = {.system = "test", .name = "pages"};
	struct tp_filter_error error;
	char *record = mmap(NULL, (NR_PAGED + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < NR_PAGED; i++) {
		paged[i] = (struct part){.field = {
			.name = names[i], .type = "int", .offset = (uint32_t)((i + 1) * page) + BEHIND, .size = 4,
			.element_size = 4, .is_signed = true,
		}};
		record[(i + 1) * page + BEHIND] = visits[_i].values[i < strlen(visits[_i].values) ? i : 0] == '1';
		if (strchr(visits[_i].unseen, names[i][0]))
			mprotect(record + (i + 1) * page, page, PROT_NONE);
	}
	in_pages.event_class = describe(&(struct parts){.fields = paged, .nr_fields = NR_PAGED});
	struct tp_filter *filter = tp_filter_new(visits[_i].filter, &error);
	ck_assert_ptr_nonnull(filter);
	struct tp_filter_program *program = tp_filter_compile(filter, &in_pages, &error);
	ck_assert_ptr_nonnull(program);
	ck_assert_int_eq(tp_filter_accepts(program, (struct trace_entry *)(void *)record, (NR_PAGED + 1) * page), visits[_i].match);
	tp_filter_program_free(program);
	tp_filter_free(filter);
	munmap(record, (NR_PAGED + 1) * page);
}
