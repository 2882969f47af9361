// SPDX-License-Identifier: MIT
/*
 * main.c - pgz, a parallel gzip: the command line.
 */
#include <err.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "block.h"
#include "file.h"
#include "output.h"
#include "pool.h"

#define MAX_THREADS 1024
#define MIN_BLOCK_SIZE 1024UL
#define MAX_BLOCK_SIZE (512UL << 20)

enum {
	EXIT_OK = 0,
	EXIT_FILES = 1, /* at least one file could not be compressed */
	EXIT_USAGE = 2,
};

static const char usage[] =
    "usage: pgz [-1..-9] [-b SIZE] [-cf] [-p THREADS] [FILE...]\n"
    "Compresses each FILE to FILE.gz, which gunzip restores; FILE itself stays.\n"
    "Without FILE, or where FILE is -, compresses standard input to standard output.\n"
    "\n"
    "  -1 ... -9    from fast to best; -6 without it\n"
    "  -b SIZE      bytes of a block, from 1K to 512M, with a suffix K or M; 128K without it\n"
    "  -c           write to standard output\n"
    "  -f           overwrite FILE.gz, write to a terminal\n"
    "  -h           show this\n"
    "  -p THREADS   how many threads compress; as many as there are processors without it\n"
    "\n"
    "Exits with 0, with 1 where a file could not be compressed, with 2 where an option is wrong.\n"
    "To trace it: TP_ENABLE='pgz:*' pgz FILE\n";

/* The number at the beginning of text, ULONG_MAX where there is none; what follows it is left in *end. */
static unsigned long parse_number(const char *text, char **end)
{
	/* strtoul() itself would take a sign, and white space; of a number too large it makes ULONG_MAX. */
	if (*text < '0' || *text > '9')
		return ULONG_MAX;
	return strtoul(text, end, 10);
}

static size_t parse_size(const char *text)
{
	char *end = "";
	unsigned long n = parse_number(text, &end);
	unsigned long unit = 1;

	if (*end == 'K' || *end == 'k')
		unit = 1UL << 10;
	else if (*end == 'M' || *end == 'm')
		unit = 1UL << 20;
	if (unit > 1)
		end++;
	if (*end || n > MAX_BLOCK_SIZE / unit || n * unit < MIN_BLOCK_SIZE)
		errx(EXIT_USAGE, "-b %s: not a size from 1K to 512M", text);
	return n * unit;
}

static unsigned int parse_threads(const char *text)
{
	char *end = "";
	unsigned long n = parse_number(text, &end);

	if (*end || n < 1 || n > MAX_THREADS)
		errx(EXIT_USAGE, "-p %s: not a number from 1 to %d", text, MAX_THREADS);
	return (unsigned int)n;
}

static unsigned int processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned int)n;
}

static void parse_options(int argc, char **argv, struct run *run, unsigned int *threads)
{
	int c;

	while ((c = getopt(argc, argv, "123456789b:cfhp:")) != -1) {
		switch (c) {
		case 'b':
			run->block_size = parse_size(optarg);
			break;
		case 'c':
			run->to_stdout = true;
			break;
		case 'f':
			run->force = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_OK);
		case 'p':
			*threads = parse_threads(optarg);
			break;
		case '?':
			fputs(usage, stderr);
			exit(EXIT_USAGE);
		default:
			run->level = c - '0';
		}
	}
}

static int compress_files(struct run *run, char *const *names)
{
	int status = EXIT_OK;

	for (; *names; names++) {
		enum file_result result = compress_file(run, *names);

		if (result != FILE_DONE)
			status = EXIT_FILES;
		if (result == FILE_BROKEN)
			break; /* whatever came behind it could not be read back */
	}
	return status;
}

int main(int argc, char **argv)
{
	struct run run = {.level = 6, .block_size = 128UL << 10};
	unsigned int threads = processors();
	char *const only_stdin[] = {"-", NULL};
	int status;

	parse_options(argc, argv, &run, &threads);
	output_init();

	/* One block in each thread's hands, one waiting for each, and two for the reader. */
	run.nr_blocks = 2UL * threads + 2;
	run.blocks = blocks_create(run.nr_blocks, run.block_size);
	if (!run.blocks)
		err(EXIT_FILES, "%zu blocks of %zu bytes", run.nr_blocks, run.block_size);
	run.pool = pool_create(threads, run.level);
	if (!run.pool)
		err(EXIT_FILES, "%u threads", threads);

	status = compress_files(&run, argv[optind] ? argv + optind : only_stdin);

	pool_destroy(run.pool);
	blocks_destroy(run.blocks, run.nr_blocks);
	return status;
}
