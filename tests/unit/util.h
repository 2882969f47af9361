/* SPDX-License-Identifier: MIT */
/*
 * util.h - what several of the unit tests need: how they are written down, captured stderr, temporary
 * directories, babeltrace2's view of a trace.
 */
#ifndef UTIL_H
#define UTIL_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * TEST(name) { ... }: a test, which runs in a process of its own, and needs no mention elsewhere.
 * LOOP_TEST(name, nr) { ... }: as many, each with another _i, from 0 on; none where nr is 0.
 */
#define TEST(name) LOOP_TEST(name, 1)
#define LOOP_TEST(name, times)                                                                      \
	static void test_##name(int _i);                                                            \
	static __attribute__((constructor)) void add_##name(void)                                   \
	{                                                                                           \
		static struct unit unit = {.test = {#name, test_##name, __FILE__, __LINE__}};       \
		add_unit(&unit, (int)(times));                                                      \
	}                                                                                           \
	static void test_##name(int _i __attribute__((unused)))

/* What is called before and after each test that is further below. */
#define FIXTURE(before, after) ADD_FIXTURE(__LINE__, #before, before, after, false)
/* The tests above, from the last FIXTURE() on, run with these once more; and those that are further below do. */
#define AGAIN(before, after) ADD_FIXTURE(__LINE__, #before, before, after, true)

#define ADD_FIXTURE(number, name, before, after, once_more) ADD_FIXTURE_AT(number, name, before, after, once_more)
#define ADD_FIXTURE_AT(number, name, before, after, once_more)                                                  \
	static __attribute__((constructor)) void add_fixture_##number(void)                                     \
	{                                                                                                       \
		static struct unit unit = {.test = {name, NULL, __FILE__, number}, .setup = before, .teardown = after, \
					   .again = once_more};                                                \
		add_unit(&unit, 0);                                                                             \
	}

/* A test, or without a function a fixture. */
struct unit {
	TTest test;
	int times;
	void (*setup)(void), (*teardown)(void);
	bool again;
	struct unit *next;
};

void add_unit(struct unit *unit, int times);

/* Runs all tests of the program: its main, unless it has one itself. */
int run_tests(void);

#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

/* stderr goes into a file until the text is taken; the caller frees it. */
void capture_stderr(void);
char *captured_stderr(void);

/* A new, empty directory, named in static memory until the next call. It goes when the test program ends. */
const char *temp_dir(void);

/* The whole file; the caller frees it. */
char *read_file(const char *path);

/* Entries of dir whose names begin so. */
unsigned int count_files(const char *dir, const char *prefix);

/*
 * What babeltrace2 prints for the trace, with the errors' text; the caller frees it.
 * *status is its exit status. It runs in bounded time and memory.
 */
char *babeltrace(const char *dir, int *status);

/* The same, and it must have been content. */
char *clean_babeltrace(const char *dir);

/* Where needle is in text, as strstr; for long texts. */
char *find(const char *text, const char *needle);

/* The number of times that needle is in text. */
unsigned int count_of(const char *text, const char *needle);

/* True in a build that a sanitizer slows down or whose address space is huge. */
bool under_sanitizer(void);

/* It can't follow a thread into its last destructors. */
bool under_thread_sanitizer(void);

/* How many bytes the program has allocated; where the C library does not tell, how many malloc has for that. */
size_t allocated(void);

/* How often "make check" and "make check-all" do it. A program that calls this runs in both. */
unsigned int few_or_many(unsigned int few, unsigned int many);

#define ck_assert_contains(text, needle) \
	ck_assert_msg(strstr((text), (needle)) != NULL, "'%s' is not in: %s", (needle), (text))
#define ck_assert_lacks(text, needle) \
	ck_assert_msg(strstr((text), (needle)) == NULL, "'%s' is in: %s", (needle), (text))

#endif /* UTIL_H */
