# SPDX-License-Identifier: MIT
"""What a histogram shows, by the shortest way: a dictionary. Random definitions, and random records for them."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, field

WIDTHS = {"s8": -8, "u8": 8, "s16": -16, "u16": 16, "s32": -32, "u32": 32, "s64": -64, "u64": 64, "method": -32, "mode": 32}
TEXTS = {"fixed": 8, "text": None}
KEYS, VALUES = 3, 2

Record = dict[str, "int | str"]


def wrap(value: int, width: int) -> int:
    """As a field of so many bits holds it; a negative width has a sign."""
    bits = abs(width)
    value &= (1 << bits) - 1
    return value - (1 << bits) if width < 0 and value >> (bits - 1) else value


def unsigned(value: int) -> int:
    return value & (1 << 64) - 1


def random_record(rng: random.Random) -> Record:
    small = rng.random() < 0.7
    record: Record = {name: wrap(rng.randrange(-3, 12) if small else rng.getrandbits(64), width) for name, width in WIDTHS.items()}
    for name in TEXTS:
        record[name] = "".join(rng.choice("ab") for _ in range(rng.choice((0, 1, 2, 2, 7, 8, 9, 255, 300))))
    return record


@dataclass
class Item:
    name: str
    modifier: str = ""

    def text(self) -> str:
        return f"{self.name}.{self.modifier}" if self.modifier else self.name

    def is_text(self) -> bool:
        return self.name in TEXTS

    def of(self, record: Record) -> int | str:
        """The key or value that is counted."""
        value = record.get(self.name, 1)
        if isinstance(value, str):
            return value[:TEXTS[self.name] or 255]
        value = unsigned(value)
        if self.modifier == "log2":
            return (value - 1).bit_length() if value > 1 else 0
        if self.modifier.startswith("buckets="):
            size = int(self.modifier.removeprefix("buckets="), 0)
            return value // size * size
        return value

    def shown_key(self, value: int | str) -> str:
        if isinstance(value, str):
            return f"{self.name}: {value:<50}"
        if self.modifier == "hex":
            return f"{self.name}: {value:x}"
        if self.modifier == "log2":
            return f"{self.name}: ~ 2^{value:<2}"
        if self.modifier.startswith("buckets="):
            return f"{self.name}: ~ {value}-{unsigned(value + int(self.modifier.removeprefix('buckets='), 0) - 1)}"
        return f"{self.name}: {value:10}"

    def shown_value(self, value: int, total: int, most: int) -> str:
        if self.modifier == "percent":
            part = percentage(value, total)
            return f"{self.name} (%):[ERROR]" if part == BAD else f"{self.name} (%): {part // 100:3}.{part % 100:02}"
        if self.modifier == "graph":
            part = percentage(value, most)
            return f"{self.name}: " + ("[ERROR]".rjust(20) if part == BAD else ("#" * min(20, (part * 20 & BAD) // 10000)).ljust(20))
        return f"{self.name}: {value:10x}" if self.modifier == "hex" else f"{self.name}: {value:10}"

    def order(self, value: int | str) -> int | str:
        """What keys are compared by."""
        signed = WIDTHS.get(self.name, 64) < 0 and self.modifier != "log2"
        return wrap(value, -64) if signed and isinstance(value, int) else value


BAD = 2 ** 32 - 1


def percentage(value: int, of: int) -> int:
    """As the kernel has it, in 32 bits."""
    if of and value < (2 ** 64 - 1) // 10000:
        return value * 10000 // of & BAD
    of //= 10000
    if not of:
        return BAD if value else 0
    return value // of & BAD


@dataclass
class Definition:
    keys: list[Item]
    values: list[Item] = field(default_factory=list)
    sort: list[tuple[str, bool]] = field(default_factory=list)  # and whether it is descending
    size: int = 2048

    def text(self, rng: random.Random) -> str:
        parts = [f"{rng.choice(('keys', 'key'))}={','.join(item.text() for item in self.keys)}"]
        if self.values or rng.random() < 0.3:
            named = [item.text() for item in self.values]
            if not named or rng.random() < 0.3:
                named.insert(rng.randrange(len(named) + 1), "hitcount")
            parts.append(f"{rng.choice(('vals', 'values', 'val'))}={','.join(named)}")
        if self.sort:
            orders = {True: (".descending",), False: ("", ".ascending")}
            parts.append("sort=" + ",".join(name + rng.choice(orders[down]) for name, down in self.sort))
        if self.size != 2048:
            parts.append(f"size={self.size}")
        rng.shuffle(parts)
        return ":".join(parts)

    def _item(self, name: str) -> Item:
        return next(item for item in [*self.values, *self.keys] if item.name == name)

    def info(self) -> str:
        values = ",".join(["hitcount", *(item.text() for item in self.values)])
        sort = ",".join((name if name == "hitcount" else self._item(name).text()) + (".descending" if down else "")
                        for name, down in self.sort or [("hitcount", False)])
        return f"hist:keys={','.join(item.text() for item in self.keys)}:vals={values}:sort={sort}:size={self.size} [active]"

    def shown(self, records: list[Record]) -> str:
        rows: dict[tuple[int | str, ...], list[int]] = {}
        dropped = 0
        for record in records:
            key = tuple(item.of(record) for item in self.keys)
            if key not in rows and len(rows) == self.size:
                dropped += 1
                continue
            sums = rows.setdefault(key, [0] * (1 + len(self.values)))
            sums[0] += 1
            for i, item in enumerate(self.values):
                value = item.of(record)
                assert isinstance(value, int)
                sums[1 + i] = unsigned(sums[1 + i] + value)
        return self._text(rows, dropped)

    def _sorted(self, rows: dict[tuple[int | str, ...], list[int]]) -> list[tuple[int | str, ...]]:
        def place(key: tuple[int | str, ...], name: str) -> int | str:
            if name == "hitcount":
                return rows[key][0]
            for i, item in enumerate(self.values):
                if item.name == name:
                    return rows[key][1 + i]
            at = next(i for i, item in enumerate(self.keys) if item.name == name)
            return self.keys[at].order(key[at])

        def compare(a: tuple[int | str, ...], b: tuple[int | str, ...]) -> int:
            pairs = [(place(a, name), place(b, name), down) for name, down in self.sort or [("hitcount", False)]]
            pairs += [(item.order(x), item.order(y), False) for item, x, y in zip(self.keys, a, b)]
            for x, y, down in pairs:
                if x != y:
                    return (-1 if x < y else 1) * (-1 if down else 1)  # type: ignore[operator]
            return 0

        return sorted(rows, key=functools.cmp_to_key(compare))

    def _text(self, rows: dict[tuple[int | str, ...], list[int]], dropped: int) -> str:
        totals = [sum(sums[1 + i] for sums in rows.values()) for i in range(len(self.values))]
        most = [max((sums[1 + i] for sums in rows.values()), default=0) for i in range(len(self.values))]
        lines = ["# event histogram", "#", f"# trigger info: {self.info()}", "#", ""]
        for key in self._sorted(rows):
            line = "{ " + ", ".join(item.shown_key(value) for item, value in zip(self.keys, key)) + " }"
            line += f" hitcount: {rows[key][0]:10}"
            for i, item in enumerate(self.values):
                line += "  " + item.shown_value(rows[key][1 + i], unsigned(totals[i]), most[i])
            lines.append(line)
        hits = sum(sums[0] for sums in rows.values())
        return "\n".join([*lines, "", "Totals:", f"    Hits: {hits}", f"    Entries: {len(rows)}", f"    Dropped: {dropped}", ""])


def random_definition(rng: random.Random) -> Definition:
    def key() -> Item:
        if rng.random() < 0.3:
            return Item(rng.choice([*TEXTS]))
        return Item(rng.choice([*WIDTHS]), rng.choice(("", "", "hex", "log2", "buckets=10", f"buckets={rng.randrange(1, 1000)}")))

    def value() -> Item:
        modifier = rng.choice(("", "", "hex", "percent", "graph"))
        return Item(rng.choice([*WIDTHS, "hitcount"]) if modifier else rng.choice([*WIDTHS]), modifier)

    made = Definition([key() for _ in range(rng.randrange(1, KEYS + 1))], [value() for _ in range(rng.randrange(VALUES + 1))])
    names = ["hitcount", *(item.name for item in [*made.keys, *made.values])]
    made.sort = [(rng.choice(names), rng.random() < 0.5) for _ in range(rng.randrange(3))]
    made.size = rng.choice((128, 2048, 2048, 4096))
    return made
