/* SPDX-License-Identifier: MIT */
/*
 * control/synthetic.c - requests about synthetic events. What is defined here stays until it is removed.
 */
#include "base/message.h"
#include "control/request.h"
#include "events/synthetic.h"

static void put_synthetic(const char *definition, void *data)
{
	tp_buffer_printf(data, "synthetic %s\n", definition);
}

void tp_request_synthetics(struct tp_request *request, char *arguments)
{
	(void)arguments;
	tp_synthetics_each(put_synthetic, &request->reply);
	tp_buffer_printf(&request->reply, "ok\n");
}

void tp_request_synthetic(struct tp_request *request, char *arguments)
{
	struct tp_buffer why = {.text = NULL}, messages = {.text = NULL};

	tp_message_capture(&messages);
	const int error = tp_synthetic_define(arguments ? arguments : "", true, &why);
	tp_message_capture(NULL);
	if (!error)
		tp_buffer_printf(&request->reply, "ok\n");
	else if (why.len)
		tp_request_fail(request, -error, "%s", why.text);
	else
		tp_request_fail_with(request, -error, &messages);
	tp_buffer_free(&why);
	tp_buffer_free(&messages);
}
