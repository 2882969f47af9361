/* SPDX-License-Identifier: MIT */
/* sinks/ctf/options.c - how a CTF trace is to be, as its user writes it: "mode=flight,size=64M". */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "sinks/ctf/options.h"

#define PACKET_STREAM ((size_t)1 << 20)
#define PACKET_FLIGHT ((size_t)512 << 10)
#define PACKET_MIN ((size_t)4 << 10)
#define PACKET_MAX ((size_t)1 << 30)
#define PACKETS_FLIGHT 4

#define NS_PER_S 1000000000u

/* As written; 0 where it is not. */
struct selectors {
	bool flight;
	enum tp_ctf_prepare prepare;
	unsigned int full; /* 'd'iscard, 'o'verwrite */
	unsigned int context;
	uint64_t packet, packets, size, keep, rotate_size, rotate_time;
	struct tp_ctf_owner owner;
	enum tp_ctf_write write;
};

static bool parse_mode(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	w->flight = strcmp(value, "flight") == 0;
	return w->flight || strcmp(value, "stream") == 0;
}

static bool parse_prepare(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	w->prepare = strcmp(value, "thread") == 0 ? TP_CTF_PREPARE_THREAD : TP_CTF_PREPARE_SELF;
	return w->prepare == TP_CTF_PREPARE_THREAD || strcmp(value, "self") == 0;
}

static bool parse_full(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	w->full = (unsigned char)*value;
	return strcmp(value, "discard") == 0 || strcmp(value, "overwrite") == 0;
}

static bool parse_write(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	w->write = strcmp(value, "map") == 0 ? TP_CTF_WRITE_MAP : TP_CTF_WRITE_CALL;
	return w->write == TP_CTF_WRITE_MAP || strcmp(value, "call") == 0;
}

static bool parse_packet(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	return tp_options_number(value, "KMG", &w->packet) && w->packet >= PACKET_MIN && w->packet <= PACKET_MAX;
}

static bool parse_packets(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	return tp_options_number(value, "", &w->packets) && w->packets >= 2;
}

static bool parse_size(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	return tp_options_number(value, "KMG", &w->size) && w->size >= 2 * PACKET_MIN;
}

static bool parse_keep(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	return tp_options_number(value, "", &w->keep) && w->keep >= 1;
}

/* In nanoseconds. */
static bool parse_time(const char *value, uint64_t *time)
{
	static const struct {
		char suffix;
		unsigned int seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
	char *end;

	if (*value < '0' || *value > '9')
		return false;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const uint64_t unit = (uint64_t)units[i].seconds * NS_PER_S;
		if (errno || number > UINT64_MAX / unit || end[0] != units[i].suffix || end[1])
			continue;
		*time = number * unit;
		return true;
	}
	return false;
}

/* A size, a time, or both. */
static bool parse_rotate(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	for (;;) {
		char part[32];
		size_t len = strcspn(value, "+");
		uint64_t size = 0, time = 0;
		if (len >= sizeof(part))
			return false;
		memcpy(part, value, len);
		part[len] = '\0';
		if (!tp_options_number(part, "KMG", &size) && !parse_time(part, &time))
			return false;
		if ((!size && !time) || (size && w->rotate_size) || (time && w->rotate_time))
			return false;
		w->rotate_size += size;
		w->rotate_time += time;
		if (!value[len])
			return true;
		value += len + 1;
	}
}

static bool parse_context(const char *value, void *selectors)
{
	struct selectors *w = selectors;

	static const struct {
		const char *name;
		unsigned int bit;
	} contexts[] = {{"cpu", TP_CTF_CPU}, {"pid", TP_CTF_PID}, {"name", TP_CTF_NAME}};

	for (;;) {
		size_t len = strcspn(value, "+");
		size_t i = 0;
		while (i < 3 && (strncmp(value, contexts[i].name, len) != 0 || contexts[i].name[len]))
			i++;
		if (i == 3)
			return false;
		w->context |= contexts[i].bit;
		if (!value[len])
			return true;
		value += len + 1;
	}
}

/* Returns what stands behind the number; NULL where there is none that is a user's or group's. (-1 is "none" to chown.) */
static const char *parse_id(const char *text, unsigned int *id)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || number >= UINT_MAX)
		return NULL;
	*id = (unsigned int)number;
	return end;
}

/* A line of /etc/passwd, "NAME:PASSWORD:UID:GID:...". */
static bool is_user(char *line, const char *name, struct tp_ctf_owner *owner)
{
	unsigned int user, group;

	if (strcmp(strsep(&line, ":"), name) != 0 || !strsep(&line, ":") || !line)
		return false;
	const char *end = parse_id(line, &user);
	if (end && *end == ':')
		end = parse_id(end + 1, &group);
	if (!end || *end != ':')
		return false;
	*owner = (struct tp_ctf_owner){.set = true, .user = user, .group = group};
	return true;
}

/* By /etc/passwd alone: what else may know of users is no part of libc, and not for static programs. */
static bool find_user(const char *name, struct tp_ctf_owner *owner)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL;
	size_t size = 0;

	while (file && !owner->set && getline(&line, &size, file) > 0)
		is_user(line, name, owner);
	free(line);
	if (file)
		fclose(file);
	return owner->set;
}

/* NAME, or UID[:GID]; without a group, the files keep that of the process. */
static bool parse_owner(const char *value, void *selectors)
{
	struct selectors *w = selectors;
	unsigned int user, group = (unsigned int)-1;

	w->owner.set = false; /* of one in front of this */
	if (find_user(value, &w->owner))
		return true;
	const char *end = parse_id(value, &user);
	if (end && *end == ':')
		end = parse_id(end + 1, &group);
	if (!end || *end)
		return false;
	w->owner = (struct tp_ctf_owner){.set = true, .user = user, .group = group};
	return true;
}

static const struct tp_option known[] = {
	{"mode", parse_mode, "stream or flight"},
	{"packet", parse_packet, "bytes, from 4K to 1G (suffixes K, M, G)"},
	{"packets", parse_packets, "2 or more"},
	{"size", parse_size, "bytes, 8K or more (suffixes K, M, G)"},
	{"keep", parse_keep, "1 or more"},
	{"rotate", parse_rotate, "bytes (suffixes K, M, G), a time (s, m, h), or both, as in 1G+1h"},
	{"full", parse_full, "discard or overwrite"},
	{"prepare", parse_prepare, "self or thread"},
	{"owner", parse_owner, "a user of /etc/passwd, or UID or UID:GID"},
	{"write", parse_write, "map or call"},
	{"context", parse_context, "some of cpu, pid and name, as in cpu+pid"},
};

static const struct tp_options options_of_ctf = {
	.subject = "CTF trace",
	.consequence = "there is no trace",
	.known = known,
	.nr = sizeof(known) / sizeof(known[0]),
};

static uint64_t round_up(uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* What is not written is made to fit what is. */
static bool complete(struct tp_ctf_options *options, const struct selectors *w, const char *path)
{
	uint64_t packet = w->packet;

	if (!packet) {
		packet = w->flight ? PACKET_FLIGHT : PACKET_STREAM;
		/* Each thread has one at least. */
		while (w->size && packet > PACKET_MIN && packet * 32 > w->size)
			packet /= 2;
	}
	*options = (struct tp_ctf_options){
		.flight = w->flight,
		.prepare = w->prepare,
		.owner = w->owner,
		.write = w->write,
		.overwrite = w->full ? w->full == 'o' : w->flight,
		.context = w->context,
		.packet = (size_t)round_up(packet),
		.packets = w->packets ? w->packets : w->flight && !w->size ? PACKETS_FLIGHT : UINT64_MAX,
		.size = w->size ? w->size : UINT64_MAX,
		.keep = w->keep ? w->keep : UINT64_MAX,
		.rotate = w->rotate_size || w->rotate_time,
		.rotate_size = w->rotate_size ? w->rotate_size : UINT64_MAX,
		.rotate_time = w->rotate_time ? w->rotate_time : UINT64_MAX,
	};
	if (options->rotate && (w->flight || w->full == 'o' || w->packets || w->size)) {
		tp_complain("CTF trace '%s': rotate= goes with mode=stream only, and without full=overwrite, size= and packets=: "
			    "keep= says how many chapters stay; there is no trace",
			    path);
		return false;
	}
	if (w->full == 'o' && options->packets == UINT64_MAX && options->size == UINT64_MAX) {
		tp_complain("CTF trace '%s': full=overwrite says what is done at a limit: it needs size= or packets=; there is "
			    "no trace",
			    path);
		return false;
	}
	if (options->size >= 2 * (uint64_t)options->packet)
		return true;
	tp_complain("CTF trace '%s': size=%llu holds less than two packets of %zu bytes: a larger size= or a smaller "
		    "packet= is needed; there is no trace",
		    path, (unsigned long long)options->size, options->packet);
	return false;
}

bool tp_ctf_options_parse(struct tp_ctf_options *options, const char *text, const char *path)
{
	struct selectors w = {.flight = false};

	return tp_options_parse(&options_of_ctf, text, path, &w) && complete(options, &w, path);
}
