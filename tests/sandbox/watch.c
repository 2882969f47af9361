/* SPDX-License-Identifier: MIT */
/*
 * watch.c - prints what the subject calls, and lets a forked child end when its threads have nothing more to call.
 */
#include <dirent.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

#define NR_CALLS 1024

static char *names[NR_CALLS];

/* ---- What is told of calls ---- */

/* Without malloc and stdio, whose locks the subject may hold: in fork(), for one. */
static void tell_call(struct seccomp_notif *request, struct seccomp_notif_resp *response)
{
	static bool told[NR_CALLS];
	int number;

	memset(request, 0, sizeof(*request));
	if (seccomp_notify_receive(notifications, request) != 0)
		return;
	number = request->data.nr;
	must(number >= 0 && number < NR_CALLS && names[number], "a call without a name");
	if (!told[number])
		must(write(STDOUT_FILENO, names[number], strlen(names[number])) > 0 && write(STDOUT_FILENO, "\n", 1) == 1, "write");
	told[number] = true;
	memset(response, 0, sizeof(*response));
	response->id = request->id;
	response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	seccomp_notify_respond(notifications, response);
}

/* ---- A child's threads ---- */

/* It sleeps for some time, and not for a lock: in futex(address, operation, value, timeout). */
static bool sleeps(pid_t process, const char *thread)
{
	char path[64];
	unsigned long timeout = 0;
	int call = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/syscall", (int)process, thread);
	FILE *now = fopen(path, "re");
	if (!now)
		return false;
	if (fscanf(now, "%d %*x %*x %*x %lx", &call, &timeout) < 1)
		call = -1; /* it runs */
	fclose(now);
	return call == __NR_futex && timeout;
}

static bool all_others_sleep(pid_t process)
{
	const struct dirent *entry;
	char path[64];
	bool all = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	DIR *threads = opendir(path);
	if (!threads)
		return false;
	while ((entry = readdir(threads))) {
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != process)
			all = all && sleeps(process, entry->d_name);
	}
	closedir(threads);
	return all;
}

/* Nobody waits to be told of a call. Two looks, as a thread may have begun to wait for that since: then it seems to sleep. */
static void look_after_child(void)
{
	static bool slept;
	const pid_t child = __atomic_load_n(&shared->child, __ATOMIC_ACQUIRE);
	const bool sleep = child && __atomic_load_n(&shared->has_hit, __ATOMIC_ACQUIRE) && all_others_sleep(child);

	if (slept && sleep)
		__atomic_store_n(&shared->may_end, 1, __ATOMIC_RELEASE);
	slept = sleep;
}

void wait_for_subject(void)
{
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;

	must(seccomp_notify_alloc(&request, &response) == 0, "seccomp_notify_alloc");
	for (int i = 0; i < NR_CALLS; i++)
		names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
	__atomic_store_n(&may_begin, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		struct pollfd event = {.fd = __atomic_load_n(&notifications, __ATOMIC_ACQUIRE), .events = POLLIN};
		if (poll(&event, 1, 5) == 1)
			tell_call(request, response);
		else
			look_after_child();
	}
	seccomp_notify_free(request, response);
}
