# SPDX-License-Identifier: MIT
"""Random definition files over all kinds of fields, programs that hit their events with random values, and what the
readers of the trace must say. The same seed gives the same text in every Python.

    python3 tests/roundtrip/random_events.py SEED DIR    writes random.tp, random.c and expected.json there
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from random_model import (Argument, Class, Event, Field, Program, Record, Value, bitmap, c_float,  # noqa: E402
                          c_integer, c_string, flag_names, symbolic)
from random_values import (BOOL, BY_NAME, CHAR, ENUMS, FLOATS, INTS, POINTERS, PRELUDE, STRUCTS, WIDE,  # noqa: E402
                           Type, bytes_of, integer, literal, quoted, text_of, value_of)

EVENTS, HITS = 40, 5
RECORD_MAX = 65528
# Bytes of a packet, as TP_OUTPUT has it, and of a packet's longest record.
PACKETS = {"4K": 3500, "16K": 15000, "256K": RECORD_MAX}
VSTRING_MAX = 511
TEXT_MAX = 80 << 10

# Words of TSDL and of the trace's own description; what clashes with names that are hidden there, with variables of
# generated code, and with each other but for underscores.
NAMES = list(dict.fromkeys("""
event stream env clock integer floating_point string variant typealias trace callsite align packet header context fields
id name size base map encoding byte_order be le native exp_dig mant_dig value timestamp tid pid cpu_id procname magic
stream_id content_size packet_size events_discarded timestamp_begin packet_seq_num monotonic tracer_name hostname freq
uint8_t int32_t uint16_t data_loc unaligned_data_loc timestamp_t bytes offset len
x _x __x ___x x_loc _x_loc __x_loc x_length _x_length __x_length padding0 _padding0 __padding0 padding1 _padding1
a _a __a _ __ _event __event _stream _id _env _struct event_ y _y y_loc y_length z _z
p entry rec event_class sink data size_ i __start __it __probe __size __rec __dyn __event REC ent_ type flags class new
this template namespace operator private union_ struct_ enum_ if_ unsigned_ common_type_ common_pid_ label labels text
N0 CamelCase""".split() + ["n" * 120]))

TEXTS = ["one", "two", "gr\"een", "back\\slash", "a b", "tür", "漢", "x|y", "comma, here", "{brace}", "(paren)",
         "per%cent", "SOME_NAME", "0x10", "-", "colon:", "semi;"]

_RELATIVE = ("dynamic_array", "string", "string_len", "bitmask", "cpumask", "sockaddr")


# ---- The generator ----

class Generator:
    def __init__(self, seed: int):
        self.rng = random.Random(f"random events {seed}")
        self.seed = seed
        self.packet = list(PACKETS)[seed % len(PACKETS)]
        self.limit = PACKETS[self.packet]
        self.data: list[str] = []  # the program's constants
        self.enums: set[str] = set()
        self.classes: list[Class] = []
        self.events: list[Event] = []

    def program(self, events: int = EVENTS, hits: int = HITS) -> Program:
        rng = self.rng
        parts = [f"/* SPDX-License-Identifier: MIT */\n/* Random events of seed {self.seed}. */\n"
                 f"#define TRACE_SYSTEM rt\n\n{PRELUDE}"]
        for one in BY_NAME.values():
            if one.enumerators and rng.random() < 0.7:
                parts += [f"TRACE_DEFINE_ENUM({n});\n" for n in
                          (("RED", "GREEN", "BLUE", "DEEP") if one.signed else ("LOW", "HIGH"))]
                self.enums.add(one.text)
        system, ready = "rt", ""
        while len(self.events) < events:
            if rng.random() < 0.1:
                system = rng.choice(["rt", "rt-2", "stream", "event", "r_t"])
                ready = f"#undef TRACE_SYSTEM\n#define TRACE_SYSTEM {system}\n"
            parts += [ready, *self.group(system, events - len(self.events))]
            ready = ""
        order = [event for event in self.events for _ in range(hits)]
        rng.shuffle(order)
        fired = [self.hit(number, event) for number, event in enumerate(order)]
        c = self.c_text([code for code, _ in fired])
        expected = {"events": {e.name: self.describe(e) for e in self.events}, "hits": [hit for _, hit in fired]}
        options = f"packet={self.packet}" + (",context=cpu+pid+name" if self.seed % 2 else "")
        return Program(self.seed, options, "\n".join(p for p in parts if p) + "\n", c, expected)

    # -- Fields --

    def a_field(self, name: str, vstrings: bool) -> Field:
        rng = self.rng
        scalar = rng.choice(rng.choice([INTS, INTS, INTS, FLOATS, POINTERS]))
        macro = rng.choice(["field"] * 10 + ["field_struct", "field_ext", "field_struct_ext"] + ["array"] * 3
                           + ["dynamic_array"] * 4 + ["string"] * 3 + ["string_len", "bitmask", "sockaddr"]
                           + ["cpumask"] * (rng.random() < 0.5)
                           + ["vstring"] * vstrings)
        rel = macro in _RELATIVE and rng.random() < 0.3
        if macro.startswith("field_struct"):
            scalar = rng.choice(STRUCTS)
        elif macro in ("array", "dynamic_array"):
            # CTF can't describe payloads that are aligned to more than 8 bytes.
            scalar = rng.choice([CHAR, CHAR, scalar, scalar, scalar, scalar, rng.choice(STRUCTS),
                                 rng.choice(WIDE if macro == "array" else STRUCTS)])
        elif macro == "field" and rng.random() < 0.1:
            scalar = rng.choice(STRUCTS + WIDE)
        elif macro in ("string", "string_len", "vstring"):
            scalar = CHAR
        elif macro in ("bitmask", "cpumask"):
            scalar = BY_NAME["unsigned long"]
        elif macro == "sockaddr":
            scalar = BY_NAME["unsigned char"]
        length = rng.choice([0, 1, 2, 3, 5, 7, 8, 16, 33]) if macro == "array" else 0
        return Field(macro, rel, scalar, name, length)

    def fields(self, one: Class) -> None:
        rng = self.rng
        count = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20])
        names = rng.sample(NAMES, count)
        if rng.random() < 0.3:  # names that differ by underscores
            base = rng.choice(["x", "event", "padding0", "y"])
            alike = [base, f"_{base}", f"__{base}", f"{base}_loc", f"_{base}_loc", f"_{base}_length", f"{base}_length"]
            names = rng.sample(alike, min(count, len(alike))) + [n for n in names if n not in alike]
            names = names[:count]
        vstrings = rng.random() < 0.15
        one.fields = [self.a_field(name, vstrings) for name in names]
        fixed = [f for f in one.fields if not f.dynamic]
        dynamic = [f for f in one.fields if f.dynamic]
        if fixed and dynamic and rng.random() < 0.1:  # different members of the record
            dynamic[0].name = fixed[0].name = rng.choice(["twin", "_twin"])
        for f in fixed:
            if f.macro == "field" and f.type.kind == "int" and f.type is not BOOL and rng.random() < 0.3:
                if rng.random() < 0.6:
                    # Some are no value of that type; and -1 is 2**64 - 1.
                    values = [value_of(rng, f.type if rng.random() < 0.8 else rng.choice(INTS))
                              for _ in range(rng.randint(1, 6))]
                    values = list({value & (1 << 64) - 1: value for value in values}.values())
                    f.table = list(zip(values, rng.sample(TEXTS, len(values))))
                else:
                    f.flags = True
        one.by_structure = rng.random() < 0.5 or count > 10
        self.sources(one)

    def sources(self, one: Class) -> None:
        """How values come in: each as a parameter, or all in a structure."""
        rng = self.rng
        if one.by_structure:
            one.parameters = [(f"struct v_{one.name} const *v", "v")]
        # A dynamic field's source and the field have different names in C; a parameter may be called like either.
        pool = [n for n in [*(f.name for f in one.fields), "p", "entry", "rec", "sink", "it", "probe", "start", "arg0",
                            "arg1", "arg2", "arg3", "data", "event", "size", "len", "func"]
                if not n.startswith("__") and n not in ("uint8_t", "int32_t", "uint16_t", "REC")]
        pool = sorted(dict.fromkeys(pool), key=lambda _: rng.random()) + [f"a{i}" for i in range(50)]

        def source(declaration: str, member: str) -> str:
            if one.by_structure:
                return f"v->{member}"
            name = pool.pop(0)
            one.parameters.append((declaration % name, name))
            return name

        for index, f in enumerate(one.fields):
            if f.macro == "vstring":
                continue
            # Of a structure by value the paddings are anyone's.
            f.by_value = not f.dynamic and f.macro != "array" and (
                f.type.kind != "struct" or "x" not in "".join(f.type.members) and rng.random() < 0.5)
            if f.by_value:
                f.source = source(f"{f.type.text} %s", f"f{index}")
            elif f.macro in ("string", "string_len"):
                f.source = source("const char *%s", f"f{index}")
            elif f.macro == "sockaddr":
                f.source = source("const void *%s", f"f{index}")
            elif f.macro == "cpumask":
                f.source = source("const cpu_set_t *%s", f"f{index}")
            else:
                f.source = source(f"{f.type.text} const *%s", f"f{index}")
            if f.macro in ("dynamic_array", "string_len", "bitmask", "sockaddr"):
                f.count = source(rng.choice(["int %s", "size_t %s"]), f"n{index}")
        if one.has_vstring:
            one.parameters += [("const char *fmt", "fmt"), ("va_list *va", "va")]

    def structure(self, one: Class) -> str:
        """The parameters' structure, whose members are known by the fields' sources."""
        if not one.by_structure:
            return ""
        lines = []
        for index, f in enumerate(one.fields):
            if not f.source:
                continue
            pointer = {"string": "const char *", "string_len": "const char *", "sockaddr": "const void *",
                       "cpumask": "const cpu_set_t *"}.get(f.macro)
            if not pointer:
                pointer = f"{f.type.text} " if f.by_value else f"{f.type.text} const *"
            lines.append(f"\t{pointer}f{index};")
            if f.count:
                lines.append(f"\tsize_t n{index};")
        return f"struct v_{one.name} {{\n" + "\n".join(lines or ["\tint none;"]) + "\n};\n"

    # -- Events --

    def group(self, system: str, most: int) -> list[str]:
        """A class and its events, or one event: their definitions."""
        rng = self.rng
        number = len(self.classes)
        own = rng.choice(["entry", "printk_", "stream", "event", "raw"]) if number == 3 else f"r{number}"
        one = Class(own)
        self.classes.append(one)
        self.fields(one)
        one.texts[""] = self.arguments(one)
        proto = ", ".join(d for d, _ in one.parameters) or "void"
        common = f"\n\tTP_PROTO({proto}),\n\tTP_ARGS({', '.join(n for _, n in one.parameters)})"
        body = "".join(f"\t\t{f.declaration()}\n" for f in one.fields)
        assigned = "".join(f"\t\t{f.assignment(rng)}\n" for f in one.fields)
        body = f"\n\tTP_STRUCT__entry(\n{body}\t),\n\tTP_fast_assign(\n{assigned}\t),\n\t{self.printk(one, '')}"
        head = self.structure(one)
        out = []
        if rng.random() < 0.5:
            out.append(f"{head}TRACE_EVENT({own},{common},{body}\n);\n")
            self.add(own, system, one, out[0])
            names = [f"{own}_{i}" for i in range(rng.choice([0, 0, 0, 1]))]
        else:
            out.append(f"{head}DECLARE_EVENT_CLASS({own},{common},{body}\n);\n")
            names = [f"{own}_{i}" for i in range(rng.randint(1, 3))]
        for name in names[:most]:
            if rng.random() < 0.4:
                one.texts[name] = self.arguments(one)
                out.append(f"DEFINE_EVENT_PRINT({own}, {name},{common},\n\t{self.printk(one, name)}\n);\n")
            else:
                out.append(f"DEFINE_EVENT({own}, {name},{common});\n")
            self.add(name, system, one, out[0] + out[-1])
        return out

    def add(self, name: str, system: str, one: Class, text: str) -> None:
        self.events.append(Event(name, system, one, text))

    def describe(self, event: Event) -> dict:
        """What is to be known of it beside its values."""
        def table_of(f: Field) -> bool:
            entry = re.escape(f"__entry->{f.name}, {self.table_code(f)}")
            return any(re.fullmatch(rf"__print_symbolic\((\(long\))?{entry}\)", a.code) for a in event.arguments)
        return {"system": event.system, "tp": event.text, "fields": [
            {"name": f.name, "dynamic": f.dynamic, "rel": f.rel, "kind": f.type.kind, "size": f.type.size,
             "signed": f.type.kind == "int" and f.type.signed and not f.macro.startswith("field_struct"),
             "array": f.macro not in ("field", "field_ext", "field_struct", "field_struct_ext"), "text": f.is_text,
             "cpus": f.macro == "cpumask",
             "table": f.table if f.table and not f.flags and table_of(f) else None} for f in event.event_class.fields]}

    # -- TP_printk --

    def printk(self, one: Class, event: str) -> str:
        text = "".join(a.front.replace("%", "%%") + a.conversion for a in one.texts[event])
        code = "".join(f",\n\t\t{a.code}" for a in one.texts[event])
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'TP_printk("{escaped or "nothing"}"{code})'

    def table_code(self, f: Field) -> str:
        names = {0: "RED", 7: "GREEN", -2: "BLUE", -2**31: "DEEP"} if f.type is ENUMS[0] else \
            {0: "LOW", 4000000000: "HIGH"} if f.type is ENUMS[1] else {}
        use = names if f.type.text in self.enums else {}
        return ", ".join(f"{{ {use.get(v, integer(v))}, {quoted_utf8(n)} }}" for v, n in f.table or [])

    def arguments(self, one: Class) -> list[Argument]:
        """Those of one TP_printk; every other is such that libtraceevent can print it."""
        rng = self.rng
        plain = rng.random() < 0.5 and one.names_are_unique
        out: list[Argument] = []
        for index, f in enumerate(one.fields):
            if rng.random() > 0.85:
                continue
            made = self.argument(one, index, f)
            made.front = rng.choice([" ", ", "] if out else [""]) + rng.choice(
                [f"{f.name}=", f"{f.name[:9]}: ", "[", "100% ", '"', "\\", "é="][:4 if plain else None])
            # Of two fields it takes the first of that name. Quotes in a format are bare in its text, where the kernel
            # has it evaluated, too. In the name of a flag it keeps the backslash, a byte above 127 is the text's end to
            # it, and it takes no difference for a symbol's value.
            text = made.front + made.conversion + made.code
            if not one.names_are_unique or '"' in made.front or "\\" in text or not text.isascii() or \
                    "ll - 1)" in text:
                made.readable = _never
            if not plain or made.readable is not _never:
                out.append(made)
        return out

    def argument(self, one: Class, index: int, f: Field) -> Argument:
        rng = self.rng

        def make(conversion: str, code: str, render: Callable[[Value], bytes], readable=_always) -> Argument:
            return Argument("", conversion, code, lambda r: render(r[index]), readable)

        entry = f"__entry->{f.name}"
        if not f.dynamic and f.macro != "array":
            return self.scalar(index, f, entry, make)
        if f.macro == "array":
            if f.is_text and f.length and rng.random() < 0.7:
                # It may have no NUL.
                conversion = rng.choice(["%%.%ds", "%%40.%ds", "%%-9.%ds"]) % rng.randint(1, f.length)
                return make(conversion, entry, lambda v: c_string(conversion, v.data))
            if f.type.kind not in ("struct", "wide") and rng.random() < 0.4:
                return make("%s", f"__print_array({entry}, {f.length}, {f.type.size})",
                            lambda v: print_array(v.data, f.type.size), _never)  # decimal numbers
            helper, together = rng.choice([("__print_hex", b" "), ("__print_hex_str", b"")])
            return make("%s", f"{helper}({entry}, sizeof({entry}))", lambda v: print_hex(v.data, together),
                        _never)  # sizeof of a member is not understood
        length = f.helper("dynamic_array_len")
        if rng.random() < 0.15 and f.macro != "cpumask":
            # libtraceevent crashes on that of a __rel_ field.
            return make("%u", length, lambda v: b"%d" % len(v.data), _never if f.rel else _always)
        if f.macro in ("string", "string_len", "vstring"):
            conversion = rng.choice(["%s"] * 4 + ["%20s", "%-20s|", "%.3s", "%5.2s"])
            return make(conversion, f.helper("str"), lambda v: c_string(conversion, v.data))
        if f.macro == "bitmask":
            return make("%s", f.helper("bitmask"), lambda v: bitmap(v.data))
        if f.macro == "cpumask":  # a number
            return make("%s", f.helper("cpumask"), lambda v: bitmap(v.data), _never)
        at = f.helper("sockaddr" if f.macro == "sockaddr" else "dynamic_array")
        if f.macro == "dynamic_array" and f.type.kind != "struct" and rng.random() < 0.4:
            return make("%s", f"__print_array({at}, {length} / {f.type.size}, {f.type.size})",
                        lambda v: print_array(v.data, f.type.size), _never)
        helper, together = rng.choice([("__print_hex", b" "), ("__print_hex_str", b"")])
        return make("%s", f"{helper}({at}, {length})", lambda v: print_hex(v.data, together),
                    _never if f.rel or f.macro == "sockaddr" else _always)

    def scalar(self, index: int, f: Field, entry: str, make) -> Argument:
        rng = self.rng
        if f.type.kind in ("struct", "wide"):
            return make("%s", f"__print_hex(&{entry}, sizeof({entry}))", lambda v: print_hex(v.data, b" "), _never)
        if f.type.kind == "float":  # the kernel has none
            conversion = rng.choice(["%f", "%g", "%e", "%.17g", "%10.3f", "%-12g|"])
            return make(conversion, entry, lambda v: c_float(conversion, v.plain), _never)
        if f.type.kind == "pointer":
            return make("%p", f"{f.type.cast}{entry}", lambda v: b"0x%x" % v.plain if v.plain else b"(nil)", _never)

        def not_below_zero(record: Record) -> bool:
            """It extends numbers by zeros, not by their sign; but takes for %d what an int has of them."""
            return f.type.size == 8 or record[index].plain >= 0 or \
                f.type.size == 4 and not f.table and not f.flags

        if f.table:
            cast = rng.choice(["", "", "(long)"]) if f.type.signed else ""
            return make("%s", f"__print_symbolic({cast}{entry}, {self.table_code(f)})",
                        lambda v: symbolic(v.plain, f.table), not_below_zero)
        if f.flags:
            bits = rng.sample(range(min(8 * f.type.size - f.type.signed, 62)), rng.randint(1, 5))
            masks = [1 << bit for bit in bits]
            if len(bits) > 1 and rng.random() < 0.3:
                masks.insert(0, masks[0] | masks[1])
            table = list(zip(masks, rng.sample(TEXTS, len(masks))))
            delimiter = rng.choice(["|", ",", " ", "", " | "])
            entries = ", ".join(f"{{ {rng.choice([integer(m), f'0x{m:x}ul', shifted(m)])}, {quoted_utf8(n)} }}"
                                for m, n in table)
            made = make("%s", f'__print_flags({entry}, "{delimiter}", {entries})',
                        lambda v: flag_names(v.plain, delimiter, table), not_below_zero)
            made.flags_of = f.name
            return made
        if rng.random() < 0.1:
            return make("%s", f'{entry} ? "yes" : "no"', lambda v: b"yes" if v.plain else b"no")
        bits = max(32, 8 * f.type.size)
        conversion = rng.choice(["%", "%", "%5", "%-6", "%05", "%20"])
        if rng.random() < 0.2:
            conversion = rng.choice(["%#", "%#10", "%08", "%"]) + f.type.length + rng.choice("xX")
        else:
            conversion += f.type.length + ("d" if f.type.signed else "u")
        return make(conversion, f.type.cast + entry, lambda v: c_integer(conversion, v.plain, bits), not_below_zero)

    # -- Hits --

    def hit(self, number: int, event: Event) -> tuple[str, dict]:
        """One call of the event, in C, and what the readers must say."""
        rng, one = self.rng, event.event_class
        most = rng.choice([4, 20, 100, 100, self.limit]) if rng.random() < 0.3 else 30
        record: Record = {}
        given: dict[str, str] = {}  # what stands in C for a source
        vtext = text_of(rng, most) if rng.random() < 0.8 else b"v" * rng.choice([510, 511, 512, 600])
        free = self.limit - 200 - 40 * len(one.fields) - sum(f.type.size * max(f.length, 2) for f in one.fields)
        free -= sum(VSTRING_MAX + 1 for f in one.fields if f.macro == "vstring")
        for index, f in enumerate(one.fields):
            record[index], values = self.value(one, f, max(min(most, free), 0), vtext)
            free -= len(record[index].data) if f.dynamic else 0
            given |= dict(zip((f.source, f.count), values))
        self.lengthen(one, record, given)
        text = b"".join(a.front.encode() + a.render(record) for a in event.arguments) or b"nothing"
        if not event.arguments:
            text = b"nothing"
        code = self.call(number, event, given, vtext)
        return code, {"event": event.name, "values": [shown(f, record[i]) for i, f in enumerate(one.fields)],
                      "bytes": [record[i].data.hex() for i in record], "text": text.hex(),
                      "flags": {a.flags_of: a.render(record).decode() for a in event.arguments if a.flags_of},
                      # The text sink has so much room for the text and all that stands in it.
                      "cut": 4 * len(text) + 1000 > TEXT_MAX,
                      "readable": all(a.readable(record) for a in event.arguments), "size": size_of(one.fields, record)}

    def lengthen(self, one: Class, record: Record, given: dict[str, str]) -> None:
        """Now and then, the record becomes as long as one can be."""
        strings = [i for i, f in enumerate(one.fields) if f.macro == "string"]
        if not strings or self.rng.random() > 0.05 or any(f.macro == "cpumask" for f in one.fields):
            return
        # Behind it nothing moves to another alignment.
        index, one_field = strings[-1], one.fields[strings[-1]]
        if any(f.dynamic for f in one.fields[index + 1:]):
            return
        more = RECORD_MAX if self.limit == RECORD_MAX else self.limit
        length = len(record[index].data) + more - size_of(one.fields, record)
        data = bytes(self.rng.choice(b"abcdefgh") for _ in range(16)) * (length // 16 + 1)
        record[index] = Value(None, data[:length - 1] + b"\0")
        given[one_field.source] = quoted(data[:length - 1])

    def array(self, one: Type, values: list) -> str:
        """A constant of the program; its name."""
        name = f"d{len(self.data)}"
        if one is CHAR:
            text = bytes(v & 255 for v in values) or b"-"
            self.data.append(f"static const char {name}[{len(text)} + 1] = {quoted(text)};")
        else:
            elements = ", ".join(literal(one, v) for v in values or [value_of(random.Random(1), one)])
            self.data.append(f"static {one.text} const {name}[] = {{ {elements} }};")
        return name

    def value(self, one: Class, f: Field, most: int, vtext: bytes) -> tuple[Value, list[str]]:
        """A value, and what the program passes: the source and the count."""
        rng = self.rng
        if f.macro == "vstring":
            data = vtext[:VSTRING_MAX] + b"\0"
            return Value(None, data), []
        if f.macro in ("string", "string_len"):
            return self.string(f, most)
        if f.macro == "bitmask":
            bits = rng.choice([0, 1, 31, 63, 64, 65, 128, 200])
            words = [rng.getrandbits(64) for _ in range((bits + 63) // 64)]
            return (Value(words, b"".join(w.to_bytes(8, "little") for w in words)),
                    [self.array(f.type, words), str(bits)])
        if f.macro == "cpumask":
            word = rng.choice([0, 1, 2**64 - 1, rng.getrandbits(64)])  # of so many CPUs there is room everywhere
            self.data.append(f"static const cpu_set_t d{len(self.data)} = {{ {{ {word}ul }} }};")
            return Value([word], word.to_bytes(8, "little")), [f"&d{len(self.data) - 1}"]
        if f.macro == "sockaddr":
            data = bytes(rng.getrandbits(8) for _ in range(min(rng.choice([0, 1, 2, 16, 28, 110]), most)))
            return Value(list(data), data), [self.array(f.type, list(data)), str(len(data))]
        if f.macro in ("array", "dynamic_array"):
            count = f.length
            if f.macro == "dynamic_array":
                count = min(rng.choice([0, 0, 1, 2, 3, 5, rng.randint(0, 40), most]), most // (f.type.size or 1))
            if f.type is CHAR:
                data = (text_of(rng, count) + bytes(rng.choice([0, 0, 65]) for _ in range(count)))[:count]
                values = list(data)
                return Value(None, data), [self.array(CHAR, values), str(count)]
            values = [value_of(rng, f.type) for _ in range(min(count, 60))]
            values = (values * (count // 60 + 1))[:count]
            return (Value(values, b"".join(bytes_of(f.type, v) for v in values)),
                    [self.array(f.type, values), str(count)])
        value = value_of(rng, f.type)
        if not f.by_value:
            return Value(value, bytes_of(f.type, value)), [self.array(f.type, [value])]
        code = literal(f.type, value)
        if f.type.kind == "struct" and not one.by_structure:
            code = f"({f.type.text}){code}"
        return Value(value, bytes_of(f.type, value)), [code]

    def string(self, f: Field, most: int) -> tuple[Value, list[str]]:
        rng = self.rng
        text = text_of(rng, most)
        missing = rng.random() < 0.05
        shown_text = b"(null)" if missing else text
        source = "NULL" if missing else quoted(text)
        if f.macro == "string":
            return Value(None, shown_text + b"\0"), [source]
        length = rng.choice([0, 1, len(text), len(text) + 1, len(text) + 1000, rng.randint(0, len(text))])
        return Value(None, shown_text[:length] + b"\0"), [source, str(length)]

    # -- The program --

    def call(self, number: int, event: Event, given: dict[str, str], vtext: bytes) -> str:
        one = event.event_class
        names = [n for _, n in one.parameters if n not in ("fmt", "va") or not one.has_vstring]
        if one.by_structure:
            members = ", ".join(f".{source[3:]} = {value}" for source, value in given.items() if source)
            self.data.append(f"static const struct v_{one.name} h{number} = {{ {members or '.none = 0'} }};")
            arguments = [f"&h{number}"]
        else:
            arguments = [given[n] for n in names]
        if not one.has_vstring:
            return f"\ttrace_{event.name}({', '.join(arguments)});\n"
        return f"\tfire_{event.name}({', '.join(arguments + [quoted(b'%s%s'), quoted(vtext)])}, \"\");\n"

    def c_text(self, calls: list[str]) -> str:
        wrappers = []
        for event in self.events:
            one = event.event_class
            if one.has_vstring:
                own = [(d, n) for d, n in one.parameters if n not in ("fmt", "va")]
                wrappers.append(
                    f"static void fire_{event.name}({''.join(d + ', ' for d, _ in own)}const char *fmt, ...)\n{{\n"
                    f"\tva_list va;\n\n\tva_start(va, fmt);\n"
                    f"\ttrace_{event.name}({''.join(n + ', ' for _, n in own)}fmt, &va);\n\tva_end(va);\n}}\n")
        pieces = [calls[at:at + 50] for at in range(0, len(calls), 50)]
        functions = [f"static void fire_all_{i}(void)\n{{\n{''.join(piece)}}}\n" for i, piece in enumerate(pieces)]
        main = "".join(f"\tfire_all_{i}();\n" for i in range(len(pieces)))
        return "\n".join([
            f"/* SPDX-License-Identifier: MIT */\n/* Hits the random events of seed {self.seed}. */\n",
            '#define CREATE_TRACE_POINTS\n#include "random.h"\n\nvoid fire_all(void);\n', *self.data, "", *wrappers,
            *functions,
            f"void fire_all(void)\n{{\n{main}}}\n"])


def _always(_: Record) -> bool:
    return True


def _never(_: Record) -> bool:
    return False


def quoted_utf8(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def shifted(mask: int) -> str:
    return f"1ul << {mask.bit_length() - 1}" if mask & mask - 1 == 0 else f"0{mask:o}"


def print_hex(data: bytes, between: bytes) -> bytes:
    return between.join(b"%02x" % c for c in data)


def print_array(data: bytes, size: int) -> bytes:
    return b"{" + b",".join(b"0x%x" % int.from_bytes(data[at:at + size], "little")
                            for at in range(0, len(data), size)) + b"}"


def shown(f: Field, value: Value) -> object:
    """The value as a reader of CTF has it, floats as text: NaN is no JSON, and -0.0 is 0."""
    if f.is_text:
        return value.data.split(b"\0")[0].decode(errors="surrogateescape")
    if f.type.kind in ("struct", "wide"):
        return list(value.data)
    many = value.plain if isinstance(value.plain, list) else [value.plain]
    many = [repr(v) if f.type.kind == "float" else int(v) for v in many]
    return many if isinstance(value.plain, list) else many[0]


def size_of(fields: list[Field], record: Record) -> int:
    """The record's bytes, as docs and tp/event.h have it. 0 with a cpumask, which is the machine's."""
    def up(at: int, align: int) -> int:
        return (at + align - 1) // align * align
    at = 8
    for f in fields:
        size = 4 if f.dynamic else f.type.size * (f.length if f.macro == "array" else 1)
        at = up(at, 4 if f.dynamic else f.type.align) + size
    for index, f in enumerate(fields):
        if f.macro == "cpumask":
            return 0
        if f.dynamic:
            if f.type.size > 1:
                at = up(up(at, 2) + 2, f.type.align)
            at += len(record[index].data)
    return at


def random_program(seed: int, events: int = EVENTS, hits: int = HITS) -> Program:
    return Generator(seed).program(events, hits)


def write(program: Program, directory: str) -> None:
    for name, text in (("random.tp", program.tp), ("random.c", program.c),
                       ("expected.json", json.dumps(program.expected, indent=1))):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    write(random_program(int(sys.argv[1])), sys.argv[2])
