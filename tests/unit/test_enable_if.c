/* SPDX-License-Identifier: MIT */
/*
 * test_enable_if.c - filters on sinks: which events get one, what reaches the sink, and what happens while a filter is
 * changed. test_filter.c has the expressions themselves.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/scratch.h>

#include "describe.h"
#include "failing_malloc.h"
#include "list_sink.h"
#include "sample.h"

/* ---- A sink that notes the values of sample_int ---- */

struct value_sink {
	struct tp_sink head;
	char log[512];
};

struct sample_int_record {
	struct trace_entry ent;
	int value;
};

static bool value_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	return rec->entry != NULL;
}

static int value_of(const struct tp_record *rec)
{
	return ((const struct sample_int_record *)(const void *)rec->entry)->value;
}

static void value_commit(struct tp_record *rec)
{
	struct value_sink *s = (struct value_sink *)rec->sink;
	const size_t len = strlen(s->log);

	ck_assert_uint_eq(rec->entry->type, rec->event->id);
	snprintf(s->log + len, sizeof(s->log) - len, "%d ", value_of(rec));
	tp_scratch_pop(rec->entry);
}

static int value_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

static const struct tp_sink_ops value_ops = {
	.name = "values", .reserve = value_reserve, .commit = value_commit, .close = value_close,
};

static void open_value_sink(struct value_sink *s)
{
	*s = (struct value_sink){.log = ""};
	ck_assert_int_eq(tp_sink_open(&s->head, &value_ops), 0);
}

static const char *hit_values(struct value_sink *s)
{
	s->log[0] = '\0';
	for (int i = 0; i < 10; i++)
		trace_sample_int(i);
	return s->log;
}

#define ck_assert_values(s, expected) ck_assert_str_eq(hit_values(s), (expected))

/* ---- What reaches the sink ---- */

TEST(filtered)
{
	struct value_sink one, two;
	char *error = (char *)"untouched";

	open_value_sink(&one);
	open_value_sink(&two);
	ck_assert_int_eq(tp_enable_if(&one.head, "sample_int", "value > 5", &error), 1);
	ck_assert_ptr_null(error);
	ck_assert_int_eq(tp_enable_if(&two.head, "sample_int", "value & 1", NULL), 1);
	ck_assert_values(&one, "6 7 8 9 ");
	ck_assert_str_eq(two.log, "1 3 5 7 9 ");
	ck_assert_int_eq(tp_enable_if(&one.head, "sample:sample_int", "value == 3", NULL), 1);
	ck_assert_values(&one, "3 ");
	ck_assert_int_eq(tp_enable(&one.head, "*_int"), 0);
	ck_assert_values(&one, "0 1 2 3 4 5 6 7 8 9 ");
	ck_assert_int_eq(tp_enable_if(&one.head, "sample_int", "value == 4", NULL), 1);
	ck_assert_values(&one, "4 ");
	ck_assert_int_eq(tp_enable_if(&one.head, "sample_int", " 0 ", NULL), 0);
	ck_assert_values(&one, "0 1 2 3 4 5 6 7 8 9 ");
	ck_assert_int_eq(tp_enable_if(&one.head, "sample_int", "value == 4", NULL), 1);
	ck_assert_int_eq(tp_disable(&one.head, "sample_int"), 1);
	ck_assert_values(&one, "");
	ck_assert_int_eq(tp_disable(&one.head, "sample_int"), 0);
	ck_assert_uint_eq(tp_sink_lost(&one.head), 0);
	tp_sink_close(&one.head);
	tp_sink_close(&two.head);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

TEST(wrong_filters_change_nothing)
{
	struct value_sink s;
	char *error;

	open_value_sink(&s);
	tp_enable_if(&s.head, "sample_int", "value > 5", NULL);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value >> 5", &error), -EINVAL);
	ck_assert_str_eq(error, "value >> 5\n       ^\nparse_error: Invalid value (did you forget quotes)?");
	free(error);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "sise > 5", &error), -EINVAL);
	ck_assert_str_eq(error, "sise > 5\n^\nparse_error: Field not found: 'sample:sample_int' has value, common_type, "
				"common_flags, common_preempt_count, common_pid, cpu, comm");
	free(error);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "", &error), -EINVAL);
	ck_assert_str_eq(error, "\n^\nparse_error: No filter found");
	free(error);
	ck_assert_int_eq(tp_enable_if(&s.head, "a,,b", "value > 5", &error), -EINVAL);
	ck_assert_contains(error, "no list of patterns");
	free(error);
	ck_assert_int_eq(tp_enable_if(NULL, "*", "value > 5", &error), -EINVAL);
	ck_assert_ptr_null(error);
	ck_assert_values(&s, "6 7 8 9 ");
	tp_sink_close(&s.head);
}

TEST(events_that_lack_the_field)
{
	struct list_sink s;
	char *error;

	open_list_sink(&s);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample:*", "value < 0", &error), 1);
	ck_assert_contains(error, "the filter does not fit 2 of the events, which stay as they were, as 'sample:sample_");
	ck_assert_contains(error, ": Field not found, at 'value < 0': 'sample:sample_");
	free(error);
	ck_assert_hits(&s, "");
	ck_assert_int_eq(tp_enable(&s.head, "*"), 2);
	ck_assert_hits(&s, "sample_int sample_text sample_kinds ");
	ck_assert_int_eq(tp_enable_if(&s.head, "*", "value < 0", NULL), 1);
	ck_assert_hits(&s, "sample_text sample_kinds ");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_text", "text ~ \"y*\"", NULL), 1);
	ck_assert_hits(&s, "sample_kinds ");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_*", "text ~ \"x\"", &error), 1);
	free(error);
	ck_assert_hits(&s, "sample_text sample_kinds ");
	tp_sink_close(&s.head);
}

/* ---- Modules ---- */

TEST(modules_that_come_later)
{
	static struct sample_module fits, lacks;
	struct list_sink s;
	char *error, *message;

	open_list_sink(&s);
	ck_assert_int_eq(tp_enable_if(&s.head, "late:*", "value > 5", &error), 0);
	ck_assert_ptr_null(error);
	sample_module_init(&fits, "late", "late_fits", "int");
	sample_module_init(&lacks, "late", "late_lacks", "int");
	lacks.event.event_class = describe(&(struct parts){.fixed_size = 12});
	capture_stderr();
	tp_module_load(&fits.module);
	tp_module_load(&lacks.module);
	message = captured_stderr();
	ck_assert_str_eq(message, "tp: late:*, in a plain output: the filter does not fit 'late:late_lacks', which stays as it was: "
				  "Field not found, at 'value > 5': 'late:late_lacks' has common_type, common_flags, "
				  "common_preempt_count, common_pid, cpu, comm\n");
	free(message);
	ck_assert(tp_tracepoint_is_on(&fits.tp));
	ck_assert(!tp_tracepoint_is_on(&lacks.tp));
	sample_module_hit(&fits, 5);
	sample_module_hit(&fits, 6);
	ck_assert_str_eq(s.log, "late_fits ");
	tp_module_unload(&fits.module);
	tp_module_load(&fits.module);
	sample_module_hit(&fits, 5);
	sample_module_hit(&fits, 6);
	ck_assert_str_eq(s.log, "late_fits late_fits ");
	tp_sink_close(&s.head);
	tp_module_unload(&fits.module);
	tp_module_unload(&lacks.module);
}

TEST(another_module_takes_over)
{
	static const struct part value = {.field = {.name = "value", .type = "int", .offset = 8, .size = 4, .element_size = 4,
						    .element_align = 4, .is_signed = true}};
	static struct sample_module one, two;
	struct list_sink s;

	open_list_sink(&s);
	sample_module_init(&one, "twin", "twin", "int");
	sample_module_init(&two, "twin", "twin", "int");
	two.event.event_class = describe(&(struct parts){.fields = &value, .nr_fields = 1, .fixed_size = 12, .print_fmt = "\"another layout\""});
	tp_module_load(&one.module);
	tp_module_load(&two.module);
	ck_assert_uint_ne(one.event.id, two.event.id);
	ck_assert_int_eq(tp_enable_if(&s.head, "twin", "value == 1", NULL), 1);
	for (int i = 0; i < 3; i++) {
		s.log[0] = '\0';
		sample_module_hit(&one, 1);
		sample_module_hit(&two, 1);
		sample_module_hit(&one, 2);
		sample_module_hit(&two, 2);
		ck_assert_str_eq(s.log, "twin twin ");
		s.log[0] = '\0';
		tp_module_unload(i % 2 ? &two.module : &one.module);
		sample_module_hit(i % 2 ? &one : &two, 1);
		sample_module_hit(i % 2 ? &one : &two, 2);
		ck_assert_str_eq(s.log, "twin ");
		tp_module_load(i % 2 ? &two.module : &one.module);
	}
	tp_sink_close(&s.head);
	tp_module_unload(&one.module);
	tp_module_unload(&two.module);
}

/* ---- Memory ---- */

/* With each number of mallocs that succeed: all, or nothing has changed. */
LOOP_TEST(no_memory_changes_nothing, 3)
{
	static const char *const before[] = {NULL, "0", "value == 2 || value == 9"};
	static const char *const values[] = {"", "0 1 2 3 4 5 6 7 8 9 ", "2 9 "};
	struct value_sink s;
	int result = -ENOMEM;

	open_value_sink(&s);
	if (before[_i])
		ck_assert_int_ge(tp_enable_if(&s.head, "sample_int", before[_i], NULL), 0);
	for (unsigned int left = 0; result == -ENOMEM; left++) {
		fail_malloc_after(left);
		result = tp_enable_if(&s.head, "sample_*", "value == 7 || value == 8", NULL);
		let_malloc_be();
		ck_assert_values(&s, result == -ENOMEM ? values[_i] : "7 8 ");
	}
	ck_assert_int_eq(result, 1);
	tp_sink_close(&s.head);
}

/* Taking a filter off needs memory for the rule only. */
TEST(no_memory_to_take_it_off)
{
	struct value_sink s;
	int result = -ENOMEM;

	open_value_sink(&s);
	tp_enable_if(&s.head, "sample_int", "value == 7", NULL);
	for (unsigned int left = 0; result == -ENOMEM; left++) {
		fail_malloc_after(left);
		result = tp_enable(&s.head, "sample_int");
		let_malloc_be();
	}
	ck_assert_int_eq(result, 0);
	ck_assert_values(&s, "0 1 2 3 4 5 6 7 8 9 ");
	ck_assert_int_eq(tp_disable(&s.head, "sample_int"), 1);
	ck_assert_values(&s, "");
	tp_sink_close(&s.head);
}

TEST(filters_do_not_pile_up)
{
	static struct sample_module late;
	struct value_sink s;
	char filter[64];

	open_value_sink(&s);
	sample_module_init(&late, "late", "late", "int");
	tp_enable_if(&s.head, "late", "value == 1", NULL);
	const size_t before = allocated();
	for (int i = 0; i < 1000; i++) {
		snprintf(filter, sizeof(filter), "value == %d", i % 10);
		ck_assert_int_eq(tp_enable_if(&s.head, "sample_*", filter, NULL), 1);
		if (i % 3 == 0)
			ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 0);
		if (i % 7 == 0)
			ck_assert_int_eq(tp_disable(&s.head, "sample_int"), 1);
		tp_module_load(&late.module);
		tp_module_unload(&late.module);
	}
	ck_assert_uint_le(allocated(), before + 32768);
	tp_sink_close(&s.head);
}

/* ---- Lost records, other probes ---- */

TEST(lost_records_are_the_sinks)
{
	struct list_sink s;
	char *large = malloc(TP_RECORD_MAX + 1);

	memset(large, 'x', TP_RECORD_MAX);
	large[TP_RECORD_MAX] = '\0';
	open_list_sink(&s);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_text", "text ~ \"y*\"", NULL), 1);
	trace_sample_text(large);
	ck_assert_uint_eq(tp_sink_lost_by(&s.head, TP_LOST_TOO_LARGE), 1);
	void *all = tp_scratch_push((256 << 10) - 8); /* so that there is no room for a record */
	ck_assert_ptr_nonnull(all);
	trace_sample_text("y");
	tp_scratch_pop(all);
	ck_assert_uint_eq(tp_sink_lost_by(&s.head, TP_LOST_NESTED), 1);
	trace_sample_text("x");
	ck_assert_uint_eq(tp_sink_lost(&s.head), 2);
	free(large);
	tp_sink_close(&s.head);
}

TEST(writer_registered_by_hand)
{
	struct value_sink s;

	open_value_sink(&s);
	ck_assert_int_eq(register_trace_sample_int(tp_record_sample_int, &s), 0);
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value == 3", NULL), 1);
	ck_assert_values(&s, "0 1 2 3 3 4 5 6 7 8 9 ");
	ck_assert_int_eq(unregister_trace_sample_int(tp_record_sample_int, &s), 0);
	ck_assert_values(&s, "3 ");
	tp_sink_close(&s.head);
}

/* ---- Changed while threads and their signal handlers record ---- */

#define NR_THREADS 3
#define ALWAYS 50 /* all filters accept it */
#define NEVER 900 /* and this none */

static struct storm {
	struct tp_sink head;
	unsigned long hit, got, wrong;
	bool end, begin;
} storm;

static void storm_commit(struct tp_record *rec)
{
	const int value = value_of(rec);

	if (value == ALWAYS)
		__atomic_fetch_add(&storm.got, 1, __ATOMIC_RELAXED);
	else if (value == NEVER)
		__atomic_fetch_add(&storm.wrong, 1, __ATOMIC_RELAXED);
	tp_scratch_pop(rec->entry);
}

static const struct tp_sink_ops storm_ops = {
	.name = "storm", .reserve = value_reserve, .commit = storm_commit, .close = value_close,
};

static void hit_always(void)
{
	__atomic_fetch_add(&storm.hit, 1, __ATOMIC_RELAXED);
	trace_sample_int(ALWAYS);
}

static void handler(int sig)
{
	(void)sig;
	trace_sample_int(NEVER);
	hit_always();
}

static void *record(void *unused)
{
	unsigned int seed = (unsigned int)(uintptr_t)&unused;

	while (!__atomic_load_n(&storm.end, __ATOMIC_RELAXED)) {
		hit_always();
		trace_sample_int(NEVER);
		trace_sample_int(ALWAYS + 1 + rand_r(&seed) % 400);
	}
	return NULL;
}

/* Every record satisfies one of the filters, and none that all of them accept is lost or there twice. */
LOOP_TEST(changed_under_way, 2)
{
	static const char *const filters[] = {
		"value < 100", "value == 50 || value > 950", "value & 2 && value < 400", "!(value >= 300)",
		"common_pid > 0 && comm != \"nobody\" && value <= 50",
	};
	const bool also_none = _i; /* the unfiltered records of NEVER come as well */
	pthread_t threads[NR_THREADS];

	storm = (struct storm){.hit = 0};
	ck_assert_int_eq(tp_sink_open(&storm.head, &storm_ops), 0);
	ck_assert_int_eq(tp_enable_if(&storm.head, "sample_int", filters[0], NULL), 1);
	signal(SIGUSR1, handler);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, record, NULL);
	for (size_t i = 1, nr = few_or_many(150, 1000); i <= nr; i++) {
		if (also_none && i % 3 == 0)
			ck_assert_int_eq(tp_enable(&storm.head, "sample_int"), 0);
		else
			ck_assert_int_eq(tp_enable_if(&storm.head, "sample_int", filters[i % 5], NULL), 1);
		pthread_kill(threads[i % NR_THREADS], SIGUSR1);
	}
	__atomic_store_n(&storm.end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(tp_sink_lost(&storm.head), 0);
	ck_assert_int_eq(tp_sink_close(&storm.head), 0);
	ck_assert_uint_eq(storm.got, storm.hit);
	if (!also_none)
		ck_assert_uint_eq(storm.wrong, 0);
}
