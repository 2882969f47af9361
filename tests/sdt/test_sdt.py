# SPDX-License-Identifier: MIT
"""gdb, SystemTap, bpftrace and perf find the sites of a program, stop or count at them, and read their arguments."""

from __future__ import annotations

import os
import re
import subprocess
import unittest

from building import generate
from support import BUILD, PATIENCE, ROOT, WARNINGS, Case, need, run, temporary, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {f"{compiler}{level}": (compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2")}

# What program.c passes, but for "n", which counts rounds; only those that a register holds.
ARGUMENTS = {
    "left_out": [-1, -1000000000000, -3],
    "fourteen": list(range(1, 13)),
    "narrow": [0, -8, 0xf8, -16, 0xfff0, 1, ord("J"), 7, -5],
    "wide": [0, -32, 0xfffffff0, -64, 2**64 - 1 - 64],
}
PROBES = {("widths", name) for name in (*ARGUMENTS, "none", "even")} | {
    ("marker", "tick"), ("marker", "tock"), ("tp", "record")}

# Of the record, as a bpftrace script has it.
RECORD = """struct trace_entry { uint16_t type; uint8_t flags; uint8_t preempt_count; int32_t pid; };
struct trace_event_raw_even { struct trace_entry ent; uint32_t n; uint32_t __data_loc_text; };
"""


class Tools(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.top = temporary()
        generate(cls.top, "tests/sdt/widths.tp")

    def build(self, variant: str, name: str = "", *options: str, libs: tuple[str, ...] = ()) -> str:
        compiler, level = VARIANTS[variant]
        need(self, compiler)
        path = os.path.join(self.top, name or f"program-{variant}")
        if not os.path.exists(path):
            done = self.succeed([compiler, "-std=gnu11", level, "-g", *WARNINGS, "-I",
                                 os.path.join(ROOT, "runtime/include"), "-iquote", self.top,
                                 *(options or ["-DTP_SDT=1"]), "-o", path, os.path.join(HERE, "program.c"),
                                 *(libs or [os.path.join(BUILD, "libtp.a")]),
                                 "-lurcu-bp", "-lpthread"])
            self.assertEqual(done.stdout + done.stderr, "")
        return path

    # ---- gdb ----

    def gdb(self, program: str, commands: list[str], env: dict[str, str] | None = None) -> str:
        need(self, "gdb")
        script = self.write("script.gdb", "set pagination off\nset confirm off\nset breakpoint pending on\n"
                            + "\n".join(commands) + "\n")
        done = run(["gdb", "-q", "-nx", "-batch", "-x", script, program], env={**os.environ, **(env or {})})
        if "ptrace" in done.stderr and "not permitted" in done.stderr:
            unavailable(self, "gdb may not trace programs here")
        return done.stdout

    def test_gdb_lists(self) -> None:
        found = re.findall(r"^stap +(\S+) +(\S+) +0x", self.gdb(self.build("gcc-O2"), ["info probes stap"]), re.M)
        self.assertEqual(set(found), PROBES)

    def test_gdb_arguments(self) -> None:
        """Of all widths and signs, as each compiler hands them over."""
        for variant in VARIANTS:
            commands = [f"break -probe-stap widths:{name}" for name in ARGUMENTS] + ["run 2 >/dev/null"]
            for name, values in ARGUMENTS.items():
                unsigned = [value >= 2**63 for value in values]
                texts = ", ".join(f"({'unsigned ' if u else ''}long)$_probe_arg{i}" for i, u in enumerate(unsigned))
                commands += [f'printf "{name} %d: {" ".join("%lu" if u else "%ld" for u in unsigned)}\\n", '
                             f"$_probe_argc, {texts}"]
                if name == "wide":
                    commands += ['printf "points to %s %d\\n", (char *)$_probe_arg5, *(int *)$_probe_arg7']
                commands += ["continue"]
            said = self.gdb(self.build(variant), commands)
            for name, values in ARGUMENTS.items():
                number = 8 if name == "wide" else len(values)
                self.assertIn(f"\n{name} {number}: {' '.join(map(str, values))}\n", said, variant)
            self.assertIn("\npoints to hello 11\n", said, variant)

    def record_in_gdb(self, program: str) -> None:
        """A probe of the runtime's, in a program whose sites have none."""
        said = self.gdb(program, ["break main", "run 3 >/dev/null", "break -probe-stap tp:record", "continue",
                                  'printf "first %u %lu %s:%s\\n", ((struct trace_event_raw_even *)$_probe_arg0)->n, '
                                  "(long)$_probe_arg1, (char *)$_probe_arg2, (char *)$_probe_arg3", "continue",
                                  'printf "second %u\\n", ((struct trace_event_raw_even *)$_probe_arg0)->n',
                                  "info breakpoints", "continue"], {"TP_OUTPUT": "sdt:", "TP_ENABLE": "widths:*"})
        # Those of rounds 0 and 2, as the event has a condition; 16 bytes and "hello".
        self.assertIn("\nfirst 0 22 widths:even\n", said)
        self.assertIn("\nsecond 2\n", said)
        self.assertIn("exited normally", said)

    def test_records_in_gdb(self) -> None:
        program = self.build("gcc-O2", "plain", "-DTP_SDT=0")
        self.assertNotIn("widths", run(["readelf", "-n", program]).stdout)
        self.record_in_gdb(program)

    def test_records_in_gdb_shared(self) -> None:
        self.record_in_gdb(self.build("gcc-O2", "shared", "-DTP_SDT=0",
                                      libs=(f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-ltp")))

    # ---- SystemTap ----

    @unittest.skipUnless(os.uname().machine == "x86_64", "it says what kernel there might be")
    def test_stap(self) -> None:
        """It wants to see that it could build a module for the kernel, even to list probes: a tree that looks so."""
        need(self, "stap")
        self.write("tree/.config", "".join(f"CONFIG_{name}=y\n" for name in (
            "X86_64", "MODULES", "TRACEPOINTS", "UPROBES", "ARCH_SUPPORTS_UPROBES")))
        self.write("tree/Module.symvers", "")
        self.write("tree/include/config/kernel.release", os.uname().release + "\n")
        program = self.build("clang-O2")
        done = self.succeed(["stap", "-r", self.path("tree"), "-L", f'process("{program}").mark("*")'])
        found = re.findall(r'\.mark\("(\w+)"\)((?: \$arg\d+:long)*)$', done.stdout, re.M)
        self.assertEqual({(name, text.count("$")) for name, text in found},
                         {("left_out", 3), ("fourteen", 12), ("narrow", 9), ("wide", 8), ("none", 0), ("even", 2),
                          ("tick", 3), ("tock", 1), ("record", 4)})

    # ---- bpftrace ----

    def bpftrace_failed(self, program: str, said: subprocess.CompletedProcess) -> None:
        """Where it can't even stop at a function, it is not about our sites."""
        done = run(["bpftrace", "-e", f"uprobe:{program}:main {{ }} interval:ms:1 {{ exit(); }}"])
        if os.geteuid() or done.returncode:
            unavailable(self, "bpftrace can't attach to programs here")
        self.fail(said.stdout + said.stderr)

    def test_bpftrace(self) -> None:
        """In a program that runs, while its tracepoints go on and off, and a sink shows records too."""
        need(self, "bpftrace")
        program = self.build("gcc-O2")
        script = self.write("script.bt", RECORD + f"""
usdt:{program}:widths:narrow {{
	$n = arg0;
	@narrow++; @narrow_min = min($n); @narrow_max = max($n);
	if ($n % 50 == 0) {{ printf("narrow %ld %ld %ld %ld %ld\\n", arg1, arg2, arg3, arg4, arg5); }}
}}
usdt:{program}:widths:wide {{
	$n = arg0;
	@wide++;
	if ($n % 50 == 0) {{ printf("wide %ld %ld %ld %lu %s\\n", arg1, arg2, arg3, arg4, str(arg5)); }}
}}
usdt:{program}:widths:even {{ $n = arg0; @even++; @even_min = min($n); @even_max = max($n); }}
usdt:{program}:marker:tick {{ $n = arg0; @tick++; if ($n % 50 == 0) {{ printf("tick %s\\n", str(arg2)); }} }}
usdt:{program}:tp:record /str(arg3) == "even"/ {{
	$n = ((struct trace_event_raw_even *)arg0)->n;
	@record++; @record_min = min($n); @record_max = max($n);
	if ($n % 50 == 0) {{ printf("record %s %lu %s\\n", str(arg2), arg1, str(arg0 + 16)); }}
	if (@narrow > 250 && @wide > 250 && @even > 250 && @tick > 250 && @record > 125) {{ exit(); }}
}}
""")
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "TP_OUTPUT": "sdt:"})
        try:
            said = run(["timeout", "60", "bpftrace", "-p", str(process.pid), script])
        finally:
            told, _ = process.communicate("", timeout=PATIENCE)
        values = dict(re.findall(r"^@(\w+): (\d+)$", said.stdout, re.M))
        if len(values) != 11:
            self.bpftrace_failed(program, said)
        self.assertEqual(process.returncode, 0, told)
        self.assertRegex(told, r"heard [1-9]")
        for name, step in (("narrow", 1), ("even", 1), ("record", 2)):
            first, last = int(values[name + "_min"]), int(values[name + "_max"])
            self.assertEqual(int(values[name]), (last - first) // step + 1, name) # none is missed, whatever goes on
        for line in ("narrow -8 248 -16 65520 1", f"wide -32 {0xfffffff0} -64 {2**64 - 65} hello", "tick hello",
                     "record widths 22 hello"):
            self.assertIn(f"\n{line}\n", said.stdout)

    # ---- perf, and the kernel's own probes ----

    def traced(self, script: str, *arguments: str) -> str:
        """Runs a shell script with tracefs, whose mount nobody else sees."""
        mount = "mount -t tracefs none /sys/kernel/tracing 2>/dev/null && test -w /sys/kernel/tracing/uprobe_events"
        if os.geteuid() or run(["unshare", "-m", "sh", "-c", mount]).returncode:
            unavailable(self, "the kernel's uprobe_events can't be written here")
        return self.succeed(["unshare", "-m", "sh", "-c", f"{mount} || exit 1\ncd /sys/kernel/tracing\n{script}", "sh",
                             *arguments]).stdout

    def test_perf(self) -> None:
        need(self, "perf")
        if run(["perf", "record", "-q", "-e", "cpu-clock", "-o", self.path("data"), "true"]).returncode:
            unavailable(self, "perf can't record here")
        said = self.traced(r"""
perf="perf --buildid-dir $1/buildid"
trap "$perf probe -q -d 'sdt_widths:*' 2>/dev/null" EXIT
$perf buildid-cache --add "$2" && for event in narrow wide fourteen left_out; do
	$perf probe -q sdt_widths:$event || exit 1
done
$perf record -q -o "$1/data" -e 'sdt_widths:*' "$2" 20 && $perf script -i "$1/data"
""", self.dir, self.build("clang-O2"))
        self.assertIn("20 rounds", said)
        # It shows what is shorter than an int without its sign, whatever the kernel says.
        for name, values in ARGUMENTS.items():
            lines = re.findall(rf" sdt_widths:{name}: \(\w+\) (.*)", said)
            self.assertEqual(len(lines), 20 if name in ("narrow", "wide") else 1)
            found = [int(value) for value in re.findall(r"arg\d+=(-?\d+)", lines[0])]
            self.assertEqual([f if f == v else f - 2**(8 if f < 256 else 16) for f, v in zip(found, values)], values)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the others have no such nop")
    def test_variables_stay(self) -> None:
        """Where the kernel makes a call of the nop, that writes to the stack below what the function says it uses."""
        for variant in VARIANTS:
            program = self.build(variant)
            notes = run(["readelf", "-n", program]).stdout
            addresses = re.findall(r"Name: none\n +Location: (0x\w+),", notes)
            self.assertTrue(addresses)
            group = f"tpgen_{os.getpid()}"
            said = self.traced("\n".join([
                f"trap 'echo 0 >events/{group}/enable;",
                f"for i in $points; do echo -:{group}/$i >>uprobe_events; done' EXIT",
                "points=",
                *(f"echo 'p:{group}/p{i} {program}:{address}' >>uprobe_events || exit 1; points=\"$points p{i}\""
                  for i, address in enumerate(addresses)),
                f"echo 1 >events/{group}/enable", f"{program} 1000"]))
            self.assertIn("1000 rounds, heard 500 of 500", said)
