# SPDX-License-Identifier: MIT
"""Hover, definitions, references, outline and completion, in files that are right and in those that are being written."""

from __future__ import annotations

import glob
import os
import random
import re
from typing import Any

from fuzz.test_fuzz import SEED, SPICE
from lsp.client import LspCase, lines_of, position
from support import ROOT, Case, both, few_or_many, read, tpgen

from tpgen.check.fields import HELPERS
from tpgen.ctype import NotC, parse_params
from tpgen.diag import Diagnostics
from tpgen.fields import parse_fields
from tpgen.kinds import FIELD_MACROS
from tpgen.lexer import lex
from tpgen.lsp.complete import complete
from tpgen.lsp.document import ENCODINGS, Document
from tpgen.lsp.hover import hover
from tpgen.lsp.navigate import definition, references, symbols
from tpgen.lsp.outline import Outline
from tpgen.parser import FORMS, PART_WORDS, parse
from tpgen.source import Source
from tpgen.text import Text

URI = "file:///tmp/shop.tp"
TEXT = """#define TRACE_SYSTEM shop

#include <stdint.h>
#define show_flags(flags) __print_flags(flags, "|", { 1, "GIFT" }, { 2, "EXPRESS" })
#define COUNTER(name) __field(uint64_t, name)

struct pair { uint16_t one, two, three; };

TRACE_EVENT(shop_pay,
	TP_PROTO(const char *owner, char currency, uint32_t *prices, size_t count, int (*done)(int code), const struct pair *pair),
	TP_ARGS(owner, currency, prices, count, done, pair),
	TP_STRUCT__entry(
		__field(char, currency)
		__field_struct(struct pair, pair)
		__string(owner, owner)
		__array(short, rates, 3)
		COUNTER(served)
		__rel_dynamic_array(uint32_t, prices, count)
	),
	TP_fast_assign(
		__assign_str(owner);
		__entry->currency = currency;
		__entry->pair = *pair;
		__entry->served = count;
		memset(__entry->rates, 0, sizeof(__entry->rates));
		memcpy(__get_rel_dynamic_array(prices), prices, __get_rel_dynamic_array_len(prices));
	),
	TP_printk("owner=%s currency=%d flags=%s served=%llu", __get_str(owner), __entry->currency, show_flags(__entry->currency),
		  (unsigned long long)__entry->served)
);

DECLARE_EVENT_CLASS(door,
	TP_PROTO(int number),
	TP_ARGS(number),
	TP_STRUCT__entry(__field(int, number)),
	TP_fast_assign(__entry->number = number;),
	TP_printk("number=%d", __entry->number)
);
DEFINE_EVENT(door, door_open, TP_PROTO(int number), TP_ARGS(number));
DEFINE_EVENT_PRINT(door, door_shut, TP_PROTO(int number), TP_ARGS(number), TP_printk("shut %d", __entry->number));
TRACEPOINT_LOGLEVEL(shop, door_open, TRACE_INFO)
DECLARE_TRACE(shop_idle, TP_PROTO(void), TP_ARGS());

static inline void enter(int number)
{
	trace_door_open(number);
}
"""


class Answers(LspCase):
    def setUp(self) -> None:
        super().setUp()
        self.client_ = self.client().initialize()
        self.text = TEXT
        self.client_.open(URI, TEXT)

    def tearDown(self) -> None:
        self.end(self.client_)

    def write_on(self, text: str) -> None:
        self.text = text
        self.client_.change(URI, {"text": text})

    def ask(self, method: str, what: str, plus: int = 0, after: str = "", **params: Any) -> Any:
        return self.client_.ask(f"textDocument/{method}", textDocument={"uri": URI}, position=position(self.text, what, plus, after), **params)

    def hover(self, what: str, plus: int = 0, after: str = "") -> str:
        found = self.ask("hover", what, plus, after)
        return found["contents"]["value"] if found else ""

    def place(self, what: str, plus: int = 0, after: str = "") -> str:
        """The line in which it is declared, with the name between brackets."""
        found = self.ask("definition", what, plus, after)
        return self.shown(found) if found else ""

    def shown(self, location: dict[str, Any]) -> str:
        self.assertEqual(location["uri"], URI)
        start, end = location["range"]["start"], location["range"]["end"]
        self.assertEqual(start["line"], end["line"])
        line = self.text.split("\n")[start["line"]]
        return f"{line[:start['character']]}[{line[start['character']:end['character']]}]{line[end['character']:]}".strip()

    def labels(self, what: str, plus: int = 0, after: str = "") -> list[str]:
        return [item["label"] for item in self.ask("completion", what, plus, after)]


class Hover(Answers):
    def test_record(self) -> None:
        said = self.hover("shop_pay")
        self.assertIn("""```c
offset  size  shop:shop_pay
     0     8  the common header
     8     1  char currency
    10     6  struct pair pair
    16     4  __data_loc char[] owner
    20     6  short rates[3]
    32     8  uint64_t served
    40     4  __rel_loc uint32_t prices[]
```

44 bytes, and the payloads of owner, prices: at most 65528

```c
"owner=%s""", said)

    def test_record_is_that_of_format_files(self) -> None:
        """Offsets and sizes of all events of this project's own definitions."""
        names = sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")))
        self.assertTrue(names)
        for path in names:
            tpgen("gen", "--backend", "ftrace", "-o", self.dir, path)
            self.write_on(read(path))
            for formats in glob.glob(os.path.join(self.dir, "*/*/format")):
                event = os.path.basename(os.path.dirname(formats))
                fields = re.findall(r"^\tfield:(.*);\toffset:(\d+);\tsize:(\d+);", read(formats), re.M)[4:]
                at = re.search(rf"\b{event}\b[,)]", self.text)
                if not at or "EVENT" not in self.text[self.text.rfind("\n", 0, at.start()):at.start()]:
                    continue
                said = self.hover(at[0], 1, self.text[self.text.rfind("\n", 0, at.start()):at.start()])
                shown = [(decl, offset, size) for offset, size, decl in re.findall(r"^ *(\d+) +(\d+)  (.*)$", said, re.M)[1:]]
                self.assertEqual([one[1:] for one in shown], [one[1:] for one in fields], event)

    def test_class_and_its_events(self) -> None:
        for what, after in (("door,", ""), ("door,", "DEFINE_EVENT"), ("door_open", ""), ("door_open", "LOGLEVEL"), ("trace_door_open", "")):
            self.assertIn("12 bytes\n", self.hover(what, 0, after) + "\n", what)
        self.assertIn('"number=%d", REC->number', self.hover("door_open"))
        self.assertIn('"shut %d", REC->number', self.hover("door_shut"))
        self.assertIn("shop:door_shut", self.hover("door_shut"))
        self.assertEqual(self.hover("shop_idle"), "```c\nDECLARE_TRACE(shop_idle)\n```")

    def test_field(self) -> None:
        for what, plus, after in (("currency)", 0, "__field("), ("__entry->currency", 9, ""), ("__entry->currency", 12, "TP_printk")):
            self.assertEqual(self.hover(what, plus, after), "```c\nchar currency\n```\n\nfield; offset 8, size 1", after)
        for what, plus in (("__string(owner", 9), ("__assign_str(owner", 13), ("__get_str(owner", 11)):
            self.assertEqual(self.hover(what, plus),
                             "```c\n__data_loc char[] owner\n```\n\nstring; offset 16, size 4, of the word that says where its payload is")
        self.assertIn("array; offset 20, size 6", self.hover("__entry->rates", 9))
        self.assertIn("dynamic array; offset 40, size 4", self.hover("array_len(prices", 10))
        self.assertIn("__entry->number", self.text)
        self.assertIn("field; offset 8, size 4", self.hover("__entry->number", 9, "door_shut"))

    def test_parameter_and_macro(self) -> None:
        self.assertEqual(self.hover("= currency", 2), "```c\nchar currency\n```\n\na parameter")
        self.assertEqual(self.hover("done, pair)"), "```c\nint (*done)(int code)\n```\n\na parameter")
        self.assertIn("#define show_flags(flags) __print_flags", self.hover("show_flags(__entry"))

    def test_words_of_the_language(self) -> None:
        """Each has what it takes, and a line."""
        words = (*FORMS, *PART_WORDS, *FIELD_MACROS, *HELPERS, "TRACE_DEBUG")
        self.write_on("\n" + "".join(f"{word} \n" for word in words))
        for word in words:
            self.assertRegex(self.hover(f"\n{word} ", 1), rf"^```c\n{word.replace('_rel_', '_(?:rel_)?')}\b.*\n```\n\n\S+", word)
        self.write_on("#define show(x) __print_hex(x, 3)\n")
        self.assertIn("__print_hex(buffer, length)", self.hover("__print_hex"))
        self.write_on(TEXT)
        self.assertIn("__string(name, source)", self.hover("__string"))
        self.assertEqual(self.hover("GIFT") + self.hover("struct pair {") + self.hover("\n\n"), "")

    def test_mistake(self) -> None:
        """What "tpgen explain" says of it."""
        self.write_on(TEXT.replace("number=%d", "number=%s"))
        self.assertIn("TP052 ", self.hover("__entry->number", 2, "number=%s"))
        self.assertIn("field; offset 8", self.hover("__entry->number", 10, "number=%s"))

    def test_record_with_a_mistake(self) -> None:
        self.write_on(TEXT.replace("__array(short, rates, 3)", "__array(short, rates)"))
        self.assertIn("when nothing is wrong", self.hover("shop_pay"))
        self.assertEqual(self.hover("__entry->currency", 9), "```c\n__field(char, currency)\n```\n\nfield")
        self.assertIn("12 bytes", self.hover("door_open"))

    def test_unknown_type(self) -> None:
        self.write_on(TEXT.replace("struct pair {", "struct couple {"))
        self.assertIn("The C compiler does not know the size of each type", self.hover("shop_pay"))
        self.assertIn("does not know", self.hover("__entry->currency", 9))

    def test_sizes_stay_while_a_bracket_is_open(self) -> None:
        self.assertIn("offset 8", self.hover("__entry->number", 9))
        self.write_on(TEXT + "TRACE_EVENT(half, TP_PROTO(")
        self.assertIn("offset 8", self.hover("__entry->number", 9))

    def test_plain_text(self) -> None:
        client = self.client().initialize(capabilities={})
        client.open(URI, TEXT)
        said = client.ask("textDocument/hover", textDocument={"uri": URI}, position=position(TEXT, "door_open"))["contents"]
        self.assertEqual((said["kind"], "```" in said["value"]), ("plaintext", False))
        self.end(client)


class Navigation(Answers):
    def test_definition(self) -> None:
        for what, plus, after, there in (
                ("__entry->currency", 9, "", "__field(char, [currency])"),
                ("__entry->rates", 12, "", "__array(short, [rates], 3)"),
                ("__get_str(owner", 10, "", "__string([owner], owner)"),
                ("__get_rel_dynamic_array(prices", 25, "", "__rel_dynamic_array(uint32_t, [prices], count)"),
                ("prices, __get", 1, "", "TP_PROTO(const char *owner, char currency, uint32_t *[prices], size_t count, int (*done)(int code), const struct pair *pair),"),
                ("done, pair)", 1, "", "TP_PROTO(const char *owner, char currency, uint32_t *prices, size_t count, int (*[done])(int code), const struct pair *pair),"),
                ("owner)", 0, "__string(owner,", "TP_PROTO(const char *[owner], char currency, uint32_t *prices, size_t count, int (*done)(int code), const struct pair *pair),"),
                ("door, door_open", 1, "", "DECLARE_EVENT_CLASS([door],"),
                ("number))", 2, "door_shut", "TP_STRUCT__entry(__field(int, [number])),"),
                ("door_open", 1, "LOGLEVEL", "DEFINE_EVENT(door, [door_open], TP_PROTO(int number), TP_ARGS(number));"),
                ("trace_door_open", 8, "", "DEFINE_EVENT(door, [door_open], TP_PROTO(int number), TP_ARGS(number));"),
                ("show_flags(__entry", 0, "", '[#define show_flags(flags) __print_flags(flags, "|", { 1, "GIFT" }, { 2, "EXPRESS" })]')):
            self.assertEqual(self.place(what, plus, after), there, what)
        self.assertEqual(self.place("sizeof(") + self.place("GIFT") + self.place("\n\n"), "")

    def test_definition_of_a_field_that_a_macro_makes(self) -> None:
        self.hover("shop_pay")  # by then, the compiler has seen it
        self.assertEqual(self.place("__entry->served", 10), "[COUNTER(served)]")

    def test_references(self) -> None:
        def lines(what: str, plus: int = 0, after: str = "", declared: bool = True) -> list[int]:
            found = self.ask("references", what, plus, after, context={"includeDeclaration": declared})
            return [one["range"]["start"]["line"] + 1 for one in found]
        number = TEXT[:TEXT.index("DECLARE_EVENT_CLASS")].count("\n") + 1
        self.assertEqual(lines("__field(int, number", 15), [number + 3, number + 4, number + 5, number + 8])
        self.assertEqual(lines("door,"), [number, number + 7, number + 8])
        self.assertEqual(lines("door,", declared=False), [number + 7, number + 8])
        self.assertEqual(lines("= number", 2), [number + 1, number + 2, number + 4])
        self.assertEqual(lines("door_open"), [number + 7, number + 9, number + 14])
        self.assertEqual(lines("trace_door_open"), [number + 7, number + 9, number + 14])
        self.assertIsNone(self.ask("references", "\n\n"))

    def test_outline(self) -> None:
        found = self.client_.ask("textDocument/documentSymbol", textDocument={"uri": URI})
        self.assertEqual([(s["name"], s["kind"], [c["name"] for c in s["children"]]) for s in found],
                         [("shop_pay", 24, ["currency", "pair", "owner", "rates", "prices"]), ("door", 5, ["number"]), ("door_open", 24, []),
                          ("door_shut", 24, []), ("shop_idle", 12, [])])
        for symbol in found:
            for one in (symbol, *symbol["children"]):
                whole, name = one["range"], one["selectionRange"]
                before = [(at["line"], at["character"]) for at in (whole["start"], name["start"], name["end"], whole["end"])]
                self.assertEqual(before, sorted(before))
        client = self.client().initialize(capabilities={})
        client.open(URI, TEXT)
        flat = client.ask("textDocument/documentSymbol", textDocument={"uri": URI})
        self.assertEqual([s["name"] for s in flat], ["shop_pay", "door", "door_open", "door_shut", "shop_idle"])
        self.end(client)


class Completion(Answers):
    """Of text in which the event is not finished, as it is while somebody asks."""

    def typed(self, behind: str, text: str) -> list[str]:
        """What is offered when text was typed there, and nothing stands behind it."""
        before = TEXT[:TEXT.index(behind)]
        self.write_on(before + text + "\n")
        return self.labels(self.text, len(self.text) - 1)

    def test_top_level(self) -> None:
        self.assertEqual(set(self.typed("TRACE_EVENT(shop_pay", "TRA")), set(FORMS))
        self.assertEqual(set(self.typed("TRACE_EVENT(shop_pay", "\n/* x */ ")), set(FORMS))

    def test_skeleton_is_right(self) -> None:
        """With its places filled in, tpgen takes it."""
        self.write_on("#define TRACE_SYSTEM x\nTRACE_E")
        items = {item["label"]: item for item in self.ask("completion", "TRACE_E", 7)}
        for label, fill in (("TRACE_EVENT", {"1": "e", "2": "int a", "3": "a", "4": "__field(int, a)", "5": "__entry->a = a;", "6": "%d\", __entry->a, \""}),
                            ("DECLARE_TRACE", {"1": "e", "2": "int a", "3": "a"})):
            self.assertEqual(items[label]["insertTextFormat"], 2)
            self.assertEqual(items[label]["textEdit"]["range"], {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 7}})
            made = re.sub(r"\$\{(\d)(?::\w+)?\}", lambda m, fill=fill: fill[m[1]], items[label]["textEdit"]["newText"])
            version = self.client_.change(URI, {"text": f"#define TRACE_SYSTEM x\n{made}\n".replace(', "")', ")")})
            self.assertEqual(lines_of(self.client_.diagnostics(URI, version)), [], made)

    def test_no_snippets(self) -> None:
        client = self.client().initialize(capabilities={})
        client.open(URI, "TRA")
        items = client.ask("textDocument/completion", textDocument={"uri": URI}, position={"line": 0, "character": 3})
        self.assertEqual({item["textEdit"]["newText"] for item in items}, set(FORMS))
        self.end(client)

    def test_word_in_front_of_a_bracket(self) -> None:
        """It is exchanged, without another bracket."""
        items = self.ask("completion", "TRACE_EVENT(shop_pay", 5)
        self.assertEqual({item["textEdit"]["newText"] for item in items}, set(FORMS))

    def test_parts(self) -> None:
        self.assertEqual(self.typed("\tTP_PROTO(const", "\t")[0], "TP_PROTO")
        self.assertEqual(self.typed("\tTP_ARGS(owner", "\tTP_")[0], "TP_ARGS")
        self.assertEqual(self.typed("\tTP_fast_assign", "\t"), ["TP_fast_assign", "TP_printk"])
        self.assertEqual(self.typed("door_open,", ""), [])
        self.assertEqual(self.typed("door, door_open,", ""), ["shop_pay", "door"])
        self.assertEqual(self.typed("door_open, TRACE_INFO", ""), ["shop_pay", "door_open", "door_shut"])
        self.assertEqual(self.typed("TRACE_INFO", "TRACE_")[:2], ["TRACE_EMERG", "TRACE_ALERT"])

    def test_arguments(self) -> None:
        everything = ["owner", "currency", "prices", "count", "done", "pair"]
        self.assertEqual(self.typed("owner, currency,", ""), everything)
        self.assertEqual(self.typed("owner, currency,", "owner, "), everything)

    def test_fields(self) -> None:
        self.assertEqual(set(self.typed("__field(char", "")), set(FIELD_MACROS))
        self.assertEqual(set(self.typed("__string(owner", "__")), set(FIELD_MACROS))
        self.assertEqual(self.typed("__string(owner", "__string("), [])
        self.assertIn("owner", self.typed("__string(owner", "__string(owner, "))
        self.assertEqual(self.typed("__string(owner", "__array(in"), [])
        # Also behind one that is not closed.
        self.assertEqual(self.typed("__array(short", "__array(short, rates, 3\n\t\t__rel_string(x, "), ["owner", "currency", "prices", "count", "done", "pair"])

    def test_assign(self) -> None:
        behind = "__assign_str(owner)"
        self.hover("shop_pay")
        self.assertEqual(self.typed(behind, "__entry->"), ["currency", "pair", "rates", "served"])
        self.assertEqual(self.typed(behind, "__entry->cu"), ["currency", "pair", "rates", "served"])
        offered = self.typed(behind, "")
        self.assertEqual(offered[:6], ["__entry->currency", "__entry->pair", "__entry->rates", "__entry->served", "__assign_str(owner)",
                                       "__get_rel_dynamic_array(prices)"])
        self.assertIn("count", offered)
        self.assertNotIn("__print_symbolic", offered)
        self.assertEqual(self.typed(behind, "__assign_str("), ["owner"])
        self.assertEqual(self.typed(behind, "memcpy(__get_rel_dynamic_array("), ["prices"])
        self.assertEqual(self.typed(behind, "__get_dynamic_array_len("), ["owner"])
        self.assertEqual(self.typed(behind, "pair->"), [])
        self.assertEqual(self.typed(behind, "int x = 5"), [])

    def test_fields_of_macros(self) -> None:
        """Known since the text was right, in which a mistake is now."""
        self.hover("shop_pay")
        self.assertEqual(self.typed("__assign_str(owner)", "__entry->"), ["currency", "pair", "rates", "served"])
        self.hover("shop_pay")
        self.assertEqual(self.labels(self.text, len(self.text) - 1), ["currency", "pair", "rates", "served"])

    def test_print(self) -> None:
        behind = '"owner=%s currency'
        offered = self.typed(behind, '"%s", ')
        self.assertIn("__get_str(owner)", offered)
        self.assertIn("__entry->currency", offered)
        self.assertIn("__print_symbolic", offered)
        self.assertNotIn("__assign_str", offered)
        self.assertNotIn("count", offered)
        self.assertEqual(self.typed(behind, '"%s", __get_str('), ["owner"])
        self.assertEqual(self.typed('"shut %d"', '"%d", __entry->'), ["number"])

    def test_no_code(self) -> None:
        behind = "__assign_str(owner)"
        for text in ('f("a', '"a %', "/* a", "/* __entry->", "// a", "'a", "\n#define x __en"):
            self.assertEqual(self.typed(behind, text), [], text)
        self.assertNotEqual(self.typed(behind, "/* a */ "), [])


class AnyText(Case):
    """Every answer at places in texts that are no definitions: damaged ones, and what is left of them."""

    @both
    def test_survives(self) -> None:
        choose = random.Random(SEED)
        sources = [read(path) for path in sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")))] + [TEXT]
        for run in range(few_or_many(150, 1000, "FUZZ")):
            text = choose.choice(sources)
            for _ in range(choose.randrange(1, 12)):
                pieces = [m.span() for m in re.finditer(r"\w+|\s+|.", text)] or [(0, 0)]
                start, end = choose.choice(pieces)
                text = text[:start] + choose.choice(["", "", text[start:end] * 2, choose.choice(SPICE)]) + text[end:]
            if choose.random() < 0.3:
                text = text[:choose.randrange(len(text) + 1)]
            document = Document(URI, 1, text, choose.choice(list(ENCODINGS)))
            try:
                symbols(document, True)
                for _ in range(40):
                    at = choose.randrange(len(document.source.text) + 1)
                    hover(document, {}, at, (), True)
                    definition(document, {}, at)
                    complete(document, {}, at, True)
                    references(document, {}, at, True)
            except Exception as error:
                kept = os.path.join(ROOT, "build", "lsp.tp")
                with open(kept, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(text)
                raise AssertionError(f"SEED={SEED}, run {run}: the text is in {kept}") from error


# In these, the words around parts are exchanged, and position decides; what editors are told of parts goes by the words. In the last
# one, what "#line" says counts for the parser.
BY_POSITION = ("sof_intel.h", "parts-words-exchanged.tp", "line-directives.tp")


class Outlines(Case):
    """In texts without mistakes, the outline has the declarations, fields and parameters that the parser has."""

    @both
    def test_same_as_parsed(self) -> None:
        paths = sorted(glob.glob("/usr/src/linux-headers-*-common/include/trace/events/*.h"))[::few_or_many(12, 2)]
        paths += glob.glob(os.path.join(ROOT, "tests/errors/good/*.tp")) + glob.glob(os.path.join(ROOT, "defs/*.tp"))
        for path in paths:
            if os.path.basename(path) not in BY_POSITION:
                with self.subTest(path):
                    self.compare(Source.read(path))

    def compare(self, source: Source) -> None:
        diag = Diagnostics()
        text = Text(source, f'# 1 "{source.path}"\n{source.text}')  # nothing is expanded
        tree, outline = parse(text, diag), Outline(source, lex(source.text, source.path))
        if diag.found:
            return
        self.assertEqual([(one.macro.line, one.macro.text) for one in tree.declarations],
                         [(one.macro.line, one.macro.text) for one in outline.declared])
        for parsed, outlined in zip(tree.declarations, outline.declared):
            if "name" in parsed.parts:
                self.assertEqual(outlined.named("name").text, parsed.name.text)
            fields = parse_fields(parsed.parts["struct"].tokens, text, diag) if "struct" in parsed.parts else None
            if fields is not None:
                self.assertEqual([one.name.text for one in outlined.fields], [one.name for one in fields], parsed.name.text)
            try:
                params = [name for _, name, _ in parse_params(parsed.parts["proto"].tokens)] if "proto" in parsed.parts else [""]
            except NotC:
                continue
            if "" not in params:  # PARAMS() is still there
                self.assertEqual([one.name.text for one in outlined.params], params, parsed.name.text)
