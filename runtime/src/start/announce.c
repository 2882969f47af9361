/* SPDX-License-Identifier: MIT */
/*
 * start/announce.c - a module that announces itself with all that there is:
 * its events, what the environment says of them, and control from outside.
 */
#include <tp/module.h>

#include "base/file.h"
#include "base/stack.h"
#include "control/control.h"
#include "core/core.h"
#include "events/events.h"
#include "print/symbol.h"
#include "start/start.h"

void tp_module_announce(struct tp_module *module)
{
	if (!tp_module_is_served(module))
		return;
	tp_objects_learn();
	tp_events_listen();
	tp_module_load(module);
	tp_environment_start();
	tp_environment_tell_unmatched(module);
	tp_control_start_if_wanted();
	if (tp_sandboxed)
		tp_stack_start(); /* later it could not be loaded */
}
