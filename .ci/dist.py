# SPDX-License-Identifier: MIT
"""Makes the tarball of a release: the same bytes each time, on any day, in any folder, for any user.

    python3 .ci/dist.py FOLDER     writes FOLDER/tpgen-VERSION.tar.xz

In a clone, the tarball has the files of HEAD. It has a file MANIFEST as well, which lists them. So an unpacked tarball
needs no git to make the tarball again. SOURCE_DATE_EPOCH is the time of all files; without it, that of the commit.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tarfile

try:
    import lzma
except ImportError:
    sys.exit(f"dist: {sys.executable} was built without liblzma; say PYTHON=/usr/bin/python3, or another one that has it")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANIFEST = "MANIFEST"
VERSION_HEADER = "runtime/include/tp/tracepoint.h"

# Of each file, by its name: whether it is a program, and its contents.
Files = dict[str, tuple[bool, bytes]]


class Failure(Exception):
    """The text says why there is no tarball."""


def git(*args: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", ROOT, *args], check=True, stdout=subprocess.PIPE).stdout
    except FileNotFoundError:
        raise Failure("this is a clone, and git is not installed; install it") from None
    except subprocess.CalledProcessError as error:
        raise Failure(f"git {args[0]} has failed: its message is above") from error


def of_commit() -> tuple[Files, str, int]:
    """The files of HEAD, its name, and its time."""
    if git("status", "--porcelain"):
        print("dist: there are changes that are not committed; the tarball has HEAD, without them", file=sys.stderr)
    found: Files = {}
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", "HEAD"))) as archive:
        for member in archive:
            if member.isdir():
                continue
            content = archive.extractfile(member) if member.isreg() else None
            if not content:
                raise Failure(f"{member.name} is no regular file, and a tarball has no others")
            found[member.name] = bool(member.mode & 0o100), content.read()
    commit, seconds = git("log", "-1", "--format=%H %ct").decode().split()
    return found, commit, int(seconds)


def of_tarball() -> tuple[Files, str, int]:
    """The same of an unpacked tarball."""
    try:
        with open(os.path.join(ROOT, MANIFEST), encoding="utf-8") as file:
            head, _, names = file.read().partition("\n")
    except FileNotFoundError:
        raise Failure(f"{ROOT} is no clone and no unpacked tarball: it has neither .git nor {MANIFEST}") from None
    known = re.fullmatch(r"# .*, commit (\w+), seconds (\d+)", head)
    if not known:
        raise Failure(f"the first line of {MANIFEST} is not as this program writes it; unpack the tarball again")
    found: Files = {}
    for name in names.splitlines():
        path = os.path.join(ROOT, name)
        try:
            with open(path, "rb") as content:
                found[name] = bool(os.fstat(content.fileno()).st_mode & 0o100), content.read()
        except OSError as error:
            raise Failure(f"{MANIFEST} lists {name}: {error.strerror}; unpack the tarball again") from error
    return found, known[1], int(known[2])


def epoch(default: int) -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given and not re.fullmatch(r"\d{1,11}", given):
        raise Failure(f"SOURCE_DATE_EPOCH is '{given}'; it must be seconds since 1970, such as {default}")
    return int(given) if given else default


def packed(files: Files, top: str, seconds: int) -> bytes:
    """Nothing of the machine is in it: no user, no time, no order of a directory."""
    out = io.BytesIO()
    with lzma.open(out, "w", preset=6) as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (program, content) in sorted(files.items()):
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size, member.mtime, member.mode = len(content), seconds, 0o755 if program else 0o644
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def write(path: str, content: bytes) -> None:
    """All of it, or nothing."""
    new = f"{path}.new"
    try:
        with open(new, "wb") as file:
            file.write(content)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def main(folder: str) -> None:
    files, commit, seconds = of_commit() if os.path.exists(os.path.join(ROOT, ".git")) else of_tarball()
    files.pop(MANIFEST, None)
    seconds = epoch(seconds)
    found = re.search(r'^#define TP_VERSION "(.*)"$', files[VERSION_HEADER][1].decode(), re.M)
    if not found:
        raise Failure(f"{VERSION_HEADER} defines no TP_VERSION")
    top = f"tpgen-{found[1]}"
    names = "".join(f"{name}\n" for name in sorted(files))
    files[MANIFEST] = False, f"# Files of {top}, commit {commit}, seconds {seconds}\n{names}".encode()
    path = os.path.join(folder, f"{top}.tar.xz")
    os.makedirs(folder, exist_ok=True)
    write(path, packed(files, top, seconds))
    print(path)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Failure, OSError) as error:
        sys.exit(f"dist: {error}")
