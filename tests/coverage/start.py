# SPDX-License-Identifier: MIT
"""What measured Pythons start with: coverage, also of processes that end by os._exit(), as support.tpgen()'s do."""

import contextlib
import os
import sys

sys.path.append("@PACKAGES@")  # as this is begun before Python has all of its path
import coverage  # noqa: E402
sys.path.remove("@PACKAGES@")

os.environ["COVERAGE_PROCESS_START"] = "@RC@"
measured = coverage.process_startup()
del os.environ["COVERAGE_PROCESS_START"]
end = os._exit


def _exit(status: int) -> None:
    with contextlib.suppress(BaseException):  # such as a full disk
        measured.stop()
        measured.save()
    end(status)


os._exit = _exit
