# SPDX-License-Identifier: MIT
"""tpgen fmt: what the layout of events is, and that nothing else changes."""

from __future__ import annotations

import glob
import os
import random
import re

from docs.test_links import pages
from format.tokens import mangled, mutated, tokens
from support import ROOT, Case, both, few_or_many, read

from tpgen.format import formatted

MUTATIONS = few_or_many(2, 10, "FUZZ")
CUTS = few_or_many(5, 25, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))

EVENT = """TRACE_EVENT(e,

	TP_PROTO(int a, char *b),

	TP_ARGS(a, b),

	TP_STRUCT__entry(
{fields}
	),

	TP_fast_assign(
{assign}
	),

	{print}
);
"""
FIELDS = "\t\t__field(int, a)\n\t\t__string(b, b)"
ASSIGN = "\t\t__entry->a = a;\n\t\t__assign_str(b);"
PRINT = 'TP_printk("a=%d b=%s", __entry->a, __get_str(b))'


def event(fields: str = FIELDS, assign: str = ASSIGN, printed: str = PRINT) -> str:
    return EVENT.format(fields=fields, assign=assign, print=printed)


def corpus() -> list[str]:
    own = [path for pattern in ("defs/*.tp", "examples/**/*.tp", "tests/**/*.tp")
           for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)]
    return sorted(own)


class Layout(Case):
    def lays_out(self, before: str, after: str) -> None:
        self.assertEqual(formatted(before), after)
        self.assertEqual(formatted(after), after)
        self.assertEqual(tokens(before), tokens(after))

    def test_an_event_in_one_line(self) -> None:
        self.lays_out("TRACE_EVENT( e ,TP_PROTO(int a,char *b),TP_ARGS( a,b ),TP_STRUCT__entry(__field(int,a)__string(b,b)),"
                      'TP_fast_assign(__entry->a=a;__assign_str(b);),TP_printk("a=%d b=%s", __entry->a, __get_str(b)));',
                      event())

    def test_the_file_ends_with_a_newline(self) -> None:
        self.lays_out(event().rstrip("\n"), event())
        self.lays_out("int a;", "int a;\n")
        self.lays_out("", "")

    def test_other_text_stays(self) -> None:
        for text in ("int  f( int a )\n{\n  return a ;  \n}\n", "#define TRACE_EVENT_X(a) \\\n  TRACE_EVENT(a,  \\\n b)\n",
                     "DEFINE_EVENT(c,e,TP_PROTO( int a ),\n\n\n  TP_ARGS(a));\n", "TRACE_DEFINE_ENUM( A ) ;\n", "#if  0\n#endif\t\n",
                     "DECLARE_TRACE(e,  TP_PROTO(int a), TP_ARGS(a));\n", "\f\n \\\n x\n", 'char *s = "TRACE_EVENT(a,  b)";\n'):
            self.lays_out(text + "  " + event() + text, text + event() + text)

    def test_what_macros_make_stays(self) -> None:
        """An event is left alone if it is none before macros are expanded, or if its brackets do not match then."""
        for text in ("TRACE_EVENT(e,  PARTS);\n", "TRACE_EVENT(e, PROTO(int a),  TP_ARGS(a), FIELDS, ASSIGN, TP_printk());\n",
                     "TRACE_EVENT(e,\n#if A\nTP_PROTO(int a,  int b\n#else\nTP_PROTO(int a\n#endif\n), TP_ARGS(a), TP_STRUCT__entry(), "
                     "TP_fast_assign(), TP_printk(\"\"));\n", "TRACE_EVENT(e,  TP_PROTO(void), TRACE_EVENT(\n",
                     "TRACE_EVENT(e,  TP_PROTO(void]), TP_ARGS());\n", "TRACE_EVENT(e,  \"\n", "TRACE_EVENT"):
            self.assertEqual(formatted(text + event()), text + event())

    def test_marks_and_ends_of_lines(self) -> None:
        changed = event().replace("TP_ARGS(a, b)", "TP_ARGS(a,  b)")
        self.assertEqual(formatted("\ufeff" + changed), "\ufeff" + event())
        self.assertEqual(formatted(changed.replace("\n", "\r\n")), event().replace("\n", "\r\n"))
        self.assertEqual(formatted(changed.replace("\n", "\r\n")[:-2]), event().replace("\n", "\r\n"))
        self.assertEqual(formatted("// \udcff \r x\n" + changed), "// \udcff \r x\n" + event())

    def test_a_sign_does_not_become_a_directive(self) -> None:
        for text in (event("\t\t__field(int,  a) #define X"), event(assign="\t\ta; #define X"), event(printed='TP_printk("",  #x)')):
            self.assertEqual(formatted(text), text)

    def test_the_end_goes_on(self) -> None:
        for text in (event() + "#define X \\", event() + "\r"):
            self.assertEqual(formatted(text), text)

    def test_lists_that_begin_with_a_break(self) -> None:
        text = event().replace("TP_PROTO(int a, char *b)", "TP_PROTO(\n\t\tint a,\n\t\tchar *b\n\t)")
        self.lays_out(text, text)
        text = event().replace("TP_PROTO(int a, ", "TP_PROTO(\n#ifdef A\n\t\t int a,\n#endif\n\t\t ")
        self.lays_out(text, text)
        self.lays_out(event("\t\t__field(\n\t\tint,\ta\n\t)\n\t\t__field(\tlong,\tb\t)"), event("\t\t__field(int,\ta)\n\t\t__field(long,\tb)"))

    def test_blank_behind_the_name_is_the_authors(self) -> None:
        self.lays_out(event().replace("(e,\n\n", "(e,\n"), event().replace("(e,\n\n", "(e,\n"))

    def test_fields_without_tabs(self) -> None:
        self.lays_out(event("\t\t__field( int,a )__array(char , b,\n\n\n 4)\n\n\n__string(c, c?c:\"\")"),
                      event('\t\t__field(int, a)\n\t\t__array(char, b,\n\n\t\t\t4)\n\n\t\t__string(c, c?c:"")'))

    def test_fields_in_columns(self) -> None:
        self.lays_out(event("\t\t__field(\tint,\ta\t)\n\t\t__array(\tunsigned long, bcd,4)\n\t\t__string( \tname, some(a,b)\t)"),
                      event("\t\t__field(\tint,\t\ta\t\t)\n\t\t__array(\tunsigned long,\tbcd,\t4\t)\n"
                            "\t\t__string(\tname,\t\tsome(a,b)\t)"))

    def test_columns_without_those_at_brackets(self) -> None:
        self.lays_out(event("\t\t__field(int,\ta)\n\t\t__field(unsigned long,\tb)\n\t\t__field(int,\tc\t)"),
                      event("\t\t__field(int,\t\ta)\n\t\t__field(unsigned long,\tb)\n\t\t__field(int,\t\tc)"))

    def test_fields_without_names(self) -> None:
        self.lays_out(event("\t\t__field(\tint,\t)\n\t\t__cpumask()"), event("\t\t__field(int,)\n\t\t__cpumask()"))

    def test_comments_between_fields(self) -> None:
        fields = "\t\t/* one */\n\t\t__field(int, a) /* two */\n\t\t/*\n\t\t * three\n\t\t */\n\t\t__string(b, b)\t// four\n\t\t// five"
        self.lays_out(event(fields), event(fields))
        self.lays_out(event(fields.replace("\t\t", "  ")), event(fields))

    def test_directives_stay_in_the_first_column(self) -> None:
        fields = "\t\t__field(int, a)\n#ifdef X\n\t\t__field(int, x)\n\n#else\n\t\tMACRO\n#endif\n\t\t__string(b, b)"
        self.lays_out(event(fields), event(fields))
        self.lays_out(event(fields.replace("#", "\t #")), event(fields))

    def test_statements(self) -> None:
        assign = """\t\tstruct x x = {
			.a = 1,
		};

		if (a) {
			for (i = 0; i < 3; i++)
				call(a,
				     b);
		} else if (b)
			while (c)
				x();
		else
			y = a ?
				b : c;
		/* a comment */
		switch (a) {
		case A:
			if (x)
				if (y)
					z;
				else
					z;
			else
				z;
			break;
		default:
			do {
				x;
			} while (0); // end
		}
		call(
			a,
			b
		);
		MACRO(x)
		list_for_each_entry(a, b, c)
			x;"""
        self.lays_out(event(assign=assign), event(assign=assign))
        self.lays_out(event(assign=re.sub(r"^\t+", " ", assign, flags=re.M)), event(assign=assign))

    def test_each_statement_begins_a_line(self) -> None:
        self.lays_out(event(assign="\t\ta = (f(b,c))  ;for (;;) x; { y; z; }"),
                      event(assign="\t\ta = (f(b, c));\n\t\tfor (;;) x;\n\t\t{ y; z; }"))

    def test_assignments_in_a_column(self) -> None:
        self.lays_out(event(assign="\t\t__entry->a\t= a;\n\t\tf(b);\n\t\t__entry->long_name\t= a +\n b;\n\t\t__entry->c = 1;"),
                      event(assign="\t\t__entry->a\t\t= a;\n\t\tf(b);\n\t\t__entry->long_name\t= a +\n\t\t\tb;\n\t\t__entry->c\t\t= 1;"))
        self.lays_out(event(assign="\t\t__entry->a= a;\n\t\t__entry->b   =b;\n\t\t__entry->c\t= 1;"),
                      event(assign="\t\t__entry->a = a;\n\t\t__entry->b = b;\n\t\t__entry->c = 1;"))

    def test_arguments_are_aligned_where_the_author_breaks_the_line(self) -> None:
        printed = 'TP_printk("a=%d "\n\t\t  "b=%s", __entry->a, /* one */\n\t\t  // two\n\t\t  show(__entry->a,\n\t\t       { 1, "A" },\n' \
            '\t\t       call(\n\t\t\t       b)), MAJOR(a))'
        self.lays_out(event(printed=printed), event(printed=printed))
        self.lays_out(event(printed=re.sub(r"\n\t+ *", "\n  ", printed).replace("(\"", "(\n\"")), event(printed=printed))

    def test_no_blank_comes_or_goes_in_what_is_stringified(self) -> None:
        printed = 'TP_printk("%d %d %d", a,b , f( a,b ), (c) ?d:e)'
        self.lays_out(event(printed=printed), event(printed=printed))

    def test_too_long_lines_are_filled(self) -> None:
        names = [f"__entry->number_{n}" for n in range(8)]
        long = 'TP_printk("%d %d %d %d %d %d %d %d", ' + ", ".join(names) + ")"
        self.lays_out(event(printed=long), event(printed='TP_printk("%d %d %d %d %d %d %d %d", __entry->number_0,\n\t\t  '
                                                 + ", ".join(names[1:4]) + ",\n\t\t  " + ", ".join(names[4:7]) + ",\n\t\t  " + names[7] + ")"))
        text = "x" * 120
        alone = f'TP_printk("{text}",\n\t\t  __entry->a)'
        self.lays_out(event(printed=f'TP_printk("{text}", __entry->a)'), event(printed=alone))
        self.lays_out(event().replace("char *b)", f"char *b, int {text})"), event().replace("char *b)", f"char *b,\n\t\t int {text})"))

    def test_callbacks(self) -> None:
        printed = "TP_CONDITION(a),\n\n\t" + "{}"
        text = event().replace("TRACE_EVENT(e", "TRACE_EVENT_FN_COND(e").replace("\tTP_STRUCT", "\tTP_CONDITION(a  >b),\n\tTP_STRUCT")
        text = text.replace("(b))\n", "(b)),\n  reg,unreg\n")
        self.assertIn(printed.format("TP_STRUCT").replace("(a)", "(a >b)"), formatted(text))
        self.assertTrue(formatted(text).endswith("__get_str(b)),\n\n\treg, unreg\n);\n"), formatted(text))

    def test_comments_around_parts(self) -> None:
        text = event().replace("\tTP_ARGS(a, b),\n", "\t/* before */\n\t// and\n\tTP_ARGS(a, b) /* behind */, /* of args */\n")
        text = text.replace("__get_str(b))\n", "__get_str(b) // last\n\t) // end\n")
        self.lays_out(text, text)


class Properties(Case):
    def test_own_files_are_formatted(self) -> None:
        """Those that a user may take for an example, and the blocks of pages, but for those that show what is wrong."""
        for path in corpus():
            if not os.path.relpath(path, ROOT).startswith("tests"):
                self.assertEqual(formatted(read(path)), read(path), f"run tpgen fmt {path}")
        for page in set(pages()) - {"docs/diagnostics.md", "docs/adopting/fmt.md"}:
            for block in re.findall(r"^```c\n(.*?)^```$", read(os.path.join(ROOT, page)), re.S | re.M):
                self.assertEqual(formatted(block), block, page)

    def test_the_tokens_stay(self) -> None:
        for path in corpus():
            text = read(path)
            new = formatted(text)
            self.assertEqual(tokens(new), tokens(text), path)
            self.assertEqual(formatted(new), new, path)

    @both
    def test_white_space_does_not_matter(self) -> None:
        for path in corpus():
            text = formatted(read(path))
            for run in range(MUTATIONS):
                with self.subTest(path=path, run=run):
                    self.assertEqual(formatted(mutated(text, random.Random(f"{SEED}/{path}/{run}"), formatted)), text)

    @both
    def test_whatever_the_input(self) -> None:
        for path in corpus():
            text = read(path)
            for run in range(CUTS):
                changed = mangled(text, random.Random(f"{SEED}/{path}/{run}"))
                with self.subTest(path=path, run=run, text=changed):
                    new = formatted(changed)
                    self.assertEqual(tokens(new), tokens(changed))
                    self.assertEqual(formatted(new), new)

    def test_long_lines_and_deep_brackets_take_no_time(self) -> None:
        """What takes the square of its length would take hours."""
        many = 20_000
        for printed in ("TP_printk(\"\"" + ", a" * many + ")", "TP_printk(\"\"" + ", (" * many + ")" * many + ")",
                        "TP_printk(\"\"" + ", (" * many + "\na" * many + ")" * many + ")",
                        "TP_printk(\"\"" + f", {'a' * 60}, {'b' * 60}\n" * many + ")"):
            self.assertTrue(formatted(event(printed=printed)))
        for assign in ("a;" * many, "a = " * many + "b;", "{\n" * many + "}" * many, "f(\n" * many + ")" * many,
                       "if (a)\n" * many + "b;", "if (a) b; else " * many + "b;"):
            self.assertTrue(formatted(event(assign=assign)))
        for fields in ("__field(int, a)" * (many // 2), "__field(int,\ta" + ", b" * many + ")", "a " * many):
            self.assertTrue(formatted(event(fields)))
