# SPDX-License-Identifier: MIT
"""What the tests of daemons share."""

from __future__ import annotations

import contextlib
import functools
import os
import select
import signal
import subprocess

from building import build, generate
from support import PATIENCE, Case, read, temporary, unavailable, until

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534

# A child hits its first tracepoint in a signal handler that must not allocate: it has interrupted malloc.
HANDLER = """\
#define CREATE_TRACE_POINTS
#include "daemon.h"
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody may allocate from here on. */
static volatile int forbidden;
void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
	if (forbidden)
		abort();
	return __libc_malloc(size);
}

static void handle(int sig)
{
	(void)sig;
	forbidden = 1;
	trace_daemon_work(7);
	_exit(0);
}

int main(void)
{
	signal(SIGUSR1, handle);
	if (fork() == 0)
		raise(SIGUSR1);
	int status = 1;
	wait(&status);
	return status != 0;
}
"""


@functools.cache
def built() -> str:
    """The directory of the program."""
    path = temporary()
    os.chmod(path, 0o755)
    for output, source in (("daemon", "daemon"), ("plugin.so", "plugin")):
        generate(path, os.path.join(HERE, f"{source}.tp"))
        build(os.path.join(path, output), os.path.join(HERE, f"{source}.c"), include=[path], libtp="shared")
    return path


class Daemons(Case):
    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.program = os.path.join(built(), "daemon")
        self.handles: dict[int, int] = {}  # by process

    def need_root(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can become somebody else")

    def environment(self, **env: str) -> dict[str, str]:
        return {**os.environ, **env}

    def start(self, *steps: str, stderr=subprocess.DEVNULL, cwd: str = "", **env: str) -> subprocess.Popen:
        """Starts it; it need not go into the background."""
        process = subprocess.Popen([self.program, *steps], cwd=self.path(cwd), env=self.environment(**env), stderr=stderr,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        if process.poll() is None:
            process.kill()
        process.wait()

    def wait_for(self, name: str) -> str:
        """Waits for a file, and returns what is in it."""
        until(lambda: os.path.exists(self.path(name)), name)
        return read(self.path(name))

    def pid(self, name: str = "pid") -> int:
        """That of the daemon, which it writes itself; it is killed at the end."""
        pid = int(self.wait_for(name))
        # A number may be another process's before it is killed.
        if pid not in self.handles:
            with contextlib.suppress(ProcessLookupError):
                self.handles[pid] = os.pidfd_open(pid)
                self.addCleanup(os.close, self.handles[pid])
                self.addCleanup(self.kill, pid)
        return pid

    def kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handles[pid], signal.SIGKILL)

    def gone(self, pid: int) -> None:
        """Waits for the end of a process whose number is from pid()."""
        if pid in self.handles and not select.select([self.handles[pid]], [], [], PATIENCE)[0]:
            self.fail(f"process {pid} has not ended")

    def records(self, trace: str) -> list[int]:
        """The values of n in a trace."""
        text = self.read_by("babeltrace2", trace)
        return [int(line.rsplit("n = ", 1)[1].split(" ")[0]) for line in text.splitlines()]
