# SPDX-License-Identifier: MIT
"""Builds what tests run: headers from .tp files, programs and shared objects with the runtime.

Tests whose subject is the building itself (compilers, linkers and their
options) spell out their commands; all others call generate() and build().
"""

from __future__ import annotations

import fcntl
import functools
import glob
import hashlib
import os
import re
import shlex
import threading
from collections.abc import Callable, Sequence

from support import BUILD, ROOT, RUNTIME_INCLUDES, WARNINGS, read, run, tpgen

CC = os.environ.get("CC") or "gcc"
CXX = {"gcc": "g++", "clang": "clang++"}

FRAMES = "-fno-omit-frame-pointer"
# liburcu 0.13 places its per-thread structures at odd addresses. clang's check of function types needs the C++
# library, which a C program is not linked with.
SANITIZERS = {
    "asan": ["-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", FRAMES],
    "tsan": ["-fsanitize=thread", FRAMES],
}


INTERFACE_HEADER = "runtime/src/core/interface.h"


def constant(macro: str, header: str = "runtime/include/tp/tracepoint.h") -> int:
    """The value of a macro of the runtime."""
    return int(re.findall(rf"^#define {macro} (\d+)", read(os.path.join(ROOT, header)), re.M)[0])


def interface_version() -> int:
    """The interface of today's headers and library."""
    return constant("TP_INTERFACE_VERSION")


def oldest_interface() -> int:
    """The oldest that the library serves."""
    return constant("TP_OLDEST_INTERFACE", INTERFACE_HEADER)


def soname() -> str:
    return f"libtp.so.{constant('TP_SONAME', INTERFACE_HEADER)}"


class BuildError(AssertionError):
    """A command has failed, or has said something."""


def call(command: Sequence[str]) -> None:
    """Runs a command that must succeed and say nothing."""
    done = run([*command])
    if done.returncode or done.stdout or done.stderr:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


def generate(directory: str, *paths: str, **options) -> None:
    """Writes the headers of .tp files into the directory."""
    done = tpgen("gen", "-o", directory, *paths, **options)
    if done.returncode or done.stderr:
        raise BuildError(f"tpgen gen {shlex.join(paths)}\n{done.stderr}")


def sanitize(sanitizer: str, compiler: str = CC) -> list[str]:
    """A compiler's options for a sanitizer: "", "asan" or "tsan"."""
    flags = SANITIZERS.get(sanitizer, [])
    return [*flags, "-fno-sanitize=function"] if sanitizer == "asan" and "clang" in compiler else [*flags]


def runtime(libtp: str, compiler: str = CC) -> list[str]:
    """The linker's arguments for the runtime.

    libtp is "static" or "shared", "whole" for a program that lends all of it to its modules, "" for none, or a
    sanitizer, and then the runtime is shared, built with that, and checks the order of its locks; "ranks" is that alone.
    """
    shared = BUILD if libtp == "shared" else sanitized(libtp, compiler) if libtp in ("ranks", *SANITIZERS) else ""
    found = {"static": [os.path.join(BUILD, "libtp.a")],
             "whole": ["-rdynamic", "-Wl,--whole-archive", os.path.join(BUILD, "libtp.a"), "-Wl,--no-whole-archive"],
             "": []}.get(libtp, [f"-L{shared}", f"-Wl,-rpath,{shared}", "-ltp"])
    return [*found, *(["-lurcu-bp", "-lpthread", "-ldl"] if libtp else [])]


def build(output: str, *sources: str, compiler: str = CC, include: Sequence[str] = (), flags: Sequence[str] = (),
          link: Sequence[str] = (), libtp: str = "static") -> str:
    """Makes a program of C and C++ sources; or, by output's ending, a shared object (.so) or an object (.o).

    include are directories in front of the runtime's headers, flags go to the compiler and the linker, link to the
    linker only, behind everything else. Warnings are errors. Returns output.
    """
    cc = shlex.split(compiler)
    cxx = [CXX.get(cc[0], cc[0]), *cc[1:]]
    kind = {".so": ["-shared", "-fPIC"], ".o": ["-c"]}.get(os.path.splitext(output)[1], [])
    common = ["-D_GNU_SOURCE", "-g", *([] if any(f.startswith("-O") for f in flags) else ["-O2"]), *WARNINGS,
              *(word for d in include for word in ("-I", d)), *RUNTIME_INCLUDES[:2], *flags,
              *sanitize(libtp, compiler)]
    is_cxx = [source.endswith((".cc", ".cpp")) for source in sources]
    if len(sources) == 1 or not any(is_cxx):
        language = [*cxx, "-std=gnu++17"] if any(is_cxx) else [*cc, "-std=gnu11"]
        libs = [] if kind == ["-c"] else [*runtime(libtp, compiler), *link]
        call([*language, *common, *kind, "-o", output, *sources, *libs])
        return output
    objects = []
    for source, is_one in zip(sources, is_cxx):
        objects.append(f"{output}-{os.path.basename(source)}.o")
        language = [*cxx, "-std=gnu++17"] if is_one else [*cc, "-std=gnu11"]
        call([*language, *common, *(["-fPIC"] if kind else []), "-c", "-o", objects[-1], source])
    call([*cxx, *flags, *sanitize(libtp, compiler), *kind, "-o", output, *objects, *runtime(libtp, compiler), *link])
    return output


# ---- What several tests need, and takes long ----

_locks: dict[str, threading.Lock] = {}
_locks_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def digest(*places: str) -> str:
    """A hash of these files, and of all that is in these folders."""
    found = hashlib.sha256()
    for place in (os.path.join(ROOT, place) for place in places):
        for path in [place, *sorted(glob.glob(os.path.join(place, "**"), recursive=True))]:
            if os.path.isfile(path) and not path.endswith(".pyc"):
                found.update(path.encode() + b"\0")
                with open(path, "rb") as file:
                    found.update(file.read())
    return found.hexdigest()


def once(directory: str, key: object, make: Callable[[], None], *folders: str) -> None:
    """Has a directory below build/ filled by make(), unless key and the folders' files are those of the last time.

    key is what make() goes by besides them. Of several processes that want it at once, one does it.
    """
    with _locks_lock:
        lock = _locks.setdefault(directory, threading.Lock())
    os.makedirs(directory, exist_ok=True)
    stamp = os.path.join(directory, "stamp")
    shared = digest("tests/building.py", "tests/support.py")
    wanted = hashlib.sha256((shared + digest(*folders) + repr(key)).encode()).hexdigest()
    with lock, open(os.path.join(directory, "lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(stamp) and read(stamp) == wanted:
            return
        make()
        with open(stamp, "w", encoding="ascii") as file_of_stamp:
            file_of_stamp.write(wanted)


DEBUG = "-gdwarf-4"  # valgrind 3.19 can't read the DWARF 5 of clang 14


def make(*targets: str, build: str = BUILD, **variables: str) -> None:
    """Makes files below a directory for such files, build/ or another one. Of several processes, one does it at a time."""
    os.makedirs(build, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS")}
    with open(os.path.join(build, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(["make", "-s", f"-j{os.cpu_count() or 1}", f"BUILD={os.path.relpath(build, ROOT)}",
                    *(f"{name}={value}" for name, value in variables.items()),
                    *(os.path.relpath(os.path.join(build, target), ROOT) for target in targets)], env=env)
    if done.returncode:
        raise BuildError(done.stdout + done.stderr)


def sanitized(sanitizer: str, compiler: str = CC) -> str:
    """The directory of libtp.so and libtp.a with a sanitizer; another word for none. They check the order of their locks."""
    name = sanitizer if sanitizer in SANITIZERS else "ranks"
    # What "make check" has made already.
    build_directory = BUILD if (name, compiler) == ("asan", CC) else os.path.join(BUILD, os.path.basename(compiler.split()[0]))
    make(f"{name}/libtp.so", f"{name}/libtp.a", build=build_directory, CC=compiler,
         **({} if build_directory == BUILD else {"CFLAGS": f"-O1 {DEBUG}"}))
    return os.path.join(build_directory, name)
