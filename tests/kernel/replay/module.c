/* SPDX-License-Identifier: MIT */
/* module.c - a kernel module with the events of replay.tp; a line that is written to /proc/replay hits one of them. */
#define CREATE_TRACE_POINTS
#include "module.h"

#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

static ssize_t replay_write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	static char line[512];
	static struct values values; /* there is one writer */

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = '\0';
	if (!values_scan(line, &values))
		return -EINVAL;
	if (strcmp(values.event, "all") == 0)
		trace_replay_all(&values);
	else if (strcmp(values.event, "begin") == 0)
		trace_replay_begin(&values);
	else if (strcmp(values.event, "end") == 0)
		trace_replay_end(&values);
	else
		return -EINVAL;
	return (ssize_t)len;
}

static const struct proc_ops replay_ops = { .proc_write = replay_write };

static int __init replay_init(void)
{
	return proc_create("replay", 0200, NULL, &replay_ops) ? 0 : -ENOMEM;
}

static void __exit replay_exit(void)
{
	remove_proc_entry("replay", NULL);
}

module_init(replay_init);
module_exit(replay_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Events that are replayed");
