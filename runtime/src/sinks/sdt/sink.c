/* SPDX-License-Identifier: MIT */
/*
 * sinks/sdt/sink.c - the SDT sink: each record is shown to whoever has put a probe on
 * tp:record, from outside, in a program that need not be compiled with TP_SDT.
 *
 * A record is built in scratch memory, and gone behind the probe.
 */
#include <errno.h>
#include <stdlib.h>

#include <tp/tp.h>

#undef TP_SDT
#define TP_SDT TP_SDT_POSSIBLE
#include <tp/sdt.h>

#include "base/message.h"
#include "base/text.h"
#include "record/record.h"

#if TP_SDT

static void sdt_commit(struct tp_record *rec)
{
	TP_SDT_PROBE("tp", "record", (const struct trace_entry *)rec->entry, (size_t)rec->size, rec->event->system,
		     rec->event->name);
	tp_scratch_pop(rec->entry);
}

static int sdt_close(struct tp_sink *sink)
{
	tp_sink_tell_lost(sink);
	free(sink);
	return 0;
}

static const struct tp_sink_ops sdt_ops = {
	.name = "sdt",
	.reserve = tp_reserve_scratch,
	.commit = sdt_commit,
	.close = sdt_close,
};

struct tp_sink *tp_sdt_sink(void)
{
	struct tp_sink *sink = tp_malloc(sizeof(*sink));
	int error = -ENOMEM;

	if (sink) {
		*sink = (struct tp_sink){.ops = &sdt_ops};
		error = tp_sink_open(sink, &sdt_ops);
		if (!error)
			return sink;
		free(sink);
	}
	errno = -error;
	return NULL;
}

#else

struct tp_sink *tp_sdt_sink(void)
{
	tp_complain("sdt output: there are probes for outside tools on 64-bit x86 and ARM, but not on this processor; nothing goes there");
	errno = ENOTSUP;
	return NULL;
}

#endif
