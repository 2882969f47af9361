/* SPDX-License-Identifier: MIT */
/*
 * start/output.c - the sinks by the names that TP_OUTPUT gives them, KIND:ARGUMENT.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/pid_name.h"
#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "sinks/latency/latency.h"
#include "sinks/text/text.h"
#include "start/start.h"

struct kind {
	const char *name;
	const char *usage;
	bool may_be_empty;                     /* what follows the colon */
	bool has_ids;                          /* it looks after %p itself */
	bool written;                          /* with each record: there is nothing to finish at the end */
	struct tp_sink *(*open)(char *argument); /* NULL with errno set, to 0 where it has said itself what is wrong */
	const char *(*advice)(int error);      /* NULL where there is none */
};

/* NAME[,OPTION...] becomes NAME; the options, or NULL. */
static char *take_options(char *name)
{
	char *options = strchr(name, ',');

	if (options)
		*options++ = '\0';
	return options;
}

/* For sinks that say themselves what is wrong with their options, which is EINVAL. */
static struct tp_sink *or_told(struct tp_sink *sink)
{
	if (!sink && errno == EINVAL)
		errno = 0;
	return sink;
}

/* ---- text ---- */

static struct tp_sink *open_text(char *name)
{
	if (strncmp(name, "stderr,", 7) != 0 && strncmp(name, "stdout,", 7) != 0)
		return tp_text_file_sink(name);
	tp_complain("TP_OUTPUT=text:%s: a text output has no options; ctf:DIRECTORY has; nothing goes there", name);
	errno = 0;
	return NULL;
}

/* ---- socket ---- */

static struct tp_sink *open_socket(char *path)
{
	return tp_text_socket_sink(path);
}

static const char *advice_socket(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return "; nobody listens there: start the reader first";
	case EPROTOTYPE:
		return "; a Unix socket is needed, of the type SOCK_SEQPACKET, SOCK_DGRAM or SOCK_STREAM";
	case EAGAIN:
		return "; its listener does not accept the connections that it has";
	case ENAMETOOLONG:
		return "; the path of a socket has 107 bytes at most: take a shorter one, or a relative one";
	default:
		return "";
	}
}

/* ---- ctf ---- */

static struct tp_sink *open_ctf(char *directory)
{
	const char *options = take_options(directory);

	return or_told(tp_ctf_sink_of_process(directory, options));
}

static const char *advice_ctf(int error)
{
	switch (error) {
	case EEXIST:
		return "; there is a trace in it already, of a process that lives, or with other files in it: take another directory, or put %p, the process id, in its name";
	case ELOOP:
		return "; it is a symbolic link, which is not followed: name the directory itself";
	case ENOTEMPTY:
		return "; put the trace in a directory of its own";
	default:
		return "";
	}
}

/* ---- perfetto ---- */

static struct tp_sink *open_perfetto(char *file)
{
	const char *options = take_options(file);
	struct tp_sink *sink = tp_perfetto_sink(file, options);

	if (!sink && options)
		errno = 0;
	return sink;
}

static const char *advice_perfetto(int error)
{
	switch (error) {
	case EEXIST:
		return "; a process writes to this file: take another one, or put %p, the process id, in its name";
	case EINVAL:
		return "; it is there, and is no regular file: take another name";
	default:
		return "";
	}
}

/* ---- ftrace ---- */

static struct tp_sink *open_ftrace(char *instance)
{
	struct tp_sink *sink = tp_ftrace_sink(instance);

	if (!sink)
		errno = 0;
	return sink;
}

/* ---- sdt ---- */

static struct tp_sink *open_sdt(char *argument)
{
	if (!*argument) {
		struct tp_sink *sink = tp_sdt_sink();
		if (!sink && errno == ENOTSUP) /* it has said why */
			errno = 0;
		return sink;
	}
	tp_complain("TP_OUTPUT=sdt:%s: an sdt output has no name and no options: write sdt:; nothing goes there", argument);
	errno = 0;
	return NULL;
}

/* ---- lttng ---- */

/* tp_lttng_sink() has said what there is to say; so that it stands once, the error becomes one that is told. */
static struct tp_sink *open_lttng(char *argument)
{
	if (*argument) {
		tp_complain("TP_OUTPUT=lttng:%s: nothing may follow the colon: LTTng's tools say what is recorded, and "
			    "where; nothing goes there", argument);
		errno = 0;
		return NULL;
	}
	struct tp_sink *sink = tp_lttng_sink();
	if (!sink && errno != ENOMEM)
		errno = 0;
	return sink;
}

/* ---- stats ---- */

static struct tp_sink *open_stats(char *file)
{
	const char *options = take_options(file);

	return or_told(tp_stats_sink(file, options));
}

static const char *advice_stats(int error)
{
	return error == EBUSY ? "; this file has other statistics of the process already" : "";
}

/* ---- latency ---- */

static struct tp_sink *open_latency(char *file)
{
	const char *options = take_options(file);

	return or_told(tp_latency_sink(file, file, options));
}

/* ---- All of them ---- */

static const struct kind kinds[] = {
	{"text", "text:stderr, text:stdout, text:FILE", false, false, true, open_text, NULL},
	{"socket", "socket:PATH", false, false, true, open_socket, advice_socket},
	{"ctf", "ctf:DIRECTORY", false, true, false, open_ctf, advice_ctf},
	{"perfetto", "perfetto:FILE", false, true, false, open_perfetto, advice_perfetto},
	{"stats", "stats:FILE", false, false, false, open_stats, advice_stats},
	{"latency", "latency:FILE", false, true, false, open_latency, NULL},
	{"lttng", "lttng:", true, false, true, open_lttng, NULL},
	{"ftrace", "ftrace:[INSTANCE]", true, false, true, open_ftrace, NULL},
	{"sdt", "sdt:", true, false, true, open_sdt, NULL},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *find_kind(const char *name, size_t len)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, name, len) == 0)
			return &kinds[i];
	}
	return NULL;
}

static void complain_with_usage(const char *output, const char *what)
{
	struct tp_buffer usage = {.text = NULL};

	for (size_t i = 0; i < NR_KINDS; i++)
		tp_buffer_printf(&usage, "%s%s", i == 0 ? "" : i == NR_KINDS - 1 ? " or " : ", ", kinds[i].usage);
	tp_complain("TP_OUTPUT=%s: %s; use %s", output, what, usage.failed ? "another" : usage.text);
	tp_buffer_free(&usage);
}

/* "%p" in the name becomes the process's id. The caller frees it. */
static char *expand(const char *name)
{
	char *expanded = tp_malloc(tp_pid_name_size(name));

	if (expanded)
		tp_pid_name(expanded, name, getpid());
	return expanded;
}

struct tp_sink *tp_output_open(const char *output, bool *written)
{
	const char *colon = strchrnul(output, ':');
	const struct kind *kind = find_kind(output, (size_t)(colon - output));

	if (!*output) {
		complain_with_usage(output, "there are patterns, but no output in front of them");
		return NULL;
	}
	if (!kind) {
		char what[64];
		snprintf(what, sizeof(what), "unknown kind '%.*s'", (int)(colon - output), output);
		complain_with_usage(output, what);
		return NULL;
	}
	const char *argument = *colon ? colon + 1 : colon;
	if (!kind->may_be_empty && (!*argument || *argument == ',')) {
		complain_with_usage(output, "the name is missing");
		return NULL;
	}
	char *name = kind->has_ids ? strdup(argument) : expand(argument);
	errno = ENOMEM;
	struct tp_sink *sink = name ? kind->open(name) : NULL;
	int error = errno;
	free(name);
	if (!sink && error)
		tp_complain("TP_OUTPUT=%s: %s%s; nothing goes there", output, tp_strerror(error),
			    kind->advice ? kind->advice(error) : "");
	*written = kind->written;
	return sink;
}
