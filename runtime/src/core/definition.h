/* SPDX-License-Identifier: MIT */
/* core/definition.h - what a module defines. Without tp_registry_lock; one module at a time. */
#ifndef TP_DEFINITION_H
#define TP_DEFINITION_H

#include <tp/module.h>

/* Fills in the structures, and makes the module's lists, but for a module that brings its own. -ENOMEM: nothing has changed. */
int tp_module_define(struct tp_module *module);

/* Frees the lists. */
void tp_module_forget(struct tp_module *module);

#endif /* TP_DEFINITION_H */
