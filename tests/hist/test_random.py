# SPDX-License-Identifier: MIT
"""Random histograms of random records show what a naive evaluator says, to the byte.

SEED=N begins elsewhere, HISTOGRAMS=N takes so many:

    SEED=7 HISTOGRAMS=10000 python3 tests/run.py hist/test_random
"""

from __future__ import annotations

import os
import random
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from histograms import Histograms  # noqa: E402
from naive import Record, random_definition, random_record  # noqa: E402
from support import both, few_or_many  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
HISTOGRAMS = few_or_many(120, 400, "HISTOGRAMS")
AT_ONCE, RECORDS = 10, 300


def line(record: Record) -> str:
    return "order " + " ".join(f"{name}={value}" for name, value in record.items() if value != "")


@both
class Random(Histograms):
    def test_naive_evaluator(self) -> None:
        rng = random.Random(SEED)
        for _ in range(HISTOGRAMS // AT_ONCE):
            definitions = [random_definition(rng) for _ in range(AT_ONCE)]
            texts = [definition.text(rng) for definition in definitions]
            records = [random_record(rng) for _ in range(RECORDS)]
            answers = self.ask(*(f"open {i} {text}" for i, text in enumerate(texts)),
                               *(f"enable {i} shop:shop_order" for i in range(AT_ONCE)),
                               *map(line, records), *(f"text {i}" for i in range(AT_ONCE)))
            self.assertEqual(answers[:2 * AT_ONCE], ["ok"] * AT_ONCE + ["1"] * AT_ONCE, texts)
            for definition, text, answer in zip(definitions, texts, answers[2 * AT_ONCE:]):
                self.assertEqual(answer, definition.shown(records), f"SEED={SEED}: {text}")


class RandomAsan(Random):
    sanitizer = "asan"


if __name__ == "__main__":
    unittest.main()
