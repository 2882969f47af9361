/* SPDX-License-Identifier: MIT */
#include "client/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "fail_msg.h"

/* "timeout" sends its signal twice: what is being asked when the second one comes is asked to its end. */
#define GRACE_MS 1000

static int fd = -1;
static sigset_t wanted, mask_before;
static struct sigaction pipe_before, child_before;
static bool pending[NSIG]; /* read from the descriptor, and not yet returned */
static bool were_typed;
static int64_t pending_since; /* by CLOCK_MONOTONIC, in ms: when one was seen that ends this program, and is not yet returned; or 0 */

bool signals_begin(void)
{
	static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCHLD};
	const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};

	if (fd >= 0)
		return true;
	sigaction(SIGCHLD, &usual, &child_before); /* if it was ignored, nobody could learn how a child has ended */
	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct sigaction before;
		/* What is ignored stays so: nohup, and programs in a shell's background. */
		if (sigaction(all[i], NULL, &before) != 0 || before.sa_handler != SIG_IGN)
			sigaddset(&wanted, all[i]);
	}
	fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return fail_msg("no descriptor for signals can be made: %s", strerror(errno));
	sigprocmask(SIG_BLOCK, &wanted, &mask_before);
	sigaction(SIGPIPE, &ignore, &pipe_before);
	return true;
}

void signals_restore(void)
{
	if (fd < 0)
		return;
	sigaction(SIGPIPE, &pipe_before, NULL);
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void signals_end(void)
{
	if (fd < 0)
		return;
	while (signals_next())
		continue;
	signals_restore();
	close(fd);
	fd = -1;
}

int signals_fd(void)
{
	return fd;
}

static void read_all(void)
{
	struct signalfd_siginfo info;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo < NSIG)
			pending[info.ssi_signo] = true;
	}
}

int signals_next(void)
{
	read_all();
	for (int sig = 1; sig < NSIG; sig++) {
		if (pending[sig]) {
			pending[sig] = false;
			pending_since = 0;
			were_typed = were_typed || sig == SIGINT || sig == SIGQUIT;
			return sig;
		}
	}
	return 0;
}

bool signal_ends(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

bool signals_were_typed(void)
{
	return were_typed;
}

static bool is_pending(void)
{
	sigset_t blocked;
	bool ends = false;

	sigpending(&blocked); /* whoever waits at the descriptor still finds it there */
	for (int sig = 1; sig < NSIG; sig++)
		ends = ends || ((pending[sig] || (fd >= 0 && sigismember(&blocked, sig) > 0)) && signal_ends(sig));
	return ends;
}

int signals_patience(int ms)
{
	struct timespec now;

	if (!is_pending())
		return ms;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	if (!pending_since)
		pending_since = now_ms;
	const int64_t left = pending_since + GRACE_MS - now_ms;
	return left <= 0 ? 0 : left < ms ? (int)left : ms;
}

void signals_stop(void)
{
	raise(SIGSTOP);
}
