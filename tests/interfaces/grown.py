# SPDX-License-Identifier: MIT
"""The interface behind the present one, as it may become: every structure that may grow has grown.

    grown.py DIRECTORY    copies runtime/ there, and changes the copy
"""

from __future__ import annotations

import os
import re
import shutil
import sys

import freeze
from building import interface_version
from support import ROOT, read

NUMBER = interface_version() + 1
APPENDED = "\tlong appended[4];\n"


def change(text: str) -> str:
    """A public header of the next interface."""
    text = re.sub(r"(#define TP_INTERFACE_VERSION) \d+", rf"\1 {NUMBER}", text)
    for name in freeze.GROWING:
        text = re.sub(rf"(^struct {name} {{\n.*?)^}};", rf"\1{APPENDED}}};", text, flags=re.S | re.M)
    return text


def copy(directory: str) -> None:
    shutil.rmtree(os.path.join(directory, "runtime"), ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "runtime"), os.path.join(directory, "runtime"))
    appended = 0
    for path in freeze.headers():
        path = os.path.join(directory, os.path.relpath(path, ROOT))
        text = change(read(path))
        appended += text.count(APPENDED)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    assert appended == len(freeze.GROWING), appended


if __name__ == "__main__":
    copy(sys.argv[1])
