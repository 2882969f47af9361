/* SPDX-License-Identifier: MIT */
/*
 * util.h - what several of the unit tests need: captured stderr, temporary
 * directories, babeltrace2's view of a trace.
 */
#ifndef UTIL_H
#define UTIL_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/* How often "make check" and "make check-all" do it. A program that calls this runs in both. */
unsigned int few_or_many(unsigned int few, unsigned int many);

/* Runs the suite: in the main of each program. */
int run(Suite *suite);

#define ck_assert_contains(text, needle) \
	ck_assert_msg(strstr((text), (needle)) != NULL, "'%s' is not in: %s", (needle), (text))
#define ck_assert_lacks(text, needle) \
	ck_assert_msg(strstr((text), (needle)) == NULL, "'%s' is in: %s", (needle), (text))

#endif /* UTIL_H */
