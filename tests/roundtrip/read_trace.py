# SPDX-License-Identifier: MIT
"""Prints each event of a CTF trace as a JSON object a line, as babeltrace2 reads it. For the Python that has bt2."""

import json
import sys

import bt2


def plain(value):
    """A field as plain Python, without the hidden words that tell where payloads are."""
    if isinstance(value, bt2._StructureFieldConst):
        return {name: plain(member) for name, member in value.items() if not name.startswith("_")}
    if isinstance(value, bt2._ArrayFieldConst):
        return [plain(element) for element in value]
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    return float(value) if isinstance(value, bt2._RealFieldConst) else int(value)


def label(value):
    """An enumeration's names for the value; None for other fields."""
    if not isinstance(value, bt2._EnumerationFieldConst):
        return None
    try:
        return sorted(value.labels)
    except AssertionError:  # what bt2 2.0 has to say of a value without a name
        return []


print(json.dumps({"bt2": bt2.__version__}))
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if isinstance(message, bt2._DiscardedEventsMessageConst):
        print(json.dumps({"discarded": message.count}))
    if not isinstance(message, bt2._EventMessageConst):
        continue
    event = message.event
    print(json.dumps({
        "name": event.name, "time": message.default_clock_snapshot.ns_from_origin,
        "tid": int(event.common_context_field["tid"]), "fields": plain(event.payload_field) or {},
        "labels": {name: label(v) for name, v in event.payload_field.items() if label(v) is not None}}))
