/* SPDX-License-Identifier: MIT */
/*
 * triggers/refusal.c - see wrong.h.
 */
#include <errno.h>

#include "triggers/refusal.h"

static void tell(struct tp_trigger_request *request, const struct tp_filter_error *wrong)
{
	if (wrong->error != -EINVAL)
		return;
	if (request->in_a_line)
		tp_filter_error_print_line(&request->text, request->trigger, wrong);
	else
		tp_filter_error_print(&request->text, request->trigger, wrong);
}

int tp_trigger_tell_wrong(struct tp_trigger_request *request, struct tp_filter_error *wrong, size_t begin)
{
	const int error = wrong->error;

	wrong->at += begin;
	tell(request, wrong);
	tp_filter_error_free(wrong);
	return error;
}

int tp_trigger_refuse(struct tp_trigger_request *request, const char *why)
{
	tp_buffer_printf(&request->text, "%s", why);
	return -EINVAL;
}
