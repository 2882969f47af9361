# SPDX-License-Identifier: MIT
"""Where things stand in a record: behind the kernel's header, each member at the next place that its alignment allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

# struct trace_entry of tp/event.h: type, name, size and whether it is signed, of each member.
HEADER = (("unsigned short", "type", 2, False), ("unsigned char", "flags", 1, False),
          ("unsigned char", "preempt_count", 1, False), ("int", "pid", 4, True))
HEADER_SIZE = sum(size for _, _, size, _ in HEADER)
HEADER_ALIGN = max(size for _, _, size, _ in HEADER)

# A word that says where a dynamic field's payload is.
WORD = 4

# A record, with its header; TP_RECORD_MAX of tp/event.h.
RECORD_MAX = 65528


class Place(NamedTuple):
    """Of a member of the fixed part: offsets in the record."""

    free: int    # where the one in front of it ends
    offset: int
    end: int


def aligned(offset: int, align: int) -> int:
    """The next offset from this one on with that alignment."""
    return -(-offset // align) * align


def lay_out(members: Iterable[tuple[int, int]], free: int = HEADER_SIZE) -> Iterator[Place]:
    """The places of members of these sizes and alignments."""
    for size, align in members:
        offset = aligned(free, align)
        yield Place(free, offset, offset + size)
        free = offset + size
