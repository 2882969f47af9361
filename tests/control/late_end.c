/* SPDX-License-Identifier: MIT */
/*
 * late_end.c - preloaded into tp: a child ends right behind each look whether it has ended, and before anything else is
 * done. Only the first looks are so.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/wait.h>

pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*real)(pid_t, int *, int);
	static int nr_looks;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "waitpid");
	const pid_t ended = real(pid, status, options);
	if (ended == 0 && (options & WNOHANG) && nr_looks++ < 100) {
		siginfo_t info;
		waitid(pid < 0 ? P_ALL : P_PID, pid < 0 ? 0 : (id_t)pid, &info, WEXITED | WNOWAIT);
	}
	return ended;
}
