# SPDX-License-Identifier: MIT
"""TP_STRUCT__entry: the fields of a record."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen import ctype
from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import Token, spell
from tpgen.kinds import FIELD_MACROS, FieldKind
from tpgen.model import Field
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, Call, Part, calls
from tpgen.wording import code

def parse_fields(tokens: Sequence[Token], text: Text, diag: Diagnostics) -> tuple[Field, ...] | None:
    """The fields of a TP_STRUCT__entry; None after an error."""
    return _Fields(text, diag).parse(tokens)


class _Fields:
    def __init__(self, text: Text, diag: Diagnostics):
        self.text = text
        self.diag = diag

    def parse(self, tokens: Sequence[Token]) -> tuple[Field, ...] | None:
        out: list[Field] = []
        good = True
        for item in calls(tokens):
            if isinstance(item, Call) and item.name.text == "_Pragma":
                continue  # nothing between fields warns of anything
            if isinstance(item, Call):
                made = self._field(item)
                good = good and made is not None
                if made:
                    out.append(made)
            elif item.text == ",":
                self.diag.error(self.text.span(item), "TP020", "fields take no commas between them; remove it")
                good = False
            elif item.text != ";":
                self.diag.error(self.text.span(item), "TP020",
                                f"a field is expected here, such as __field(type, name), not '{item.text}'")
                return None
        return tuple(out) if good and self._distinct(out) else None

    def _distinct(self, fields: Sequence[Field]) -> bool:
        # A dynamic field and a fixed one of the same name have different members of the record.
        seen: dict[tuple[str, bool], Field] = {}
        good = True
        for one in fields:
            if one.name == "ent":
                self.diag.error(one.span, "TP022", "a field can't be called 'ent': the record's header is")
                good = False
            first = seen.setdefault((one.name, one.dynamic), one)
            if first is not one:
                self.diag.error(one.span, "TP022", f"two fields are called '{one.name}'",
                                [Note(first.span, "the first is here")])
                good = False
        return good

    def _field(self, call: Call) -> Field | None:
        kind, rel = FIELD_MACROS.get(call.name.text, (None, False))
        if not kind:
            self.diag.error(self.text.span(call.name), "TP020",
                            f"no field macro is called '{call.name.text}'{nearest(call.name.text, FIELD_MACROS)}")
            return None
        form = kind.arguments
        if len(call.args) != len(form):
            hint = "; is a ',' missing?" if len(call.args) < len(form) else ""
            self.diag.error(self.text.span(call.name, call.close), "TP021", f"{call.name.text} takes {len(form)} "
                            f"argument{'s' if len(form) > 1 else ''} ({', '.join(form)}), not {len(call.args)}{hint}")
            return None
        given = dict(zip(form, call.args))
        name = given.pop("name")
        if len(name.tokens) != 1 or name.tokens[0].kind != "id" or name.tokens[0].text in C_KEYWORDS \
                or "::" in name.tokens[0].text:
            array = any(t.text == "[" for t in name.tokens)
            remedy = "; an array is written __array(type, name, length)" if array else ""
            self.diag.error(self.text.span(name.at, name.end), "TP023",
                            f"a field's name must be a C identifier, not '{spell(name.tokens)}'{remedy}")
            return None
        types = self._types(call, given.pop("type"), kind) if "type" in given else (*kind.types, False) if kind.types else None
        if not types:
            return None
        for what, part in given.items():
            if not part.tokens:
                self.diag.error(self.text.span(call.name, call.close), "TP021", f"{call.name.text}: the {what} is empty")
                return None
        given.pop("filter type", None)
        return Field(kind, rel, *types, name.tokens[0].text,
                     self.text.spell(given["length"].tokens) if kind.counted else None,
                     tuple(code(self.text, part.tokens) for part in given.values()),
                     self.text.span(call.name, call.close))

    def _types(self, call: Call, part: Part, kind: FieldKind) -> tuple[str, str, bool] | None:
        """The element's type, as the kernel prints it and for C, and whether it is a structure."""
        try:
            if not part.tokens:
                raise ctype.NotC(": it is empty")
            parsed = ctype.parse_type(part.tokens)
            missing = "" if kind.dynamic else ctype.declares(part.tokens)
        except ctype.NotC as why:
            self.diag.error(self.text.span(*((why.tokens[0], why.tokens[-1]) if why.tokens else (part.at, part.end))), "TP024",
                            f"{call.name.text}: '{spell(part.tokens)}' is no C type{why}")
            return None
        spelled = spell(part.tokens)
        wrong = "a record holds no references; use the type of the value" if spelled.endswith("&") else \
            "it has its characters elsewhere; use __string(name, source)" if ctype.is_text_class(spelled) else \
            "it has what it holds elsewhere; use __dynamic_array(type, name, length) for elements, or a field for each value" \
            if ctype.keeps_elsewhere(spelled) else ""
        if wrong:
            self.diag.error(self.text.span(part.at, part.end), "TP024", f"{call.name.text}: '{spelled}' can't be in a record: {wrong}")
            return None
        if missing:
            remedy = "an array is written __array(type, name, length)" if missing == "array" else \
                "use a typedef: its name is a type, behind which a name can stand"
            self.diag.error(self.text.span(part.at, part.end), "TP024",
                            f"{call.name.text}: behind '{spell(part.tokens)}', C takes no name of a field; {remedy}")
            return None
        spelled = self.text.spell(part.tokens)
        # The macros of arrays stringify it before it is expanded.
        unexpanded = self.text.unexpanded(part.tokens) if kind.counted else None
        c_type = self.text.spell(ctype.portable(part.tokens))
        return unexpanded or spelled, c_type, bool(parsed and parsed.kind == "other")
