# SPDX-License-Identifier: MIT
"""The mutations of the tables in which histograms count: a part of mutations.py."""

from __future__ import annotations

from mutation import Mutation

TABLE = "runtime/src/count/table.c"
KEYS = "runtime/src/count/table.h"
COUNTERS = "runtime/src/count/counters.h"
HIT = "runtime/src/sinks/hist/act.c"
SINK = "runtime/src/sinks/hist/sink.c"
SAVED = "runtime/src/sinks/hist/variable.c"
VARIABLE = "runtime/src/sinks/hist/variable.c"
INSTANT = "obj/unit/test_hist_instant"
STORM = "hist/test_storm.py:as_shipped"
VARIABLES_STORM = "hist/test_variables_storm.py:as_shipped"
BARRIER = "arch/test_barriers.py:test_hist"
BEHAVIOUR = "hist/test_histograms.py:test_"

OF_HISTOGRAMS = (
    # ---- Tables ----

    Mutation("(I) is no acquire", TABLE,
             "a thread on arm64 compares keys with an entry that it sees before it is filled in",
             (("__atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* (I) */",
               "__atomic_load_n(&table->slots[i], __ATOMIC_RELAXED);"),),
             (BARRIER,)),
    Mutation("the exchange of a slot is no release", TABLE,
             "a thread on arm64 finds an entry before it is filled in",
             (("content, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))\n		return found;",
               "content, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))\n		return found;"),),
             (BARRIER,)),
    Mutation("a plain store of a slot", TABLE,
             "of two keys that come at once to one slot, one is lost, with its hits",
             (("	if (!__atomic_compare_exchange_n(slot, &found, content, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))\n"
               "		return found;\n", "	(void)found;\n	__atomic_store_n(slot, content, __ATOMIC_RELEASE);\n"),),
             (INSTANT, STORM)),
    Mutation("who is second in a slot goes on as the first", TABLE,
             "its hits are in an entry that is in no slot",
             (("		return found;\n	*mine = 0;", "		return content;\n	*mine = 0;"),),
             (INSTANT, STORM)),
    Mutation("a slot that was lost to another key is not looked beyond", TABLE,
             "a key's hits are in the entry of another one",
             (("if (!tp_count_is(table, content, hash, key))\n			continue;",
               "if (!mine && !tp_count_is(table, content, hash, key))\n			continue;"),),
             (INSTANT, STORM)),
    Mutation("an entry that was not used is lost", TABLE,
             "a table is full before it has as many keys as it is for",
             (("			give_spare(table, mine);", "			mine = 0;"),),
             (INSTANT,)),
    Mutation("spare entries are never taken", TABLE,
             "the same",
             (("	return take_spare(table);", "	return 0;"),),
             (INSTANT,)),
    Mutation("a spare entry is taken by a plain store", TABLE,
             "two threads get the same one, for two keys",
             (("		if (__atomic_compare_exchange_n(&table->spare, &head, change | next, true, __ATOMIC_ACQUIRE, "
               "__ATOMIC_ACQUIRE))\n			return (uint32_t)head;",
               "		__atomic_store_n(&table->spare, change | next, __ATOMIC_RELEASE);\n		return (uint32_t)head;"),),
             (STORM,),
             known="two threads, or a handler and its thread, would have to want an entry at the same instant, when only "
                   "those are left that a lost race has left"),
    Mutation("keys are the same by their hash", KEYS,
             "the hits of two keys are in one entry",
             (("	for (uint32_t i = 0; i < key->nr; i++) {\n		if (entry->words[i] != key->words[i])\n"
               "			return false;\n	}\n	return true;", "	return true;"),),
             (BEHAVIOUR + "alike",)),
    Mutation("a hit without an entry is not counted", TABLE,
             "nobody is told that the table was too small",
             (("			__atomic_fetch_add(&table->drops, 1, __ATOMIC_RELAXED);\n", ""),),
             (BEHAVIOUR + "full",)),
    Mutation("a full table drops the keys that it has", TABLE,
             "their hits are missing",
             (("	uint32_t mine = 0;\n", "	uint32_t mine = 0;\n"
               "	if (table->next >= table->nr_entries) {\n		__atomic_fetch_add(&table->drops, 1, __ATOMIC_RELAXED);\n"
               "		return TP_COUNT_NO_ENTRY;\n	}\n"),),
             (BEHAVIOUR + "full",)),
    Mutation("a child keeps its parent's entries", TABLE,
             "they are in the way of its own",
             (("	table->next = 0;\n	table->spare = 0;\n", "	table->spare = 0;\n"),),
             (BEHAVIOUR + "fork",)),
    Mutation("counters are added to by a load and a store", COUNTERS,
             "a handler's addition in between is lost",
             (("#define TP_COUNTERS_BY_INSTRUCTIONS 1", "#define TP_COUNTERS_BY_INSTRUCTIONS 0"),
              ("	__atomic_fetch_add(&row[at], value, __ATOMIC_RELAXED);",
               "	__atomic_store_n(&row[at], __atomic_load_n(&row[at], __ATOMIC_RELAXED) + value, __ATOMIC_RELAXED);")),
             (INSTANT, STORM)),
    Mutation("a row is used by two threads", "runtime/src/count/counters.c",
             "an addition of one is lost",
             (("bits | (uint64_t)1 << bit, true, __ATOMIC_ACQUIRE,", "bits, true, __ATOMIC_ACQUIRE,"),),
             (STORM,)),
    Mutation("a child keeps its parent's sums", "runtime/src/count/counters.c",
             "they are in its own",
             (("			row[i] = 0;", "			(void)row;"),),
             (BEHAVIOUR + "fork",)),
    Mutation("a table that is cleared is freed at once", SINK,
             "threads are still counting in it",
             (("		tracepoint_synchronize_unregister();\n		tp_hist_table_free(old);", "		tp_hist_table_free(old);"),),
             (STORM,)),

    # ---- Variables and what is saved ----

    Mutation("a variable is read twice", VARIABLE,
             "a latency is of the begin of another request",
             (("(once && !__atomic_exchange_n(&variable->set, 0, __ATOMIC_ACQUIRE))", "false"),),
             ("hist/test_variables.py",)),
    Mutation("a block is given back by who saves less", SAVED,
             "another one fills it in while it is shown",
             (("		if ((uint32_t)old)\n			give(table, (uint32_t)old);\n		return true;",
               "		give(table, mine);\n		return true;"),),
             ("hist/test_variables.py", VARIABLES_STORM)),
)
