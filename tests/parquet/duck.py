# SPDX-License-Identifier: MIT
"""Asks DuckDB, whose package npm brings."""

from __future__ import annotations

import fcntl
import json
import os
import shutil

from support import BUILD, Case, run, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "@duckdb/node-api@1.5.6-r.1"


def environment(case: Case) -> dict[str, str]:
    """For query.mjs; skips the test where npm does not have the package."""
    directory = os.path.join(BUILD, "duckdb")
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several tests, one installs it
        if not os.path.exists(os.path.join(directory, "node_modules/@duckdb/node-api")) and not _install(directory):
            unavailable(case, "npm has no DuckDB here")
    return {**os.environ, "DUCKDB": directory, "TZ": "UTC"}


def _install(directory: str) -> bool:
    if not shutil.which("npm") or not shutil.which("node"):
        return False
    os.makedirs(directory, exist_ok=True)
    command = ["timeout", "100", "npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", directory, PACKAGE]
    if run(command).returncode == 0:
        return True
    shutil.rmtree(directory)
    return False


def command(*queries: str) -> list[str]:
    return ["node", os.path.join(HERE, "query.mjs"), *queries]


def asked(case: Case, *queries: str, **options) -> list[list[dict]]:
    """The rows of each answer."""
    done = case.succeed(command(*queries), env=environment(case), **options)
    return [json.loads(line) for line in done.stdout.split("\n") if line]
