// SPDX-License-Identifier: MIT
/*
 * Prints the records that record_events.c has written down as libtraceevent
 * reads them, each as a line of JSON: the event, its text in hexadecimal, and
 * of each field what the library knows of it and finds in the record.
 *
 *	read_events RECORDS
 */
#include <inttypes.h>
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
		fprintf(stderr, "read_events: the file is cut off\n");
		exit(1);
	}
	bytes[size] = '\0';
	return bytes;
}

static void print_hex(const char *bytes, int len)
{
	putchar('"');
	for (int i = 0; i < len; i++)
		printf("%02x", (unsigned char)bytes[i]);
	putchar('"');
}

/* The number at ptr, its sign extended where the format says that it has one. */
static void print_number(const struct tep_format_field *field, const void *ptr, int size)
{
	unsigned long long value = tep_read_number(field->event->tep, ptr, size);
	unsigned int unused = 64 - 8 * (unsigned int)size;

	if (field->flags & TEP_FIELD_IS_SIGNED)
		printf("%" PRId64, (int64_t)(value << unused) >> unused);
	else
		printf("%llu", value);
}

static bool is_number_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void print_field(struct tep_format_field *field, struct tep_record *record)
{
	int len = 0, size = field->elementsize;
	char *raw;

	printf("{\"name\": \"%s\", \"array\": %d, \"dynamic\": %d, \"rel\": %d, \"signed\": %d",
	       field->name, !!(field->flags & TEP_FIELD_IS_ARRAY),
	       !!(field->flags & TEP_FIELD_IS_DYNAMIC), !!(field->flags & TEP_FIELD_IS_RELATIVE),
	       !!(field->flags & TEP_FIELD_IS_SIGNED));
	/* It looks fields up by name, and does not know that two may have one. */
	raw = tep_find_field(field->event, field->name) == field ?
	      tep_get_field_raw(NULL, field->event, field->name, record, &len, 0) : NULL;
	if (raw) {
		printf(", \"bytes\": ");
		print_hex(raw, len);
		if (!(field->flags & TEP_FIELD_IS_ARRAY))
			size = field->size;
		if (is_number_size(size) && len % size == 0) {
			printf(", \"numbers\": [");
			for (int at = 0; at < len; at += size) {
				printf(at ? ", " : "");
				print_number(field, raw + at, size);
			}
			printf("]");
		}
	}
	printf("}");
}

static void print(struct tep_handle *tep, char *bytes, unsigned int size)
{
	struct tep_record record = {.data = bytes, .size = (int)size};
	struct tep_event *event = tep_find_event_by_record(tep, &record);
	struct trace_seq seq;

	if (!event) {
		printf("null\n");
		return;
	}
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	printf("{\"system\": \"%s\", \"event\": \"%s\", \"size\": %u, \"text\": ", event->system, event->name, size);
	print_hex(seq.buffer, (int)strlen(seq.buffer));
	trace_seq_destroy(&seq);
	printf(", \"fields\": [");
	for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
		print_field(field, &record);
		printf(field->next ? ", " : "");
	}
	printf("]}\n");
}

/* Makes the event known. What version 1.7 would crash at is not to be printed. */
static void add(struct tep_handle *tep, const char *system, const char *format, unsigned int size)
{
	struct tep_event *event;
	char name[256];

	if (tep_parse_event(tep, format, size, system) || sscanf(format, "name: %255s", name) != 1) {
		fprintf(stderr, "read_events: can't parse %s: %s\n", system, format);
		return;
	}
	event = tep_find_event_by_name(tep, system, name);
	if (strstr(format, "__get_rel_dynamic_array_len"))
		event->flags |= TEP_EVENT_FL_FAILED;
	/* Of two fields with one name it takes the first for the other, too, a number for an offset. */
	for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
		if (tep_find_field(event, field->name) != field)
			event->flags |= TEP_EVENT_FL_FAILED;
	}
}

/* From its start: the strings and formats into tep, or, when all of them are known, the records to stdout. */
static bool read_file(struct tep_handle *tep, FILE *file, bool records)
{
	char name[64]; /* the system's, or the string's address */
	unsigned int size;
	int kind;

	rewind(file);
	while ((kind = fgetc(file)) == 'F' || kind == 'R' || kind == 'S') {
		if (kind != 'R' && fscanf(file, " %63s", name) != 1)
			return false;
		if (fscanf(file, " %u", &size) != 1 || fgetc(file) != '\n')
			return false;
		char *bytes = take(file, size);
		if (kind == 'R' && records)
			print(tep, bytes, size);
		else if (kind == 'F' && !records)
			add(tep, name, bytes, size);
		else if (kind == 'S' && !records)
			tep_register_print_string(tep, bytes, strtoull(name, NULL, 16));
		free(bytes);
	}
	return feof(file);
}

int main(int argc, char **argv)
{
	struct tep_handle *tep = tep_alloc();
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!tep || !file) {
		perror("read_events");
		return 1;
	}
	tep_set_long_size(tep, sizeof(long));
	tep_set_page_size(tep, 4096);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	if (!read_file(tep, file, false) || !read_file(tep, file, true)) {
		fprintf(stderr, "read_events: %s is no such file\n", argv[1]);
		return 1;
	}
	tep_free(tep);
	fclose(file);
	return 0;
}
