# SPDX-License-Identifier: MIT
"""Numbers that the documents and the headers' comments quote are those of the code.

QUOTED has a line for each quotation: the document, a regular expression whose groups are the numbers, and where
the code defines them. Runs of white space in the document count as one blank, so that text can be wrapped anew.
"""

from __future__ import annotations

import os
import platform
import re
import unittest
from dataclasses import dataclass

from support import ROOT, RUNTIME_INCLUDES, Case, read

API, LANGUAGE, ARCHITECTURE = (f"docs/{name}.md" for name in ("api", "language", "internals/architecture"))
CTF, TEXT, STATISTICS, FTRACE_PAGE, USDT = (f"docs/outputs/{name}.md" for name in ("ctf", "text", "statistics", "ftrace", "usdt"))
FILTERS, TRIGGERS, RECORDS = "docs/filters.md", "docs/triggers.md", "docs/internals/records.md"
DIAGNOSTICS, ENVIRONMENT, PRODUCTION = (f"docs/{name}.md" for name in ("diagnostics", "environment", "production"))

HEADERS = "runtime/include/tp/"
TRACEPOINT, EVENT, MARKER = HEADERS + "tracepoint.h", HEADERS + "event.h", HEADERS + "marker.h"
ASSIGN, SDT, SCRATCH = HEADERS + "assign.h", HEADERS + "sdt.h", HEADERS + "scratch.h"
INTERFACE = "runtime/src/core/interface.h"
CTF_OPTIONS, STATS, STATS_OPTIONS = (f"runtime/src/sinks/{name}" for name in ("ctf/options.c", "stats/stats.h", "stats/options.c"))
HISTOGRAMS, HIST, HIST_TABLE = "docs/histograms.md", "runtime/src/sinks/hist/definition.h", "runtime/src/sinks/hist/table.h"
SYNTHETIC, FILTER = "runtime/src/events/synthetic_format.h", "runtime/src/filter/filter.h"
POINTER = "runtime/src/print/pointer.c"
COMPILER = "tpgen/compiler.py"
FTRACE = "runtime/src/sinks/ftrace/sink.c"

_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10, "twelve": 12, "twelfth": 12}
_SUFFIXES = {"K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "G": 1 << 30, "GiB": 1 << 30}
_NUMBER = r"(\d[\d,]*(?:\.\d+)?(?: ?[KMG](?:iB)?\b)?|" + "|".join(_WORDS) + ")"
_NS_PER_S = 10 ** 9


def number(text: str) -> float:
    """What a document writes: 65528, 1,000, 256 KiB, 4K, 0.01, twelve."""
    if text in _WORDS:
        return _WORDS[text]
    match = re.fullmatch(r"([\d.]+) ?(\w*)", text.replace(",", ""))
    assert match, text
    return float(match[1]) * _SUFFIXES.get(match[2], 1)


def found(path: str, pattern: str) -> str:
    """The group of a pattern that a source file has once."""
    matches = re.findall(pattern, read(os.path.join(ROOT, path)), re.M)
    assert len(matches) == 1, f"{path} has {pattern!r} {len(matches)} times"
    return matches[0]


def constant(path: str, name: str) -> int:
    """The value of a macro, or of a constant of Python: a number, with a cast or a shift."""
    text = found(path, rf"^(?:#define {name}|{name} =) (.*?)(?: */\*.*|  #.*)?$")
    match = re.fullmatch(r"\(*(?:size_t\))?(\d+)u?l*(?: << (\d+))?\)*", text)
    assert match, f"{path}: {name} is {text!r}"
    return int(match[1]) << int(match[2] or 0)


@dataclass(frozen=True)
class Defined:
    """A number of the code, as a document has it."""

    path: str
    name: str          # of a macro; else a regular expression whose group is the number
    factor: float = 1  # the document's number is the code's, times this,
    plus: int = 0      # and this more

    def value(self) -> float:
        at = constant(self.path, self.name) if self.name.isidentifier() else int(found(self.path, self.name))
        return at * self.factor + self.plus


@dataclass(frozen=True)
class Quoted:
    page: str
    pattern: str  # a # in it stands for a number
    code: tuple[Defined, ...]

    def matches(self, text: str) -> list[re.Match[str]]:
        return list(re.finditer(self.pattern.replace("#", _NUMBER), text))

    def wrong(self, text: str) -> str:
        """What is wrong with the page's text; "" if nothing is."""
        matches = self.matches(text)
        if not matches:
            return (f"{self.page} does not quote {[d.name for d in self.code]} as {self.pattern!r} any more: "
                    "change tests/docs/test_numbers.py")
        values = [d.value() for d in self.code]
        for match in matches:
            said = [number(group) for group in match.groups() if group]
            if said != values:
                return f"{self.page}: '{match[0]}', but it is {values}: {[f'{d.name} of {d.path}' for d in self.code]}"
        return ""


def quoted(page: str, pattern: str, *code: Defined) -> Quoted:
    return Quoted(page, pattern, code)


VERSION = Defined(TRACEPOINT, "TP_INTERFACE_VERSION")
SONAME = Defined(INTERFACE, "TP_SONAME")
RECORD_MAX = Defined(EVENT, "TP_RECORD_MAX")
IDS = Defined("runtime/src/events/events.h", "TP_NR_IDS", plus=-1)  # 0 is none
PRIORITY = Defined(TRACEPOINT, "TRACEPOINT_DEFAULT_PRIO")
CONSTRUCTOR = Defined(HEADERS + "announce.h", r"\(constructor\((\d+)\)\)")
STRING = Defined(ASSIGN, "TRACE_EVENT_STR_MAX", plus=-1)  # without the NUL
ARGUMENTS = Defined(MARKER, "TP_MARKER_ARGS_MAX")
SDT_SEEN = Defined(SDT, r"MORE, (\d+), 11, 10,")
STACK = Defined("runtime/src/base/scratch.h", "TP_SCRATCH_SIZE")
HIST_TEXT = Defined("runtime/src/count/key.h", "TP_COUNT_TEXT_BYTES")
HIST_STACK = Defined(HIST_TABLE, "TP_HIST_STACK")
CTF_SINKS = Defined("runtime/src/record/stream.h", "TP_STREAM_SINKS")
PACKET_MIN = Defined(CTF_OPTIONS, "PACKET_MIN")
TEXT_BYTES = Defined(STATS, "TP_STATS_TEXT_BYTES")
EXITED = Defined(STATS, "TP_STATS_EXITED")

MERGE = "runtime/tools/report/merge.c"
LINE = Defined("runtime/tools/report/line.h", "LINE_BYTES")

QUOTED = (
    # tp report
    quoted("docs/tp.md", r"a text of more than # is cut off", LINE),
    quoted("docs/tp.md", r"at the same time \(# each; of many, # at the least\)", Defined(MERGE, "WINDOW_MAX"), Defined(MERGE, "WINDOW_MIN")),

    # The protocol of control
    quoted("docs/internals/control.md", r"There are # connections at most", Defined("runtime/src/control/server.c", "MAX_CONNECTIONS")),
    quoted("docs/internals/control.md", r"a line of at most # bytes", Defined("runtime/src/control/server.c", "MAX_REQUEST")),

    # Histograms
    quoted(HISTOGRAMS, r"up to # \[variables\]", Defined(HIST, "TP_HIST_VARIABLES")),
    quoted(HISTOGRAMS, r"up to # \[actions\]", Defined(HIST, "TP_HIST_ACTIONS")),
    quoted(HISTOGRAMS, r"its first # bytes count", HIST_TEXT),
    quoted(HISTOGRAMS, r"a text \(# bytes of it\)", HIST_TEXT),
    quoted(HISTOGRAMS, r"up to # (?:return )?addresses", HIST_STACK),
    quoted(HISTOGRAMS, r"longer than # bytes are lost", RECORD_MAX),

    quoted(HISTOGRAMS, r"at most # fields, and a NAME of # bytes", Defined(SYNTHETIC, "TP_SYNTHETIC_FIELDS_MAX"),
           Defined(SYNTHETIC, "TP_SYNTHETIC_NAME_MAX")),
    quoted(HISTOGRAMS, r"\(1 to #\)", Defined(SYNTHETIC, "TP_SYNTHETIC_TEXT_MAX")),
    quoted(HISTOGRAMS, r"at most # deep", Defined("runtime/src/events/synthetic_record.c", "DEPTH_MAX")),
    # Filters, triggers
    quoted(FILTERS, r"At most # bytes, # nested", Defined(FILTER, "TP_FILTER_MAX"), Defined(FILTER, "TP_FILTER_DEPTH")),
    quoted("docs/internals/differences.md", r"# parentheses, # bytes", Defined(FILTER, "TP_FILTER_DEPTH"), Defined(FILTER, "TP_FILTER_MAX")),
    quoted(TRIGGERS, r"at most # callers", Defined("runtime/src/triggers/stacktrace.c", "MOST")),

    # Interfaces
    quoted(API, r"TP_INTERFACE_VERSION != #", VERSION),
    quoted(PRODUCTION, r"another interface of libtp \(#; this is #\)", Defined(VERSION.path, VERSION.name, plus=1), VERSION),
    quoted(PRODUCTION, r"linked with `libtp\.so\.#`", SONAME),
    quoted(PRODUCTION, r"has another name, `libtp\.so\.#`", Defined(SONAME.path, SONAME.name, plus=1)),
    quoted("tpgen/__init__.py", r"INTERFACE_VERSION = #", VERSION),
    # Tracepoints and records
    quoted(API, r"`TRACEPOINT_DEFAULT_PRIO` is #", PRIORITY),
    quoted(ARCHITECTURE, r'`tp_probe_register\("X", "types", probe, data, #\)`', PRIORITY),
    quoted(API, r"from priority # on", CONSTRUCTOR),
    quoted(ARCHITECTURE, r"constructor of priority #", CONSTRUCTOR),
    quoted(API, r"up to # arguments that are integers", Defined("tpgen/backends/userspace.py", "CALL_ARGS")),
    quoted(CTF, r"longer than # bytes, or than a packet", RECORD_MAX),
    quoted(RECORDS, r"longer than # bytes", RECORD_MAX),
    quoted(LANGUAGE, r"\bA record\b[^.]{0,80} at most # bytes", RECORD_MAX),
    quoted(DIAGNOSTICS, r"\bA record, .{0,60} at most # bytes", RECORD_MAX),
    quoted(DIAGNOSTICS, r"# of memory", Defined(COMPILER, "MAX_MEMORY")),
    quoted(DIAGNOSTICS, r"(?:made more|was longer) than #", Defined(COMPILER, "MAX_OUTPUT")),
    quoted(DIAGNOSTICS, r"# seconds of (?:the )?processor", Defined(COMPILER, "MAX_CPU_SECONDS")),
    quoted(EVENT, r"all # ids", IDS),
    quoted(LANGUAGE, r"`vsnprintf`[^|]{0,40} at most # characters", STRING),
    quoted(LANGUAGE, r"`__vstring` measured[^|]{0,20} at most # bytes", STRING),
    quoted(API, r"`tp_scratch_push`[^.]{0,60} #[^.]{0,20} each thread", STACK),
    quoted(SCRATCH, r"stack holds #", STACK),
    quoted(USDT, r"no room \(# a thread\)", STACK),
    # Printing
    quoted(LANGUAGE, r"\| `%\*ph`[^|]*\| [^|]*?at most #", Defined(POINTER, "BYTES_MAX")),
    quoted(HEADERS + "print.h", r"h n bytes, at most #", Defined(POINTER, "BYTES_MAX")),
    quoted(LANGUAGE, r"\(below #, or an error\)", Defined(POINTER, "FIRST_PAGE")),
    quoted(HEADERS + "print.h", r"\(below #, or an error\)", Defined(POINTER, "FIRST_PAGE")),
    quoted(HEADERS + "print.h", r"between -# and -1", Defined(POINTER, "MAX_ERRNO")),
    quoted(LANGUAGE, r"(?:no more than|at most) # \(?(?:those of )?six flags",
           Defined("runtime/src/sinks/ctf/describe/metadata.c", "NR_COMBINATIONS")),
    # Markers and USDT probes
    quoted(API, r"string literal; up to # arguments", ARGUMENTS),
    quoted(API, r"more than # conversions", ARGUMENTS),
    quoted(API, r"A name has up to # bytes", Defined(MARKER, "TP_MARKER_NAME_MAX")),
    quoted(API, r"the first # arguments are always evaluated", SDT_SEEN),
    quoted(MARKER, r"the first # arguments are always", SDT_SEEN),
    quoted(SDT, r"after the #;", SDT_SEEN),
    quoted(SDT, r"up to # arguments", ARGUMENTS),
    quoted(USDT, r"[Nn]o more than the first #", SDT_SEEN),
    quoted(USDT, r"[Tt]heir first # arguments", SDT_SEEN),
    # CTF
    quoted(CTF, r"Up to # CTF traces", CTF_SINKS),
    quoted(CTF, r"`packet=` \| SIZE, from `#` to `#` \| `#`; in flight mode `#`; with `size=` no more than 1/# of that, but no less than `#` \|",
           PACKET_MIN, Defined(CTF_OPTIONS, "PACKET_MAX"), Defined(CTF_OPTIONS, "PACKET_STREAM"),
           Defined(CTF_OPTIONS, "PACKET_FLIGHT"), Defined(CTF_OPTIONS, r"packet \* (\d+) > w->size"), PACKET_MIN),
    quoted(CTF, r"`packets=` \| a number, `#` or more \| no limit; in flight mode `#`,",
           Defined(CTF_OPTIONS, r"w->packets >= (\d+);"), Defined(CTF_OPTIONS, "PACKETS_FLIGHT")),
    quoted(CTF, r"`keep=` \| a number, `#` or more", Defined(CTF_OPTIONS, r"w->keep >= (\d+);")),
    quoted(CTF, r"`size=` \| SIZE, `#` or more", Defined(CTF_OPTIONS, "PACKET_MIN", 2)),
    quoted(CTF, r"from # to # \(suffixes K, M, G\)", PACKET_MIN, Defined(CTF_OPTIONS, "PACKET_MAX")),
    quoted(ARCHITECTURE, r"then events, each #-byte aligned", Defined("runtime/src/record/packet.h", "TP_STREAM_ALIGN")),
    quoted("docs/internals/system-calls.md", r"`madvise` for each new #", Defined("runtime/src/sinks/ctf/ring/make.c", "SLICE")),
    quoted(ENVIRONMENT, r"opened in the first # ms", Defined("runtime/src/base/clock.c", "BASELINE_MIN_NS", 1e-6)),
    quoted(ENVIRONMENT, r"waits # ms for it", Defined("runtime/src/base/helper.c", r"tv_nsec \+= (\d+) \* 1000 \* 1000")),
    quoted(ENVIRONMENT, r"up to # with `;`", Defined("runtime/src/start/environment.c", "MAX_OUTPUTS")),
    quoted(PRODUCTION, r"flight recorder has # packets of # by default", Defined(CTF_OPTIONS, "PACKETS_FLIGHT"),
           Defined(CTF_OPTIONS, "PACKET_FLIGHT")),
    # Statistics
    quoted(STATISTICS, r"More than # threads", Defined("runtime/src/count/counters.h", "TP_COUNTER_ROWS", plus=-1)),
    quoted(STATISTICS, r"`interval=(?:SECONDS)?` \|[^|]*? `?#`? to `?#`?[;,:]",
           Defined(STATS_OPTIONS, "INTERVAL_MIN_NS", 1 / _NS_PER_S), Defined(STATS_OPTIONS, "INTERVAL_MAX_S")),
    quoted(STATISTICS, r"`top=(?:NUMBER)?` \|[^|]*? `?1`? to `?#`?(?:, else| \|) `?#`? \|",
           Defined(STATS_OPTIONS, "TOP_MAX"), Defined(STATS_OPTIONS, "TOP")),
    quoted(STATISTICS, r"\bfirst # bytes and the length", TEXT_BYTES),
    quoted(STATISTICS, r"`value` has at most # bytes", TEXT_BYTES),
    quoted(STATISTICS, r"exited before the last #", EXITED),
    quoted(STATISTICS, r"the last # that have exited", EXITED),
    quoted(STATISTICS, r"\*\*Many values.\*\* # values", Defined(STATS, "TP_STATS_VALUES")),
    quoted(STATISTICS, r"thread: # bytes for each event", Defined(STATS, r"TP_STATS_BASE_WORDS = (\d+)", 8)),
    quoted(STATISTICS, r"while `version` is #", Defined("runtime/src/sinks/stats/json.c", r'\\"version\\": (\d+)')),
    # Text
    quoted(TEXT, r"text longer than # ends", Defined("runtime/src/sinks/text/text.h", "TP_TEXT_SIZE")),
    # The kernel's trace buffer
    quoted(FTRACE_PAGE, r"line of more than # bytes", Defined(FTRACE, "LINE_MAX_NEW")),
    quoted(FTRACE_PAGE, r"\(# up to Linux 6\.7\)", Defined(FTRACE, "LINE_MAX_OLD")),
)


def page_text(page: str) -> str:
    """The page on one line, without what a C comment begins its lines with."""
    text = read(os.path.join(ROOT, page))
    return re.sub(r"\s+", " ", re.sub(r"^ \*", "", text, flags=re.M) if page.endswith(".h") else text)


def loglevels(text: str) -> list[str]:
    """TRACE_EMERG 0 and so on, as docs/language.md has them, in their order."""
    pairs = re.findall(r"`TRACE_(\w+)` (\d+)", text)
    return [name for name, _ in sorted(pairs, key=lambda pair: int(pair[1]))]


class Numbers(Case):
    def test_quoted(self) -> None:
        for one in QUOTED:
            with self.subTest(page=one.page, pattern=one.pattern):
                wrong = one.wrong(page_text(one.page))
                if wrong:
                    self.fail(wrong)

    def test_another_number_is_noticed(self) -> None:
        """The test's own: each number in each quotation, one larger."""
        for one in QUOTED:
            text = page_text(one.page)
            if one.wrong(text):
                continue  # which the test above says
            match = one.matches(text)[0]
            for group in range(1, len(match.groups()) + 1):
                if match[group] is None:
                    continue
                begin, end = match.span(group)
                changed = text[:begin] + re.sub(r"^[\d,.]+|^[a-z]+", lambda m: f"{number(m[0]) + 1:g}", text[begin:end]) + text[end:]
                with self.subTest(page=one.page, pattern=one.pattern, group=group):
                    self.assertNotEqual(one.wrong(changed), "", changed[begin - 20:end + 20])

    def test_log_levels(self) -> None:
        enum = re.search(r"^enum tp_loglevel \{\n(.*?)^\};", read(os.path.join(ROOT, EVENT)), re.S | re.M)
        assert enum
        self.assertEqual(loglevels(read(os.path.join(ROOT, LANGUAGE))), re.findall(r"^\tTP_LOGLEVEL_(\w+),", enum[1], re.M))

    @unittest.skipUnless(platform.machine() == "x86_64", "the sizes are those of x86-64")
    def test_sizes(self) -> None:
        """Sizes of structures, as the compiler has them."""
        sizes = (
            ("docs/internals/bench.md", r"A site has # bytes of data \(`struct marker`\), # in the table of markers and # in that of sites",
             ("struct marker", "struct tracepoint *", "struct tp_site")),
            (ARCHITECTURE, r"a head of # bytes \(`struct tp_packet`", ("struct tp_packet",)),
            (EVENT, r"an #-byte common header", ("struct trace_entry",)),
        )
        lines = "".join(f'\tprintf("%zu\\n", sizeof({c_type}));\n' for _, _, types in sizes for c_type in types)
        self.write("sizes.c", "#include <stdio.h>\n\n#include <tp/module.h>\n\n#include \"record/packet.h\"\n\n"
                   f"int main(void)\n{{\n{lines}\treturn 0;\n}}\n")
        self.succeed(["gcc", "-std=gnu11", *RUNTIME_INCLUDES, "-o", self.path("sizes"), self.path("sizes.c")])
        printed = iter(self.succeed([self.path("sizes")]).stdout.split())
        for page, pattern, types in sizes:
            match = re.search(pattern.replace("#", _NUMBER), page_text(page))
            assert match, f"{page}: {pattern}"
            self.assertEqual([number(group) for group in match.groups()], [int(next(printed)) for _ in types], match[0])
