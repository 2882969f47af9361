# SPDX-License-Identifier: MIT
"""Asks a kernel: boots it in an emulator, plays the scripts of this folder there, and keeps the answers in them.

    python3 tests/kernel/replay/ask.py

It needs qemu-system-x86, busybox-static and the whole linux-headers package of the newest series of tree.SERIES
(linux-headers-VERSION-amd64, with which the module is built), and fetches Debian's image of that version with
apt-get. It takes a minute or two. $QEMU and $BUSYBOX are as for boot.py. IMAGE=DIRECTORY is the image, unpacked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from kernel import boot, tree  # noqa: E402

SCRIPTS = ("filters", "triggers", "hists", "variables", "mistakes")
_HEAD = "# Answers of "
# Lists of processors can name eight. One is enough to run on: with more, the emulator fails when the kernel patches itself.
_CPUS, _RUNNING = "8", "maxcpus=1"
_PARAMETERS = f"{_RUNNING} -- {' '.join(SCRIPTS)}"  # the last are init.c's


def _module(found: tree.Tree, work: str) -> str:
    """The module, built as the kernel's own are; nothing is written into the tree."""
    source = os.path.join(work, "module")
    shutil.copytree(HERE, source)
    subprocess.run(["make", "-s", "-C", found.config, f"M={source}", "modules"], check=True)
    return os.path.join(source, "replay.ko")


def _initramfs(found: tree.Tree, work: str) -> str:
    root = os.path.join(work, "root")
    os.makedirs(os.path.join(root, "dev"))
    subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o", f"{root}/init",
                    f"{HERE}/init.c", f"{HERE}/play.c"], check=True)
    for path in [_module(found, work), f"{HERE}/records.txt", *(f"{HERE}/{name}.txt" for name in SCRIPTS)]:
        shutil.copy(path, root)
    return boot.pack(root)


def ask(found: tree.Tree) -> None:
    """Writes a kernel's answers into the scripts."""
    with tempfile.TemporaryDirectory(prefix="tpgen-ask-") as work:
        image = os.environ.get("IMAGE") or boot.fetch_image(found, work)
        answers = os.path.join(work, "answers")
        console = boot.emulate(image, _initramfs(found, work), "-m", "1G", "-smp", _CPUS, "-serial", f"file:{answers}",
                               parameters=_PARAMETERS)
        with open(answers, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    parts = dict(re.findall(r"^@@ (\w+)\n(.*?)(?=^@@)", text, re.M | re.S))
    if not text.endswith("@@ end\n") or list(parts) != list(SCRIPTS):
        sys.exit(f"The kernel did not come to the end:\n{text[-2000:]}{console[-4000:]}")
    for name, script in parts.items():
        lines = [line for line in script.splitlines() if not line.startswith(_HEAD)]
        lines.insert(1, f"{_HEAD}Linux {found.package}.")
        with open(os.path.join(HERE, f"{name}.txt"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    newest = tree.find(tree.SERIES[-1])
    if not newest:
        sys.exit(f"There are no headers of Linux {tree.SERIES[-1]}: see .ci/deps")
    ask(newest)
