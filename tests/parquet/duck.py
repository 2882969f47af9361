# SPDX-License-Identifier: MIT
"""Asks DuckDB, whose package npm brings."""

from __future__ import annotations

import json
import os

from npm import package
from support import Case, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "@duckdb/node-api@1.5.6-r.1"


def environment(case: Case) -> dict[str, str]:
    """For query.mjs; skips the test where npm does not have the package."""
    directory = package("duckdb", "node_modules/@duckdb/node-api", f"timeout 100 npm install --silent --no-fund --no-audit --prefix . {PACKAGE}")
    if not directory:
        unavailable(case, "npm has no DuckDB here")
    return {**os.environ, "DUCKDB": directory, "TZ": "UTC"}


def command(*queries: str) -> list[str]:
    return ["node", os.path.join(HERE, "query.mjs"), *queries]


def asked(case: Case, *queries: str, **options) -> list[list[dict]]:
    """The rows of each answer."""
    done = case.succeed(command(*queries), env=environment(case), **options)
    return [json.loads(line) for line in done.stdout.split("\n") if line]
