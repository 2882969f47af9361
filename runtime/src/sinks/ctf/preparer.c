/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/preparer.c - a thread that makes packets ahead of need, and closes full
 * ones, so that those that record need not.
 */
#include <string.h>

#include "base/message.h"
#include "sinks/ctf/ctf.h"

static void work(void *sink)
{
	tp_ctf_packets_work(sink);
}

void tp_ctf_preparer_start(struct tp_ctf_sink *sink)
{
	sink->preparer = (struct tp_helper_thread){.name = "tp-prepare", .work = work, .data = sink};
	sink->preparing = true;
	int error = tp_helper_thread_start(&sink->preparer);
	if (!error)
		return;
	sink->preparing = false;
	tp_complain("CTF trace '%s': no thread can be made that prepares packets: %s; the threads that record "
		    "do it themselves",
		    sink->path, tp_strerror(error));
}

void tp_ctf_preparer_stop(struct tp_ctf_sink *sink)
{
	if (!sink->preparing)
		return;
	tp_helper_thread_stop(&sink->preparer);
	sink->preparing = false;
}
