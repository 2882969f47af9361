# SPDX-License-Identifier: MIT
"""The mutations of `make mutate` are still those of this source, and it tells a kill from a survival."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mutate  # noqa: E402
from mutation import Mutation  # noqa: E402
from mutations import MUTATIONS, PROBES  # noqa: E402
from support import ROOT, TESTS, Case, check_all, read  # noqa: E402


class Mutations(Case):
    def each(self, check: Callable[[Mutation], None]) -> None:
        for mutation in MUTATIONS:
            with self.subTest(f"{mutation.file}: {mutation.name}"):
                check(mutation)

    def test_each_is_of_this_source(self) -> None:
        def check(mutation: Mutation) -> None:
            try:
                self.assertNotEqual(mutate.mutated(mutation), read(os.path.join(ROOT, mutation.file)))
            except mutate.Stale as stale:
                self.fail(str(stale))
        self.each(check)

    def test_each_has_a_name_of_its_own(self) -> None:
        self.assertEqual(len({(m.file, m.name) for m in MUTATIONS}), len(MUTATIONS))
        self.assertGreaterEqual(len(MUTATIONS), 22)

    def test_a_stale_one_is_said_with_its_remedy(self) -> None:
        gone = Mutation("gone", PROBES, "", (("no such text", ""),), ())
        with self.assertRaisesRegex(mutate.Stale, "'gone': this is 0 times in runtime/src/core/probes.c(.|\n)*no such "
                                                  "text\nWrite down in tests/mutate/mutations.py"):
            mutate.mutated(gone)

    @check_all("a hundred compilations; test_each_is_of_this_source finds what is stale")
    def test_each_compiles(self) -> None:
        def check(mutation: Mutation) -> None:
            path = self.write(mutation.file, mutate.mutated(mutation))
            source = path if path.endswith(".c") else self.write("all.c", f'#include "{path}"\n')
            # What includes the file finds the mutated one.
            self.succeed(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-I", self.path("runtime/include"),
                          "-iquote", self.path("runtime/src"), "-I", os.path.join(ROOT, "runtime/include"), "-iquote",
                          os.path.join(ROOT, "runtime/src"), source])
            os.remove(path)
        self.each(check)

    def test_each_has_tests(self) -> None:
        def check(mutation: Mutation) -> None:
            self.assertTrue(mutation.tests)
            for test in mutation.tests:
                if mutate.is_program(test):
                    variant, folder, name = test.split("/")
                    self.assertIn(variant, ("obj", "asan"))
                    self.assertTrue(os.path.exists(os.path.join(TESTS, folder, f"{name}.c")), test)
                else:
                    path, _, part = test.partition(":")
                    self.assertRegex(read(os.path.join(TESTS, path)), rf"def \w*{part}\w*\(|def load_tests", test)
        self.each(check)

    def test_models_refuse_the_same(self) -> None:
        model = read(os.path.join(TESTS, "model/probes.pml")).split("#ifndef BREAK")[0]
        breaks = re.findall(r"^#define ([A-Z_]+) \d+", model, re.M)
        self.each(lambda mutation: self.assertIn(mutation.model, ["", *breaks]))

    @check_all("builds the tree several times")
    def test_kills_and_survivals_are_told_apart(self) -> None:
        test = ("obj/unit/test_regfunc",)
        dead = Mutation("regfunc is not called", PROBES, "",
                        (("int error = tp->regfunc ? tp->regfunc() : 0;", "int error = 0;"),), test)
        alive = Mutation("another comment", PROBES, "", (("/* All of the name or none. */", "/* All or none. */"),), test)
        broken = Mutation("no C", PROBES, "", (("/* All of the name or none. */", "all or none"),), test)
        workshop = mutate.Workshop(self.dir)
        said: list[str] = []
        self.assertTrue(workshop.begin(test, said.append), said)
        self.assertEqual(said, ["1 tests without any mutation; then the mutations"])
        results = [workshop.run(m) for m in (dead, alive, broken)]
        self.assertEqual([r.word for r in results], ["killed", "survived", "not built"], results)
        self.assertEqual(results[0].by, "obj/unit/test_regfunc: around_the_first_and_the_last_probe")
        self.assertEqual([mutate.is_as_it_should_be(r) for r in results], [True, False, False])
        summary = mutate.summary(results)
        self.assertIn("another comment", summary)
        self.assertIn("3 mutations: 1 killed, 0 known to survive, 2 not as they should be", summary)
        # The tree itself is as it was.
        self.assertEqual(mutate.mutated(alive).count("/* All or none. */"), 1)
