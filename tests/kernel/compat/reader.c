// SPDX-License-Identifier: MIT
/*
 * Prints the records that harness.c has written down, with libtraceevent,
 * which knows of them what their formats say: "system:event: text", each
 * followed by a NUL.
 *
 *	reader RECORDS
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

static char *take(FILE *file, unsigned int size)
{
	char *bytes = malloc(size + 1);

	if (!bytes || fread(bytes, 1, size, file) != size) {
		fprintf(stderr, "reader: the file is cut off\n");
		exit(1);
	}
	bytes[size] = '\0';
	return bytes;
}

static void print(struct tep_handle *tep, char *bytes, unsigned int size)
{
	struct tep_record record = {.data = bytes, .size = (int)size};
	struct tep_event *event = tep_find_event_by_record(tep, &record);
	struct trace_seq seq;

	if (!event) {
		fprintf(stderr, "reader: a record of an unknown event\n");
		exit(1);
	}
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	printf("%s:%s: %s", event->system, event->name, seq.buffer);
	putchar('\0');
	trace_seq_destroy(&seq);
}

/*
 * Reads the file from its start: the strings and formats into tep, or, when
 * all of them are known, as libtraceevent wants it, the records to stdout.
 */
static bool read_file(struct tep_handle *tep, FILE *file, bool records)
{
	char name[64], kind;
	unsigned int size;

	rewind(file);
	while ((kind = (char)fgetc(file)) == 'F' || kind == 'R' || kind == 'S') {
		char *bytes;

		/* The system's name, or the string's address. */
		if (kind != 'R' && fscanf(file, " %63s", name) != 1)
			return false;
		if (fscanf(file, " %u", &size) != 1 || fgetc(file) != '\n')
			return false;
		bytes = take(file, size);
		if (kind == 'R' && records)
			print(tep, bytes, size);
		else if (kind == 'S' && !records)
			tep_register_print_string(tep, bytes, strtoull(name, NULL, 16));
		else if (kind == 'F' && !records && tep_parse_event(tep, bytes, size, name))
			fprintf(stderr, "reader: can't parse %s: %.60s\n", name, bytes);
		free(bytes);
	}
	return feof(file);
}

int main(int argc, char **argv)
{
	struct tep_handle *tep = tep_alloc();
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!tep || !file) {
		perror("reader");
		return 1;
	}
	tep_set_long_size(tep, sizeof(long));
	tep_set_page_size(tep, 4096);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	if (!read_file(tep, file, false) || !read_file(tep, file, true)) {
		fprintf(stderr, "reader: %s is no such file\n", argv[1]);
		return 1;
	}
	tep_free(tep);
	return 0;
}
