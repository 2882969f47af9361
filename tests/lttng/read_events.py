# SPDX-License-Identifier: MIT
"""Prints each event of a CTF trace as a JSON object a line. For the Python that has bt2.

    read_events.py TRACE
"""

import json
import sys

import bt2


def plain(value):
    """A field as plain Python."""
    if isinstance(value, bt2._StructureFieldConst):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, bt2._ArrayFieldConst):
        return [plain(element) for element in value]
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    return float(value) if isinstance(value, bt2._RealFieldConst) else int(value)


for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if isinstance(message, bt2._EventMessageConst):
        event = message.event
        print(json.dumps({"name": event.name, "fields": plain(event.payload_field) if event.payload_field else {}}))
