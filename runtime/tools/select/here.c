/* SPDX-License-Identifier: MIT */
/* here.c - in the place of the runtime's: what a filter asks for that is in no record is beside it in the trace. */
#include "filter/here.h"
#include "filter/operand.h"

#include "select/record_field.h"

static const struct event *here;

void record_here(const struct event *event)
{
	here = event;
}

struct tp_value_bytes tp_here_comm(void)
{
	return (struct tp_value_bytes){here->name, strnlen(here->name, COMM_SIZE)};
}

uint64_t tp_here_cpu(void)
{
	return (uint64_t)here->cpu;
}

/* The trace may be of another machine. */
uint32_t tp_here_last_cpu(void)
{
	return TP_CPUS_MAX - 1;
}

static bool not_in_traces(struct tp_buffer *hint)
{
	tp_buffer_printf(hint, "a trace has no names of functions; leave out .function, and compare with an address");
	return false;
}

bool tp_here_function(const char *name, uint64_t *address, uint64_t *size, struct tp_buffer *hint)
{
	(void)name;
	*address = *size = 0;
	return not_in_traces(hint);
}

bool tp_here_function_at(uint64_t *address, uint64_t *size, struct tp_buffer *hint)
{
	*size = *address = 0;
	return not_in_traces(hint);
}
