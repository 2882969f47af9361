# SPDX-License-Identifier: MIT
"""Freezes the present interface between generated code and library: "make freeze-interface".

Writes tests/interfaces/NUMBER with all that a program of this interface is made of, so that libraries of later
years can be tested with it:

    include/tp/        the public headers, without their comments
    *.c                what tests/interfaces/sources has
    *.h                what tpgen made of its .tp files: the first line, and the rest without comments and #line
    soname             the shared library that programs of it are linked with
    layout             offsets and sizes of the structures that cross the border, values of its enumerations
    functions          the declarations of the library's functions
    symbols            what the shared library exports

An interface that is frozen never changes: what is there is not written again.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from building import CC, interface_version, soname  # noqa: E402
from support import ROOT, read  # noqa: E402

HEADERS = os.path.join(ROOT, "runtime/include")

# Structures that may get members at their end, as their size is known wherever they are read. All others are fixed.
GROWING = ("tp_module", "tp_event", "tp_event_class", "tp_event_field", "tp_field_numbers", "marker", "tp_import", "tp_sink", "tp_sink_ops",
           "tp_tracepoint_info")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.S)
NAME = re.compile(r"DW_AT_name +: (?:\(.*\): )?(.+)")


def exported(library: str) -> list[str]:
    """The names that a shared object exports."""
    text = call("nm", "-D", "-P", "--defined-only", library)
    return sorted({line.split()[0].split("@")[0] for line in text.splitlines() if line.split()[1] not in "Aa"})


def call(*command: str, cwd: str = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


def without_comments(text: str) -> str:
    """C as the compiler sees it, and what it says of its licence."""
    text = COMMENT.sub(lambda match: match[1] or " ", text)
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    return "/* SPDX-License-Identifier: MIT */\n" + re.sub(r"\n{2,}", "\n", text.lstrip("\n"))


def headers() -> list[str]:
    return sorted(glob.glob(f"{HEADERS}/tp/*.h"))


def all_headers() -> str:
    """A file that includes all public headers."""
    return "".join(f"#include <tp/{os.path.basename(path)}>\n" for path in headers())


def described(debug: str, kind: str, member: str) -> dict[str, list[str]]:
    """Of the types of this kind that the public headers define, the names of the members, by DWARF's description."""
    text_of_all = "".join(without_comments(read(path)) for path in headers())
    found: dict[str, list[str]] = {}
    inside, names = 0, None
    tag = ""
    for line in debug.splitlines():
        if entry := re.match(r" *<(\w+)><\w+>: Abbrev Number: \d+(?: \((\w+)\))?", line):
            level, tag = int(entry[1], 16), entry[2] or ""
            if level <= inside:
                names = None
            if names is None and tag == kind:
                inside = level
        elif name := NAME.search(line):
            text = name[1].strip()
            if tag == kind and names is None and f"{kind_word(kind)} {text} {{" in text_of_all:
                names = found.setdefault(text, [])
            elif tag == member and names is not None:
                names.append(text)
    return found


def kind_word(kind: str) -> str:
    return {"DW_TAG_structure_type": "struct", "DW_TAG_enumeration_type": "enum"}[kind]


def layout(directory: str) -> str:
    """What the compiler makes of the structures and enumerations of the public headers, a macro a line."""
    source, program = os.path.join(directory, "layout.c"), os.path.join(directory, "layout")
    options = [CC, "-std=gnu11", "-D_GNU_SOURCE", "-I", HEADERS]
    with open(source, "w", encoding="utf-8") as file:
        file.write(all_headers())
    call(*options, "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-c", "-o", program + ".o", source)
    debug = call("readelf", "--debug-dump=info", program + ".o")
    lines = []
    for struct, members in sorted(described(debug, "DW_TAG_structure_type", "DW_TAG_member").items()):
        size = "GROWING" if struct in GROWING else "FIXED"
        lines.append(f'printf("{size}({struct}, %zu)\\n", sizeof(struct {struct}));')
        lines += [f'printf("MEMBER({struct}, {m}, %zu, %zu)\\n", offsetof(struct {struct}, {m}), '
                  f'sizeof(((struct {struct} *)0)->{m}));' for m in members if m != "__data"]
    for values in described(debug, "DW_TAG_enumeration_type", "DW_TAG_enumerator").values():
        lines += [f'printf("VALUE({value}, %d)\\n", (int){value});' for value in values]
    with open(source, "a", encoding="utf-8") as file:
        file.write("#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    call(*options, "-DTP_ENVIRONMENT=0", "-o", program, source, os.path.join(ROOT, "build/libtp.a"), "-lurcu-bp",
         "-lpthread", "-ldl")
    return call(program)


def functions(directory: str, names: list[str]) -> str:
    """The declarations of these functions, as the compiler repeats them."""
    source, said = os.path.join(directory, "functions.c"), os.path.join(directory, "said")
    with open(source, "w", encoding="utf-8") as file:
        file.write(all_headers())
    call("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-I", HEADERS, "-fsyntax-only", "-aux-info", said, source)
    found = re.findall(r"^/\* \S+/tp/\w+\.h:\d+:\w+ \*/ (extern .*?\b(\w+) \(.*;)", read(said), re.M)
    # A va_list that is a parameter, of x86-64, is repeated by a name that no program can write.
    return "".join(sorted({text.replace("__va_list_tag *", "va_list") + "\n" for text, name in found if name in names}))


def freeze(directory: str) -> None:
    """Fills the directory, which is new."""
    os.makedirs(os.path.join(directory, "include/tp"))

    def write(name: str, text: str) -> None:
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    sources = os.path.join(HERE, "sources")
    for path in glob.glob(f"{sources}/*.c"):
        shutil.copy(path, directory)
    subprocess.run([sys.executable, "-m", "tpgen", "gen", "-o", directory, *glob.glob("*.tp", root_dir=sources)],
                   cwd=sources, check=True, env={**os.environ, "PYTHONPATH": ROOT})
    for path in glob.glob(f"{directory}/*.h"):
        first, _, text = read(path).partition("\n")
        write(os.path.basename(path), f"{first}\n" + without_comments(re.sub(r"^#line .*\n", "", text, flags=re.M)))
    for path in headers():
        write(f"include/tp/{os.path.basename(path)}", without_comments(read(path)))
    library = os.path.join(ROOT, "build/libtp.so")
    write("soname", soname() + "\n")
    write("symbols", "".join(name + "\n" for name in exported(library)))
    with tempfile.TemporaryDirectory() as scratch:
        write("layout", layout(scratch))
        write("functions", functions(scratch, exported(library)))


def main() -> int:
    directory = os.path.join(HERE, str(interface_version()))
    if os.path.exists(directory):
        print(f"{directory} is there: an interface that was frozen never changes. For a new one, raise "
              "TP_INTERFACE_VERSION in runtime/include/tp/tracepoint.h and INTERFACE_VERSION in tpgen/__init__.py",
              file=sys.stderr)
        return 1
    try:
        freeze(directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    print(f"{directory} is the interface from now on: commit it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
