/* SPDX-License-Identifier: MIT */
#include "elf/layout.h"

#include <stddef.h>

#include <tp/event.h>

static const struct layout layouts[] = {
	{.interface = 1, .event_level = 40, .class_field_size = 12, .class_print_fmt = 24, .class_evals = 32,
	 .field_size = 72},
};

const struct layout *layout_of(unsigned int interface)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].interface == interface)
			return &layouts[i];
	}
	return NULL;
}

/* The newest is that of the headers, as 64-bit compilers see them. */
#if __SIZEOF_POINTER__ == 8
_Static_assert(TP_INTERFACE_VERSION == 1, "a new interface has a row in layouts");

#define AT(struct_, member, at) _Static_assert(offsetof(struct struct_, member) == (at), #struct_ "." #member)
AT(tracepoint, line, TRACEPOINT_LINE);
AT(tracepoint, name, TRACEPOINT_NAME);
AT(tracepoint, proto, TRACEPOINT_PROTO);
AT(tracepoint, file, TRACEPOINT_FILE);
AT(tp_event, system, EVENT_SYSTEM);
AT(tp_event, name, EVENT_NAME);
AT(tp_event, event_class, EVENT_CLASS);
AT(tp_event, tracepoint, EVENT_TRACEPOINT);
AT(tp_event, loglevel, 40);
AT(tp_event_class, fields, CLASS_FIELDS);
AT(tp_event_class, nr_fields, CLASS_NR_FIELDS);
AT(tp_event_class, field_size, 12);
AT(tp_event_class, print_fmt, 24);
AT(tp_event_class, evals, 32);
AT(tp_event_field, name, FIELD_NAME);
AT(tp_event_field, type, FIELD_TYPE);
AT(tp_event_field, kind, FIELD_KIND);
AT(tp_event_field, relative, FIELD_RELATIVE);
AT(tp_event_field, type_class, FIELD_TYPE_CLASS);
AT(tp_event_field, offset, FIELD_OFFSET);
AT(tp_event_field, size, FIELD_SIZE);
AT(tp_event_field, element_size, FIELD_ELEMENT_SIZE);
AT(tp_event_field, is_signed, FIELD_IS_SIGNED);
AT(tp_eval, name, EVAL_NAME);
AT(tp_eval, value, EVAL_VALUE);
_Static_assert(sizeof(struct tp_event_field) == 72 && sizeof(struct tp_eval) == EVAL_SIZE, "sizes");
#endif
