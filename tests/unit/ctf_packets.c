/* SPDX-License-Identifier: MIT */
/*
 * ctf_packets.c - see ctf_packets.h.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "ctf_packets.h"
#include "util.h"

#define MAX_PACKETS 4096

static void read_packet(const char *dir, const char *name, struct packet_file *packet)
{
	char path[512];
	struct stat st;

	ck_assert_int_eq(sscanf(name, "stream-%d-%u-%llu", &packet->pid, &packet->number, &packet->sequence), 3);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(&packet->head, sizeof(packet->head), 1, f), 1);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	fclose(f);
	packet->size = st.st_size;
	ck_assert_uint_eq(packet->head.magic, 0xC1FC1FC1);
	ck_assert_uint_eq(packet->head.stream_instance_id, (uint64_t)(uint32_t)packet->pid << 32 | packet->number);
	ck_assert_uint_eq(packet->head.packet_size, (uint64_t)st.st_size * CHAR_BIT);
	ck_assert_uint_le(packet->head.content_size, packet->head.packet_size);
	ck_assert_uint_le(packet->head.timestamp_begin, packet->head.timestamp_end);
}

static int compare(const void *left, const void *right)
{
	const struct packet_file *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->head.packet_seq_num < b->head.packet_seq_num ? -1 : a->head.packet_seq_num > b->head.packet_seq_num;
}

static bool is_next(const struct packet_file *packet)
{
	return packet[1].pid == packet->pid && packet[1].number == packet->number;
}

const struct packet_file *packets_of(const char *dir, size_t *nr)
{
	static struct packet_file packets[MAX_PACKETS];
	const struct dirent *entry;
	DIR *d = opendir(dir);

	ck_assert_ptr_nonnull(d);
	*nr = 0;
	while ((entry = readdir(d))) {
		if (strncmp(entry->d_name, "stream-", 7) != 0)
			continue;
		ck_assert_uint_lt(*nr, MAX_PACKETS);
		read_packet(dir, entry->d_name, &packets[(*nr)++]);
	}
	closedir(d);
	qsort(packets, *nr, sizeof(packets[0]), compare);
	for (size_t i = 0; i + 1 < *nr; i++) {
		const struct tp_packet *head = &packets[i].head, *next = &packets[i + 1].head;
		if (!is_next(&packets[i]))
			continue;
		ck_assert_uint_eq(next->packet_seq_num, head->packet_seq_num + 1);
		ck_assert_uint_ge(next->timestamp_begin, head->timestamp_end);
		ck_assert_uint_ge(next->events_discarded, head->events_discarded);
	}
	return packets;
}

uint64_t discarded_in(const char *dir)
{
	uint64_t sum = 0;
	size_t nr;
	const struct packet_file *packets = packets_of(dir, &nr);

	for (size_t i = 0; i < nr; i++) { /* a stream's packets count on, so the last one's says it */
		if (i + 1 == nr || !is_next(&packets[i]))
			sum += packets[i].head.events_discarded;
	}
	return sum;
}

uint64_t bytes_in(const char *dir)
{
	const struct dirent *entry;
	DIR *d = opendir(dir);
	uint64_t sum = 0;
	struct stat st;

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d))) {
		if (strstr(entry->d_name, "stream-") && fstatat(dirfd(d), entry->d_name, &st, 0) == 0)
			sum += (uint64_t)st.st_size;
	}
	closedir(d);
	return sum;
}

struct run run_of(const char *text, int tid)
{
	static const char value[] = "{ value = ";
	struct run run = {.nr = 0};
	char thread[32];

	snprintf(thread, sizeof(thread), "tid = %d }", tid);
	while (*text) {
		const char *end = strchrnul(text, '\n');
		char *line = strndup(text, (size_t)(end - text));
		const char *at = strstr(line, value);
		if (at && (!tid || strstr(line, thread))) {
			int n = atoi(at + strlen(value));
			ck_assert_msg(!run.nr || n == run.last + 1, "%d behind %d: %s", n, run.last, line);
			if (!run.nr++)
				run.first = n;
			run.last = n;
		}
		free(line);
		text = *end ? end + 1 : end;
	}
	return run;
}

bool small_disk(const char *test, const char *dir, const char *size)
{
	char options[32];

	snprintf(options, sizeof(options), "size=%s", size);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	/* In a name space of our own: it goes with the process. */
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", dir, "tmpfs", 0, options) == 0)
		return true;
	fprintf(stderr, "SKIPPED %s: no small disk can be mounted (%s): not root?\n", test, strerror(errno));
	return false;
}
