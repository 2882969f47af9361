/* SPDX-License-Identifier: MIT */
/*
 * filter.c - the filter of system calls that the arguments describe.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "program.h"

int notifications = -1;

static void add_call(scmp_filter_ctx filter, uint32_t action, const char *call)
{
	const size_t len = strcspn(call, ":!");
	char *name = strndup(call, len);
	unsigned int argument, value;
	char relation;
	int error;

	must(name, "strndup");
	int number = seccomp_syscall_resolve_name(name);
	must(number != __NR_SCMP_ERROR, name);
	if (call[len] == '!') {
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)atoi(call + len + 1)), number, 0);
	} else if (call[len] == ':') {
		must(sscanf(call + len, ":%u%c%u", &argument, &relation, &value) == 3, call);
		const bool is_mask = relation == '&';
		const struct scmp_arg_cmp compare = {
			.arg = argument,
			.op = is_mask ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
			.datum_a = is_mask ? ~(uint64_t)value : value,
		};
		error = seccomp_rule_add_array(filter, action, number, 1, &compare);
	} else {
		error = seccomp_rule_add(filter, action, number, 0);
	}
	must(error == 0, "seccomp_rule_add");
	free(name);
}

static void set_limits(void)
{
	static const int limited[] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC};

	for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
		const rlim_t limit = limited[i] == RLIMIT_NOFILE;
		must(setrlimit((__rlimit_resource_t)limited[i], &(struct rlimit){limit, limit}) == 0, "setrlimit");
	}
}

void enter_filter(char **calls, bool of_all_threads)
{
	const bool watch = strcmp(*arguments, "watch") == 0, kill_it = strcmp(*arguments, "kill") == 0;
	const int error = strcmp(*arguments, "EPERM") == 0 ? EPERM : ENOSYS;

	scmp_filter_ctx filter = seccomp_init(watch ? SCMP_ACT_NOTIFY : kill_it ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW);
	must(filter, "seccomp_init");
	for (char **call = calls; *call && strcmp(*call, "--") != 0; call++)
		add_call(filter, kill_it ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)error), *call);
	if (of_all_threads)
		must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0, "seccomp_attr_set");
	if (getenv("SANDBOX_LIMITS"))
		set_limits();
	if (seccomp_load(filter) != 0)
		_exit(CANNOT);
	if (watch)
		__atomic_store_n(&notifications, seccomp_notify_fd(filter), __ATOMIC_RELEASE);
}
