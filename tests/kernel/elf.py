# SPDX-License-Identifier: MIT
"""Initialized data in an object file, its relocations followed: as much of ELF as x86-64's and aarch64's gcc write."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_SYMTAB, _RELA, _NOBITS = 2, 4, 8
_ABSOLUTE = {62: 1, 183: 257}  # R_X86_64_64 and R_AARCH64_ABS64, by e_machine


@dataclass(frozen=True)
class Place:
    section: int
    offset: int

    def __add__(self, n: int) -> Place:
        return Place(self.section, self.offset + n)


class Object:
    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._file = file.read()
        if self._file[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no 64-bit little-endian ELF file")
        machine, = struct.unpack_from("<H", self._file, 18)
        start, = struct.unpack_from("<Q", self._file, 40)
        size, count = struct.unpack_from("<HH", self._file, 58)
        self._sections = [struct.unpack_from("<IIQQQQIIQQ", self._file, start + i * size) for i in range(count)]
        self.symbols: dict[str, Place] = {}
        places: list[Place | None] = []
        for section in self._sections:
            if section[1] == _SYMTAB:
                names = self._sections[section[6]][4]
                for at in range(section[4], section[4] + section[5], 24):
                    name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", self._file, at)
                    known = 0 < index < count
                    places.append(Place(index, value) if known else None)
                    if known and name:
                        end = self._file.index(b"\0", names + name)
                        self.symbols[self._file[names + name:end].decode()] = Place(index, value)
        self._pointers: dict[Place, Place] = {}
        for section in self._sections:
            if section[1] == _RELA:
                for at in range(section[4], section[4] + section[5], 24):
                    offset, info, addend = struct.unpack_from("<QQq", self._file, at)
                    base = places[info >> 32]
                    if info & 0xffffffff == _ABSOLUTE.get(machine) and base:
                        self._pointers[Place(section[7], offset)] = base + addend

    def read(self, place: Place, layout: str) -> tuple[int, ...]:
        return struct.unpack_from("<" + layout, self._file, self._sections[place.section][4] + place.offset)

    def text(self, place: Place) -> str:
        start = self._sections[place.section][4] + place.offset
        return self._file[start:self._file.index(b"\0", start)].decode("utf-8", "surrogateescape")

    def pointer(self, place: Place) -> Place | None:
        """Where the pointer stored at a place points to; None where it is NULL, or another file's."""
        return self._pointers.get(place)

