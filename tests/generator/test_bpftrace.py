# SPDX-License-Identifier: MIT
"""The backend bpftrace: members are where the C compiler has the record's, and bpftrace reads them there."""

from __future__ import annotations

import json
import os
import re

from support import BUILD, INCLUDES, ROOT, Case, need, read, run, tpgen, unavailable

FILES = ("defs/pgz.tp", "defs/sched.tp", "tests/language/forms.tp", "tests/roundtrip/all.tp")

# What C may lay out otherwise than its machine's rules say, and bpftrace knows nothing of.
ODD = """#define TRACE_SYSTEM odd
#include <stdint.h>
struct odd_pair { short a; long b; };
typedef uint32_t __attribute__((aligned(1))) odd_loose;
typedef uint16_t __attribute__((aligned(16))) odd_wide;
typedef char odd_text;
enum odd_size { ODD_SMALL, ODD_BIG = 70 };
#define ODD_TOP (1ULL << 63)

TRACE_EVENT(odd, TP_PROTO(int a), TP_ARGS(a),
	TP_STRUCT__entry(__field(char, c) __field(odd_loose, loose) __field(odd_wide, wide)
		__field_struct(struct odd_pair, pair) __array(odd_loose, looses, 3) __array(enum odd_size, sizes, ODD_BIG / 35)
		__array(const char *, texts, 2) __array(odd_text, text, 3)
		__field(long double, ld) __field(__int128, huge) __field(_Bool, truth)
		__field(char, __pad_18) __field(uint64_t, size) __array(float, floats, 3) __dynamic_array(struct odd_pair, pairs, 2)
		__rel_string(name, "x") __field(const char *, title)),
	TP_fast_assign(fill(__entry);),
	TP_printk("%s", __print_symbolic(__entry->size, { ODD_SMALL, "small" }, { ODD_BIG, "a */ b" }, { ODD_TOP, "top" })));
"""


class Prelude(Case):
    def prelude(self, path: str) -> str:
        done = tpgen("gen", "--backend", "bpftrace", "-D", "_GNU_SOURCE", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.path(os.path.splitext(os.path.basename(path))[0] + ".bt.h")

    def members(self, path: str) -> dict[str, list[str]]:
        """Of each record its members, by the model."""
        events = json.loads(tpgen("dump", "-D", "_GNU_SOURCE", path).stdout)["events"]
        return {f"trace_{'custom_' if e['custom'] else ''}event_raw_{e['class']}":
                ["_".join([*re.findall("^__(?:data|rel)_loc(?= )", f["decl"]), f["name"]]) for f in e["fields"]]
                for e in events}

    def compare(self, path: str, compiler: str) -> None:
        """The C compiler compares both layouts; what the prelude has is renamed for that."""
        need(self, compiler)
        text = re.sub(r"\bstruct (trace_\w+)", r"struct bt_\1", read(self.prelude(path)))
        self.write("renamed.h", re.sub(r"^enum .*$", "", text, flags=re.M))
        done = tpgen("gen", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [f'#include "{os.path.splitext(os.path.basename(path))[0]}.h"', '#include "renamed.h"',
                 "#include <stddef.h>", "#define SIZE(type, member) sizeof(((type *)0)->member)"]
        found = self.members(path)
        self.assertTrue(found)
        for record, members in found.items():
            ours, theirs = f"struct bt_{record}", f"struct {record}"
            lines.append(f'_Static_assert(sizeof({ours}) == sizeof({theirs}), "{record}");')
            for member in ["ent", *members]:
                lines.append(f'_Static_assert(offsetof({ours}, {member}) == offsetof({theirs}, {member}) && '
                             f'SIZE({ours}, {member}) == SIZE({theirs}, {member}), "{record}.{member}");')
        source = self.write("compare.c", "\n".join(lines) + "\n")
        self.succeed([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                      "-iquote", self.dir, *INCLUDES, source])

    def test_layouts_gcc(self) -> None:
        for path in FILES:
            with self.subTest(path):
                self.compare(os.path.join(ROOT, path), "gcc")

    def test_layouts_clang(self) -> None:
        self.compare(os.path.join(ROOT, "tests/roundtrip/all.tp"), "clang")

    def test_odd_layouts(self) -> None:
        path = self.write("odd.tp", ODD)
        for compiler in ("gcc", "clang"):
            self.compare(path, compiler)

    def test_whole_prelude(self) -> None:
        text = read(self.prelude(self.write("odd.tp", ODD)))
        self.assertEqual(text[text.index("#ifndef TP_BPFTRACE_ODD_SMALL"):], """\
#ifndef TP_BPFTRACE_ODD_SMALL
#define TP_BPFTRACE_ODD_SMALL
enum { ODD_SMALL = 0 };
#endif

#ifndef TP_BPFTRACE_ODD_BIG
#define TP_BPFTRACE_ODD_BIG
enum { ODD_BIG = 70 };
#endif

/* odd:odd */
struct trace_event_raw_odd {
	struct trace_entry ent;
	char c;
	unsigned char loose[4]; /* odd_loose */
	unsigned char __pad_13[3];
	unsigned short wide; /* odd_wide */
	unsigned char ___pad_18[6];
	unsigned char pair[16]; /* struct odd_pair */
	unsigned char looses[12]; /* odd_loose */
	unsigned int sizes[2]; /* enum odd_size */
	unsigned char __pad_60[4];
	char *texts[2]; /* const char * */
	signed char text[3]; /* odd_text */
	unsigned char __pad_83[13];
	unsigned char ld[16]; /* long double */
	unsigned char huge[16]; /* __int128 */
	unsigned char truth; /* _Bool */
	char __pad_18;
	unsigned char __pad_130[6];
	/* ODD_SMALL (0) "small", ODD_BIG (70) "a * / b", -9223372036854775808 "top" */
	unsigned long long size; /* uint64_t */
	float floats[3];
	/* struct odd_pair: $e->__data_loc_pairs >> 16 bytes at (uint8 *)$e + ($e->__data_loc_pairs & 0xffff) */
	unsigned int __data_loc_pairs;
	/* str((uint8 *)$e + 164 + ($e->__rel_loc_name & 0xffff)) */
	unsigned int __rel_loc_name;
	unsigned char __pad_164[4];
	char *title; /* const char * */
};
""")

    def test_unknown_types_cost_their_records_only(self) -> None:
        text = "#define TRACE_SYSTEM x\n" + "".join(
            f"TRACE_EVENT({name}, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field({type_}, a)), "
            'TP_fast_assign(__entry->a = a;), TP_printk("%d", (int)__entry->a));\n'
            for name, type_ in (("bad", "unknown_t"), ("good", "int")))
        done = tpgen("gen", "--backend", "bpftrace", "-o", self.dir, self.write("x.tp", text))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"does not know unknown_t here.* \[TP094\]")
        self.assertEqual(re.findall(r"struct trace_event_raw_\w+", read(self.path("x.bt.h"))).count(
            "struct trace_event_raw_good"), 1)
        self.assertNotIn("struct trace_event_raw_bad", read(self.path("x.bt.h")))


EVENTS = """#define TRACE_SYSTEM bt
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
enum bt_mood { BT_GOOD = 7, BT_BAD = -2 };
TRACE_DEFINE_ENUM(BT_BAD);

TRACE_EVENT(bt_all, TP_PROTO(const char *text, int n), TP_ARGS(text, n),
	TP_STRUCT__entry(__field(int8_t, small) __string(text, text) __field(uint16_t, port) __field(enum bt_mood, mood)
		__field(int64_t, big) __array(char, name, 8) __array(uint32_t, three, 3) __dynamic_array(uint32_t, list, 2)
		__rel_string(again, text) __field(const char *, literal) __field(_Bool, truth) __field(pid_t, pid)),
	TP_fast_assign(
		uint32_t *list = __get_dynamic_array(list);

		__entry->small = (int8_t)-n;
		__assign_str(text);
		__entry->port = 65535;
		__entry->mood = BT_BAD;
		__entry->big = -(int64_t)n * (1LL << 40);
		memcpy(__entry->name, "a name", 7);
		memcpy(__entry->three, (uint32_t[]){ 1, 2, 3 }, 12);
		list[0] = 8;
		list[1] = 9;
		__assign_rel_str(again);
		__entry->literal = "literal";
		__entry->truth = 1;
		__entry->pid = 77;),
	TP_printk("%s %s", __get_str(text), __print_symbolic(__entry->mood, { BT_GOOD, "good" }, { BT_BAD, "bad" })));
"""

# A sink that hands each record to taken(), on which bpftrace has a probe.
PROGRAM = """
#include <stdio.h>
#include <tp/sink.h>
#include <tp/tp.h>
#define CREATE_TRACE_POINTS
#include "bt.h"

__attribute__((noinline)) void taken(const void *record, const char *name);
void taken(const void *record, const char *name)
{
	__asm__ volatile("" : : "r"(record), "r"(name) : "memory");
}

static bool reserve(struct tp_record *rec)
{
	static _Alignas(8) char memory[4096];

	rec->entry = (void *)memory;
	return rec->size <= sizeof(memory);
}

static void commit(struct tp_record *rec)
{
	taken(rec->entry, rec->event->name);
}

static int close_sink(struct tp_sink *sink)
{
	(void)sink;
	return 0;
}

int main(void)
{
	static const struct tp_sink_ops ops = { .name = "test", .reserve = reserve, .commit = commit, .close = close_sink };
	static struct tp_sink sink;

	if (tp_sink_open(&sink, &ops) != 0 || tp_enable(&sink, "bt:*") != 1)
		return 1;
	trace_bt_all("hello", 5);
	return tp_sink_close(&sink);
}
"""

SCRIPT = """uprobe:./program:taken /str(arg1) == "bt_all"/ {
	$e = (struct trace_event_raw_bt_all *)arg0;
	printf("read: %d %s %d %d %lld %s %d", $e->small, str((uint8 *)$e + ($e->__data_loc_text & 0xffff)), $e->port,
		$e->mood == BT_BAD, $e->big, $e->name, $e->three[2]);
	printf(" %d %d %s %s", $e->__data_loc_list >> 16, ((uint32 *)((uint8 *)$e + ($e->__data_loc_list & 0xffff)))[1],
		str((uint8 *)$e + PLACE + ($e->__rel_loc_again & 0xffff)), str($e->literal));
	printf(" %d %d %d\\n", $e->truth, $e->pid, sizeof(*$e));
}
"""

# In a name space of its own: bpftrace looks for tracefs there, and the machine is not changed.
IN_TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing; exec \"$@\""


class Bpftrace(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "bpftrace")
        self.write("bt.tp", EVENTS)
        for backend in ("userspace", "bpftrace"):
            done = tpgen("gen", "--backend", backend, "-o", self.dir, self.path("bt.tp"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def bpftrace(self, *arguments: str) -> str:
        """What it prints, to both."""
        done = run(["unshare", "-m", "sh", "-c", IN_TRACEFS, "sh", "bpftrace", *arguments], cwd=self.dir)
        return done.stdout + done.stderr

    def test_parsed(self) -> None:
        """In its dry run it needs a kernel for nothing: an unknown type or member is an error."""
        both = ["--include", self.path("bt.bt.h"), "--include", self.path("more.bt.h")]
        self.write("more.tp", ODD)
        done = tpgen("gen", "--backend", "bpftrace", "-o", self.dir, self.path("more.tp"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for member, good in (("size", True), ("sise", False)):
            said = self.bpftrace("-d", *both, "-e", "BEGIN { $e = (struct trace_event_raw_odd *)0; "
                                 f'printf("%d %d %d", $e->{member}, ODD_BIG, BT_GOOD); exit(); }}')
            if "root" in said or "unshare: " in said:
                unavailable(self, "bpftrace wants to be root: " + said.strip()[:100])
            self.assertEqual("source_filename" in said, good, said)

    def test_records_of_a_running_program(self) -> None:
        self.write("program.c", PROGRAM)
        self.succeed(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-iquote", self.dir, *INCLUDES, "-o",
                      self.path("program"), self.path("program.c"), os.path.join(BUILD, "libtp.a"), "-lurcu-bp",
                      "-lpthread"])
        self.assertEqual(run([self.path("program")]).returncode, 0)
        said = self.bpftrace("-c", "./program", "-e", 'uprobe:./program:taken { printf("%s\\n", "hit"); }')
        if "hit\n" not in said:
            unavailable(self, "bpftrace can't probe programs here: " + " ".join(said.split())[:100])
        place = re.search(r"\+ (\d+) \+ \(\$e->__rel_loc_again", read(self.path("bt.bt.h")))
        assert place
        script = SCRIPT.replace("PLACE", place[1])
        wanted = "read: -5 hello 65535 1 -5497558138880 a name 3 8 9 hello literal 1 77 "
        self.write("include.bt", '#include "bt.bt.h"\n' + script)
        self.write("pasted.bt", read(self.path("bt.bt.h")) + script)
        for arguments in (["--include", self.path("bt.bt.h"), "-e", script], ["-I", self.dir, "include.bt"],
                          ["pasted.bt"]):
            self.assertRegex(self.bpftrace("-c", "./program", *arguments), re.escape(wanted) + r"\d+\n")
