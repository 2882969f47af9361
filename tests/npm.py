# SPDX-License-Identifier: MIT
"""Packages of npm, each in a directory below build/."""

from __future__ import annotations

import fcntl
import os
import shutil

from support import BUILD, run


def package(name: str, file: str, commands: str) -> str:
    """The directory in which the shell's commands make this file of a package; or "" where that can't be had. It is whole, or is not
    there: of several tests that want it at once, one makes it."""
    directory = os.path.join(BUILD, name)
    os.makedirs(BUILD, exist_ok=True)
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(directory, file)):
            return directory
        if not shutil.which("npm") or not shutil.which("node"):
            return ""
        new = f"{directory}.new"
        for old in (directory, new):
            shutil.rmtree(old, ignore_errors=True)
        os.mkdir(new)
        if run(["sh", "-c", commands], cwd=new).returncode:
            shutil.rmtree(new)
            return ""
        os.rename(new, directory)
    return directory
