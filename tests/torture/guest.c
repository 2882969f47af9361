/* SPDX-License-Identifier: MIT */
/* guest.c - a module with probes. Code and data are gone with it: a late call crashes. */
#include <stdlib.h>

#include "points.h"
#include "visitor.h"

#include "modules.h"

#define MAGIC 0x67756573u

struct guest {
	unsigned int magic;
	enum point point;
};

static struct guest guests[] = {
	{MAGIC, POINT_torture_plain},
	{MAGIC, POINT_torture_bare},
	{MAGIC, POINT_visitor_plain},
};
static unsigned long token, own_calls;
static bool begun, forgets;

static void hear(void *data, unsigned long a, unsigned long b, unsigned long check)
{
	const struct guest *guest = data;

	if (guest->magic != MAGIC || check != checksum(guest->point, a, b))
		abort();
	dawdle(); /* and come back to code that must still be there */
	if (a == __atomic_load_n(&token, __ATOMIC_RELAXED))
		own_calls++;
}

int guest_begin(void)
{
	int error = register_trace_torture_plain(hear, &guests[0]);

	if (!error)
		error = register_trace_prio_torture_bare(hear, &guests[1], 11);
	if (!error)
		error = register_trace_visitor_plain(hear, &guests[2]);
	begun = true;
	return error;
}

int guest_end(void)
{
	int error = unregister_trace_torture_plain(hear, &guests[0]);

	if (!error)
		error = unregister_trace_torture_bare(hear, &guests[1]);
	if (!error)
		error = unregister_trace_visitor_plain(hear, &guests[2]);
	tracepoint_synchronize_unregister();
	begun = false;
	return error;
}

void guest_forget(void)
{
	forgets = true;
}

void guest_listen_for(unsigned long own_token)
{
	__atomic_store_n(&token, own_token, __ATOMIC_RELAXED);
}

unsigned long guest_own(void)
{
	return own_calls;
}

static void __attribute__((constructor)) come(void)
{
	if (torture_guest_begins_by_itself() && guest_begin() != 0)
		abort();
}

static void __attribute__((destructor)) go(void)
{
	if (begun && !forgets && guest_end() != 0)
		abort();
}
