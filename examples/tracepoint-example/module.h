/* SPDX-License-Identifier: MIT */
/*
 * module.h - what a module of this example is made of. A module is a shared
 * object; the host (host.c) is to it what the kernel is to a kernel module,
 * and this header what <linux/module.h> and its like are.
 */
#ifndef MODULE_H
#define MODULE_H

/* A task, as far as this example needs one. */
struct task_struct {
	char comm[16]; /* its name */
};

/* All that follows is found by name, across shared objects: visible even under -fvisibility=hidden. */
#pragma GCC visibility push(default)

/* Provided by the host: appends a line to the log. */
void printk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Provided by each module: called when it is loaded, and before it is
 * unloaded. 0 or a negative errno value, and then it is not loaded.
 */
int module_init(void);
void module_exit(void);

/*
 * Provided by a module that has a file in /proc: called when task opens the
 * file. 0 or a negative errno value.
 */
int proc_open(struct task_struct *task);

#pragma GCC visibility pop

#endif /* MODULE_H */
