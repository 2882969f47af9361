# SPDX-License-Identifier: MIT
"""Prints each event of a CTF trace as a JSON object a line, as babeltrace2 reads it. For the Python that has bt2.

    read_trace.py TRACE [--hidden]
"""

import json
import sys

import bt2

HIDDEN = "--hidden" in sys.argv  # fields may have an underscore in front; so the hidden words are wanted, too


def plain(value):
    """A field as plain Python, without the hidden words that tell where payloads are."""
    if isinstance(value, bt2._StructureFieldConst):
        return {name: plain(member) for name, member in value.items() if HIDDEN or not name.startswith("_")}
    if isinstance(value, bt2._ArrayFieldConst):
        return [plain(element) for element in value]
    if isinstance(value, (bt2._StringFieldConst, bt2._StringValueConst)):
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
environment = None
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if isinstance(message, bt2._DiscardedEventsMessageConst):
        print(json.dumps({"discarded": message.count}))
    if isinstance(message, bt2._StreamBeginningMessageConst) and environment is None:
        environment = {name: plain(value) for name, value in message.stream.trace.environment.items()}
        print(json.dumps({"environment": environment}))
    if not isinstance(message, bt2._EventMessageConst):
        continue
    event = message.event
    print(json.dumps({
        "name": event.name, "level": event.cls.log_level, "time": message.default_clock_snapshot.ns_from_origin,
        "tid": int(event.common_context_field["tid"]), "context": plain(event.common_context_field),
        "fields": plain(event.payload_field) or {},
        "labels": {name: label(v) for name, v in event.payload_field.items() if label(v) is not None}}))
