# SPDX-License-Identifier: MIT
"""Hostile environments: whatever TP_ENABLE, TP_OUTPUT, TP_LOG and TP_CLOCK say, the program runs to its end, leaves no
memory and no file elsewhere, and says nothing that a terminal would obey. Under AddressSanitizer.

FUZZ=N runs N of them instead of the short form's number, SEED=N begins elsewhere:

    FUZZ=5000 SEED=$RANDOM python3 tests/run.py hostile/test_environment
"""

from __future__ import annotations

import os
import random
import re
import subprocess

from building import build, generate, sanitized
from support import ROOT, Case, both, few_or_many, read

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = few_or_many(50, 200, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))

NUMBERS = ["0", "1", "2", "-1", "+1", "-0", "00", "4095", "4096", "4K", "64K", "1M", "4M", "1G", "1025M", "1T", "K", "1KK",
           "0x10", "1e3", "nan", "inf", "-inf", "0.01", "0.009999999999", "86400", "86400.000000001", ".5", "1.", "1..2",
           "1000", "1001", "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
           "18446744073709551615", "18446744073709551616", "18014398509481984K", "17179869184G", "9" * 400, "1" + "0" * 5000,
           "", " 1", "1 ", "\u0663"]
NAMES = ["log", "trace", "a", "%p", "log-%p", "%p%p", "%", "%%p", "%h", "%s%n%n", "x" * 255, "x" * 256, "x" * 5000, "no/such",
         "a b", ".", "-", "~", "{a,b}", "!", "\u00fc\U0001f4a9", "\x9b2J", "a\nb", "\x1b]0;x\x07", "\udcff\udc80", "a:b", "stderr", "stdout"]
PATTERNS = ["*", "guest:*", "guest_text", "guest:guest_[nt]*", "guest_number , guest_text", "*,!guest_text", "! guest_text,*",
            "!*", "!", "!!*", ",", "", " ", "*,", "a,,b", "nothing", "guest:no?e", "[!g]*,*", "[", "[a-", "[[:alpha:]]*",
            "[[:nothing:]]", "[[.x.]]", "[]", "\\", "*\\", "*:*:*", "{guest_text,guest_number}", "*" * 300 + "x",
            "*?" * 60, ",".join(["guest_text"] * 500), "marker:*", "?" * 3000]
OWNERS = ["nobody", "root", "0", "0:0", "65534:65534", ":", "1:", ":1", "no such user", "-1", "1:-1"] + NUMBERS
OPTIONS = {
    "ctf": {"mode": ["stream", "flight", "flightx", ""], "packet": NUMBERS, "packets": NUMBERS, "size": NUMBERS,
            "keep": NUMBERS, "write": ["map", "call", "m", ""],
            "rotate": [*NUMBERS, "4K+1s", "1s", "1ms", "9999999h", "1s+1s", "+", "1s+", "+1K", "1K+1s+1h", "s"],
            "full": ["discard", "overwrite", "o", ""], "prepare": ["self", "thread", ""], "owner": OWNERS,
            "context": ["cpu", "cpu+pid+name", "cpu+cpu", "+", "cpu+", "nothing", ""]},
    "stats": {"json": None, "by": ["thread", "cpu", ""], "interval": NUMBERS, "top": NUMBERS,
              "children": ["live", "end", "never"],
              "field": ["*.*", "guest:*.n", "guest_text.text+guest_number.d", "no.such", "guest_text.", ".", "+", "*.n+",
                        "guest_text.text+" * 100 + "*.n", "!*.n", "[.n", "*.*.*", "a,b.c"]},
    "text": {"json": None, "x": NUMBERS}, "sdt": {"x": NUMBERS}, "lttng": {"x": NUMBERS}, "ftrace": {"x": NUMBERS},
}
TOKENS = [",", ";", ":", "=", "!", "+", ".", " ", "\t", "\n", "\r", "\x1b[31m", "\x7f", "\udc80", "\udcff", "\u0085", "%p", "%h",
          "%n", "%s", "{", "}", "[", "]", "*", "?", "\\", "text:", "ctf:", "stats:", "sdt:", "TP_ENABLE=", "-", "0"] + NUMBERS


def options(rng: random.Random, kind: str) -> str:
    found = []
    for name in rng.sample(list(OPTIONS[kind]), rng.randint(0, len(OPTIONS[kind]))):
        values = OPTIONS[kind][name]
        found.append(name if values is None else f"{name}={rng.choice(values)}")
    return "".join("," + option for option in found)


def output(rng: random.Random) -> str:
    # LTTng's libraries take a second to load.
    kind = rng.choices(list(OPTIONS), [8, 8, 4, 1, 0.1, 1])[0]
    return f"{kind}:{rng.choice(NAMES) if rng.random() < 0.9 else ''}{options(rng, kind)}"


def outputs(rng: random.Random) -> str:
    return rng.choice([";", "; ", " ;", ";;"]).join(output(rng) for _ in range(rng.choice([1, 1, 1, 2, 3, 20])))


def patterns(rng: random.Random) -> str:
    return ",".join(rng.choice(PATTERNS) for _ in range(rng.choice([1, 1, 2, 5])))


def mutate(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        at = rng.randint(0, len(text))
        to = rng.randint(at, min(len(text), at + 20))
        what = rng.randint(0, 5)
        if what == 0:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif what == 1:
            text = text[:at] + text[to:]
        elif what == 2:
            text = text[:at] + text[at:to] * rng.choice([2, 3, 1000]) + text[to:]
        elif what == 3:
            text = text[:at] + chr(rng.choice([rng.randint(1, 127), 0xdc00 + rng.randint(128, 255)])) + text[at + 1:]
        elif what == 4:
            text = text[:at] + rng.choice(TOKENS) + text[to:]
        else:
            text = text[to:] + text[:to]
    return text[:100000]


def tame(text: str) -> str:
    """None is to name a file elsewhere by right: no path from the root nor upwards, nor an instance of the kernel's buffer."""
    text = re.sub(r"(?<![A-Za-z0-9])/", "_", text).replace("..", "._")
    return text.replace("ftrace:", "ftrace:x/")


def case(rng: random.Random) -> list[str]:
    enable = patterns(rng) if rng.random() < 0.8 else "*"
    log = rng.choice(["", "", "stderr", "syslog", "messages", *NAMES])
    clock = rng.choice(["", "", "tsc", "monotonic", "sundial", *NUMBERS])
    return [tame(mutate(rng, text)) for text in (enable, outputs(rng), log, clock)]


class Environment(Case):
    def test_all_options(self) -> None:
        """Each that there is, is among those that are tried."""
        for kind in ("ctf", "stats"):
            found = re.findall(r'^\t\{"(\w+)", parse_', read(os.path.join(ROOT, f"runtime/src/sinks/{kind}/options.c")), re.M)
            self.assertEqual(sorted(found), sorted(OPTIONS[kind]))

    @both
    def test_hostile_strings(self) -> None:
        generate(self.dir, os.path.join(HERE, "guest.tp"))
        module = build(self.path("guest.so"), os.path.join(HERE, "guest.c"), include=[self.dir], libtp="asan")
        host = build(self.path("host"), os.path.join(HERE, "host.c"), flags=["-fsanitize=address,undefined"], libtp="",
                     link=["-ldl"])
        self.assertTrue(sanitized("asan"))
        rng = random.Random(SEED)
        cases = [case(rng) for _ in range(RUNS)]
        text = "".join(value.replace("\0", "") + "\0" for values in cases for value in values)
        place = self.path("place")
        os.mkdir(place)
        env = {**os.environ, "LTTNG_UST_REGISTER_TIMEOUT": "0", "LC_ALL": "C.UTF-8",
               "LSAN_OPTIONS": f"suppressions={self.write('suppressions', 'leak:liblttng-ust')}:print_suppressions=0"}
        done = subprocess.run([host, module, place], input=text.encode("utf-8", "surrogateescape"), env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((done.returncode, done.stdout.decode("utf-8", "replace")[:6000]), (0, ""), f"SEED={SEED}")
