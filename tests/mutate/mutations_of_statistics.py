# SPDX-License-Identifier: MIT
"""The mutations of the numbers in which statistics and histograms count: a part of mutations.py."""

from __future__ import annotations

from mutation import Mutation

COUNTERS, ROWS = "runtime/src/count/counters.h", "runtime/src/count/counters.c"
COUNT, THREADS = (f"runtime/src/sinks/stats/{name}.c" for name in ("count", "threads"))
UNIT = "obj/unit/test_counters"
STATISTICS = "obj/unit/test_stats"

OF_STATISTICS = (
    Mutation("a greater number is stored", COUNTERS,
             "that of a handler that has come in between is lost",
             (("!tp_counters_replace(counters, row, at, &found, value))\n		;",
               "(__atomic_store_n(&row[at], value, __ATOMIC_RELAXED), false))\n		;"),),
             (UNIT,)),
    Mutation("an exchange of the own row is a comparison and a store", COUNTERS,
             "the same",
             (("		__asm__ volatile(\"cmpxchgq %3, %0\" : \"+m\"(row[at]), \"+a\"(*found), \"=@ccz\"(replaced) : \"r\"(value));\n",
               "		replaced = __atomic_load_n(&row[at], __ATOMIC_RELAXED) == *found;\n"
               "		__atomic_store_n(replaced ? &row[at] : found, replaced ? value : row[at], __ATOMIC_RELAXED);\n"),),
             (UNIT,)),
    Mutation("a carry is lost", COUNTERS,
             "a sum beyond 64 bits is wrong",
             (("adcq $0, %1", "addq $0, %1"),),
             (UNIT,)),
    Mutation("a number is given back before what is kept for it", ROWS,
             "the next thread of this number goes on with the exited one's hits",
             (("	for (; hook; hook = hook->next)\n		hook->leave();\n	tp_counter_thread = 0;\n",
               "	tp_counter_thread = 0;\n	for (; hook; hook = hook->next)\n		hook->leave();\n"),),
             (UNIT, STATISTICS)),
    Mutation("what an exited thread has hit stays in its row", THREADS,
             "the row's next thread has no share, and its hits are not shown",
             (("		row_begin(share->row, share->plan, 0, 0);\n", ""),),
             (STATISTICS,)),
    Mutation("a thread's first hit is as any", COUNT,
             "hits that no share has are not shown",
             (("!last || row == counters->shared", "row == counters->shared"),),
             (STATISTICS,)),
    Mutation("threads that have no row have intervals", THREADS,
             "those are between hits of different threads",
             (("base.hits < 2 || row == plan->counters->shared", "base.hits < 2"),),
             (STATISTICS,)),
)
