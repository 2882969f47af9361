# SPDX-License-Identifier: MIT
"""docs/internals/architecture.md shows the bytes of one record: its event, built and run, has just these.

The id of the event and that of the thread may be others. The sink clears the
memory, as the runtime writes no padding.
"""

from __future__ import annotations

import os
import re

from building import build, generate
from support import ROOT, Case, read

SINK = r"""
#include <stdio.h>
#include <string.h>
#include <tp/sink.h>
#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "order.h"

static bool dump_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	if (rec->entry)
		memset(rec->entry, 0, rec->size);
	return rec->entry;
}

static void dump_commit(struct tp_record *rec)
{
	const unsigned char *bytes = (const void *)rec->entry;

	for (size_t i = 0; i < rec->size; i++)
		printf("%02x ", bytes[i]);
	tp_scratch_pop(rec->entry);
}

static int dump_close(struct tp_sink *sink)
{
	(void)sink;
	return 0;
}

static const struct tp_sink_ops dump_ops = {
	.name = "dump",
	.reserve = dump_reserve,
	.commit = dump_commit,
	.close = dump_close,
};

static void call(void)
{
@CALL@}

int main(void)
{
	static struct tp_sink sink;

	if (tp_sink_open(&sink, &dump_ops) || tp_enable(&sink, "shop:*") != 1)
		return 1;
	call();
#define PRINT(member) printf("\n" #member " %zu", offsetof(struct trace_event_raw_shop_order, member));
	@MEMBERS@
	return tp_sink_close(&sink) != 0;
}
"""


def masked(record: list[str]) -> list[str]:
    """Without the event's id and the thread's."""
    return ["id"] * 2 + record[2:4] + ["pid"] * 4 + record[8:]


class Record(Case):
    def setUp(self) -> None:
        super().setUp()
        section = read(os.path.join(ROOT, "docs/internals/architecture.md")).split("\n### The bytes of one record\n")[1].split("\n## ")[0]
        self.event, self.structure, self.call = re.findall(r"^```c\n(.*?)^```$", section, re.S | re.M)
        dump = re.findall(r"^```text\n(.*?)^```$", section, re.S | re.M)[0]
        self.offsets = [int(line.split()[0], 16) for line in dump.splitlines()]
        self.bytes = [byte for line in dump.splitlines() for byte in line.split()[1:]]
        self.size = int(re.findall(r"The record has (\d+) bytes", section)[0])
        self.rows = [(int(offset), each.split(), member)
                     for offset, each, member in re.findall(r"^\| (\d+) \| `([0-9a-f ]+)` \| `?([\w.]+)`? \|", section, re.M)]

    def test_structure(self) -> None:
        """The structure is the generated one."""
        generate(self.dir, self.write("order.tp", self.event))
        header = re.sub(r"^#line.*\n", "", read(self.path("order.h")), flags=re.M)
        self.assertIn(self.structure, header)

    def test_bytes(self) -> None:
        """The dump is the record; the table has each byte of it once, and the members at their offsets."""
        self.assertEqual(self.offsets, list(range(0, self.size, 16)))
        self.assertEqual(len(self.bytes), self.size)
        at = 0
        for offset, each, member in self.rows:
            self.assertEqual((at, self.bytes[at:at + len(each)]), (offset, each), member)
            at += len(each)
        self.assertEqual(at, self.size)

        members = {member: offset for offset, _, member in self.rows if member not in ("payload", "padding", "count")}
        generate(self.dir, self.write("order.tp", self.event))
        source = SINK.replace("@CALL@", self.call).replace("@MEMBERS@", " ".join(f"PRINT({m})" for m in members))
        done = self.succeed([build(self.path("order"), self.write("order.c", source), include=[self.dir])])
        record, *offsets = done.stdout.splitlines()
        self.assertEqual(masked(record.split()), masked(self.bytes))
        self.assertEqual(offsets, [f"{member} {offset}" for member, offset in members.items()])
