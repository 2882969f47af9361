# SPDX-License-Identifier: MIT
"""What broke in other tracers, and must not here; and the moments at which it must work.

L is LTTng-UST, R liburcu, S libside; a number is a commit of theirs. Where a
lesson is tested elsewhere already, it is not here:

    L 14e0a135, in storms of signals           unit/test_ctf_handlers.c signal_storm, interrupted_at_every_instruction
    L c1be081a, the sinks' locks               ctf/test_streams.py      test_forks_of_many_threads
                                               unit/test_text_threads.c forks_among_busy_threads
    L 06b16a0b, 46228a6f in CTF                unit/test_ctf_threads.c  forked_children_go_on
    L e446ad80, d0cd72be, a sink's locks       unit/test_text_threads.c cancelled_threads_hold_nothing
    L 4f74bc5e, d1a0fad8, in modules           modules/test_modules.py  test_storm_under_address_sanitizer
    L 0fd0de10, of modules with probes         modules/test_unloading.py (is_loaded)
    L b2292d85, of libtp.so                    Makefile, -z nodelete
    R 731ccb9                                  unit/test_probes.c       threads_come_and_go_meanwhile
    R 76d6a95, with a thread in a probe        modules/test_unloading.py (exit, exit-hits)
    S side.c, a second callback                unit/test_probes.c       one_two_three_and_more, priorities
    kernel, L, S: unregister without memory    unit/test_probes.c       removal_needs_no_memory
    lld --gc-sections                          install/test_outside_project.py  test_linker_garbage_collection
    probes that change their tracepoint's      unit/test_probes.c       probes_change_probes

Asynchronous cancellation is only allowed to threads that hit what no sink
records (tp/tracepoint.h): glibc cancels a thread that has disabled it at that very moment.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import building
from building import CXX, generate, runtime
from support import ROOT, Case, both, check_all, few_or_many, need, read, reader, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED, STATIC = runtime("shared"), runtime("static")
INCLUDES = ("-I", os.path.join(ROOT, "runtime/include"))

# How the programs are built: the compiler, its flags, and the runtime; the first of them before a commit.
ALL_VARIANTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "gcc": ("gcc", ("-O2",), "shared"),
    "clang": ("clang", ("-O2",), "static"),
    "gcc, without static keys": ("gcc", ("-O3", "-DTP_STATIC_KEYS=0"), "static"),
}
VARIANTS = dict(list(ALL_VARIANTS.items())[:few_or_many(2, 3)])


@functools.cache
def directory() -> str:
    path = temporary()
    generate(path, os.path.join(HERE, "points.tp"))
    return path


@functools.cache
def build(compiler: str, flags: tuple[str, ...], libtp: str, program: str = "lessons", link: tuple[str, ...] = ()) -> str:
    """The program's path; compiled once for all tests."""
    several = ["lessons.c", "threads.c", "processes.c", "moments.c", "cpp.cc"]
    sources = several if program == "lessons" else [f"{program}.c"]
    return building.build(os.path.join(temporary(), program),
                          *(os.path.join(HERE, source) for source in sources), compiler=compiler,
                          include=[directory(), HERE], flags=flags, link=link, libtp=libtp)


@both
class Lesson(Case):
    def give(self, lesson: str, program: str, **env: str):
        try:
            return run([program, lesson], cwd=self.dir, env={**os.environ, **env})
        except subprocess.TimeoutExpired:
            self.fail(f"{lesson} hangs")

    def learn(self, lesson: str, stderr: str = "", program: str = "lessons", **env: str) -> None:
        """The program ends with 0, and what it says on stderr, if anything, is one line."""
        for name, variant in VARIANTS.items():
            if not shutil.which(CXX[variant[0]]):
                continue
            with self.subTest(variant=name):
                done = self.give(lesson, build(*variant, program), **env)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, f"\\A{stderr}\\Z")


class Threads(Lesson):
    def test_enabled_flag_is_not_hoisted_out_of_a_loop(self) -> None:
        """L c082d14b: the enable was never seen."""
        self.learn("hoisting")

    def test_lock_that_is_taken_in_a_probe_and_around_registration(self) -> None:
        """L 20142124: a grace period under such a lock was a deadlock."""
        self.learn("lock_in_a_probe")

    def test_threads_outlive_the_runtimes_destructors(self) -> None:
        """R 76d6a95"""
        self.learn("outlive")
        self.learn("outlive", TP_ENABLE="*", TP_OUTPUT="text:/dev/null")
        trace = self.path("trace")
        done = self.give("outlive", build(*VARIANTS["gcc"]), TP_ENABLE="*", TP_OUTPUT=f"ctf:{trace}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_signal_handler_is_the_first_of_a_thread_to_hit(self) -> None:
        """L 14e0a135: the thread's own memory had to be touched beforehand."""
        need(self, "babeltrace2")
        for lesson in ("signal_first", "signal_first_on_a_stack"):
            self.learn(lesson)
            program = build(*VARIANTS["gcc"])
            log, trace = self.path(f"{lesson}.log"), self.path(f"{lesson}.trace")
            done = self.give(lesson, program, TP_ENABLE="*", TP_OUTPUT=f"text:{log}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(read(log).count("lessons_hit: n=10"), 100)
            done = self.give(lesson, program, TP_ENABLE="*", TP_OUTPUT=f"ctf:{trace}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = reader(["babeltrace2", trace])
            self.assertEqual((done.returncode, done.stderr, done.stdout.count("n = 10")), (0, "", 100))

    def test_cancellation_of_a_thread_that_hits(self) -> None:
        """L e446ad80, d0cd72be: while it held a lock, and exit hung. At any instruction where nothing is recorded, too."""
        for lesson in ("cancel_hits", "cancel_hits_anywhere"):
            self.learn(lesson)

    def test_cancellation_of_a_thread_that_records(self) -> None:
        self.learn("cancel_hits", TP_ENABLE="*", TP_OUTPUT="text:/dev/null")
        done = self.give("cancel_hits", build(*VARIANTS["gcc"]), TP_ENABLE="*", TP_OUTPUT=f"ctf:{self.path('trace')}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_cancellation_of_a_thread_that_registers(self) -> None:
        self.learn("cancel_registrars")

    def test_cancellation_of_a_thread_that_waits(self) -> None:
        self.learn("cancel_waiters")


class Processes(Lesson):
    def test_fork_while_other_threads_hold_every_lock(self) -> None:
        """L c1be081a. A record waits for a second until a fork is over, and is lost then."""
        self.learn("fork_with_locks", r"(tp: text output: records lost: (\d+) \(nested: \2\)\n)*")

    def test_fork_while_other_threads_hold_locks_of_libc(self) -> None:
        """Those of atexit(), of time zones and locales: the child hung in its first registration."""
        self.learn("fork_with_locks_of_libc")

    def test_ids_that_were_cached_before_fork(self) -> None:
        """L 06b16a0b, 46228a6f: they were the parent's after it."""
        self.learn("fork_is_fresh")

    def test_fork_among_readers(self) -> None:
        """S: their counts were never reset, and the child's grace period hung."""
        self.learn("fork_among_readers")

    def test_fork_in_a_probe(self) -> None:
        self.learn("fork_in_a_probe")

    def test_fork_in_a_probe_that_another_thread_waits_for(self) -> None:
        """The child goes on without tracing, and says so, once."""
        self.learn("fork_in_a_probe_that_is_waited_for",
                   r"tp: process \d+ was forked inside a probe .*without tracing\n(tp: (?!process).*\n)*")


class FirstHits(Lesson):
    """A thread's first hit, for which another thread's fork waits: as in a signal handler that has interrupted malloc."""

    def hit(self, how: str, outputs: Sequence[str], calls: str, stderr: str = "") -> None:
        """All at once, as each waits for a second."""
        programs = {name: build(*variant, "first_hits") for name, variant in VARIANTS.items() if shutil.which(CXX[variant[0]])}

        def start(name: str, output: str) -> subprocess.CompletedProcess:
            path = self.path(f"{name.rpartition(' ')[2]}-{output[:4]}")
            env = {"TP_ENABLE": "lessons_hit", "TP_OUTPUT": output.format(path)} if output else {}
            return run([programs[name], how], cwd=self.dir, env={**os.environ, **env})
        with ThreadPoolExecutor(12) as pool:
            started = {job: pool.submit(start, *job) for job in itertools.product(programs, outputs)}
        for job, done in started.items():
            with self.subTest(job):
                self.assertEqual((done.result().returncode, done.result().stdout), (0, calls), done.result().stderr)
                self.assertRegex(done.result().stderr, f"\\A{stderr}\\Z")

    def test_probes_are_called(self) -> None:
        self.hit("once", [""], "2 0\n")

    def test_probe_is_waited_for(self) -> None:
        """Nothing of liburcu knows that its thread is in it."""
        self.hit("grace", [""], "0 1\n", r"tp: tracepoint_synchronize_unregister\(\) .*inside a probe.*\n")

    def test_records_are_lost_and_counted(self) -> None:
        """What they need is the fork's, which is given up after a second."""
        self.hit("once", ("text:/dev/null", "text:{}", "ctf:{}"), "2 0\n", r"tp: .*: records lost: 1 \(nested: 1\)\n")

    def test_statistics_lose_none(self) -> None:
        """What they need of the fork is only for intervals."""
        self.hit("once", ("stats:{}",), "2 0\n")


class Moments(Lesson):
    def test_constructors(self) -> None:
        self.learn("constructors")

    def test_destructors(self) -> None:
        self.learn("destructors")

    def test_atexit_handlers(self) -> None:
        self.learn("atexit_handlers")

    def test_destructors_of_threads(self) -> None:
        self.learn("thread_exit")
        self.learn("thread_exit", TP_ENABLE="*", TP_OUTPUT="text:/dev/null")

    def test_inside_a_probe(self) -> None:
        """Of the same tracepoint; only waiting is refused there."""
        self.learn("inside_a_probe", r"tp: tracepoint_synchronize_unregister\(\) .*inside a probe.*\n")

    def test_limit_of_recursion(self) -> None:
        self.learn("recursion")

    def test_limit_of_recursion_in_signal_handlers(self) -> None:
        self.learn("recursion_in_handlers")

    def test_limit_of_recursion_in_cpp(self) -> None:
        self.learn("recursion_in_cpp")

    def test_regfunc_that_says_exists(self) -> None:
        """Its error is not that of a probe that is registered already."""
        self.learn("regfunc_says_exists", "tp: event 'lessons:lessons_fn' stays off .*\n")


class Malloc(Lesson):
    """L 8c06ba6f, 49400d96: a tracepoint inside malloc recursed through the allocation of a thread's memory."""

    def test_first_hit_of_a_thread(self) -> None:
        self.learn("first_hit", program="mallocs")

    def test_probe_in_malloc_registers_and_removes(self) -> None:
        self.learn("registers", program="mallocs")

    def test_records_from_malloc(self) -> None:
        need(self, "babeltrace2")
        program = build(*VARIANTS["gcc"], "mallocs")
        log, trace = self.path("log"), self.path("trace")
        done = self.give("records", program, TP_ENABLE="lessons_malloc", TP_OUTPUT=f"text:{log}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(read(log).count("lessons_malloc: size=64"), 50 * 20)
        done = self.give("records", program, TP_ENABLE="*", TP_OUTPUT=f"ctf:{trace}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = reader(["babeltrace2", trace])
        self.assertEqual(done.returncode, 0)
        self.assertGreaterEqual(done.stdout.count("size = 64"), 50 * 20)


class Sections(Lesson):
    """Arrays that are made of sections' contents."""

    def test_address_sanitizer(self) -> None:
        """L 4f74bc5e, d1a0fad8: its red zones broke them."""
        for compiler in CXX:
            if not shutil.which(CXX[compiler]):
                continue
            for level in ("-O2", "-O0")[:few_or_many(1, 2)]:
                with self.subTest(compiler=compiler, level=level):
                    program = build(compiler, (level, "-fsanitize=address"), "shared")
                    for lesson in ("constructors", "recursion_in_cpp", "thread_exit"):
                        done = self.give(lesson, program, ASAN_OPTIONS="detect_leaks=0")
                        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_linker_that_collects_what_nothing_refers_to(self) -> None:
        """lld: start-stop-gc drops sections to whose bounds alone something refers, unless they are retained."""
        need(self, "ld.lld")
        flags = ("-O2", "-ffunction-sections", "-fdata-sections")
        for compiler in CXX:
            for collect in ("start-stop-gc", "nostart-stop-gc")[:few_or_many(1, 2)]:
                if not shutil.which(CXX[compiler]):
                    continue
                with self.subTest(compiler=compiler, collect=collect):
                    program = build(compiler, flags, "static",
                                    link=("-fuse-ld=lld", "-Wl,--gc-sections", f"-Wl,-z,{collect}"))
                    done = self.give("signal_first", program, TP_ENABLE="lessons_hit")
                    self.assertEqual((done.returncode, done.stderr.count("lessons:lessons_hit: n=10")), (0, 100))


# ---- Events where there is no main() yet, or no more ----

ORDER_TP = """#define TRACE_SYSTEM order
TRACE_EVENT(order_at, TP_PROTO(int place), TP_ARGS(place), TP_STRUCT__entry(__field(int, place)),
	TP_fast_assign(__entry->place = place;), TP_printk("place=%d", __entry->place));
"""
ORDER = {
    "creator.c": "#define CREATE_TRACE_POINTS\n#include \"order.h\"\n",
    "c.c": """#include "order.h"
static void __attribute__((constructor)) come(void) { trace_order_at(1); }
static void __attribute__((constructor(102))) come_early(void) { trace_order_at(2); }
static void __attribute__((destructor)) go(void) { trace_order_at(3); }
static void __attribute__((destructor(102))) go_late(void) { trace_order_at(4); }
""",
    "cpp.cc": """#include "order.h"
namespace { struct object { object() { trace_order_at(5); } ~object() { trace_order_at(6); } } object;
struct early { early() { trace_order_at(7); } ~early() { trace_order_at(8); } } __attribute__((init_priority(102))) early; }
""",
    "main.c": "#include \"order.h\"\nint main(void) { trace_order_at(9); return 0; }\n",
}


@check_all("every order of objects and libraries")
class LinkOrder(Case):
    """L 63661b66, 0b5a6313: events in C and C++ constructors and destructors, in any link order."""

    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, self.write("order.tp", ORDER_TP))
        for name, text in ORDER.items():
            self.write(name, text)
            self.succeed(["g++" if name.endswith(".cc") else "gcc", "-O2", "-fPIC", *INCLUDES, "-c", "-o", name + ".o", name],
                         cwd=self.dir)

    def expect(self, program: str, places: str) -> None:
        log = self.path("log")
        if os.path.exists(log):
            os.remove(log)
        done = run([f"./{program}"], cwd=self.dir, env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"text:{log}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(re.findall(r"place=(\d)", read(log))), list(places))

    def test_objects_of_the_program(self) -> None:
        for order in itertools.permutations(ORDER):
            for libraries in (SHARED, STATIC):
                with self.subTest(order=order, libraries=libraries[0]):
                    self.succeed(["g++", "-o", "program", *(name + ".o" for name in order), *libraries], cwd=self.dir)
                    self.expect("program", "123456789")

    def test_objects_of_a_library(self) -> None:
        for order in itertools.permutations(["creator.c", "c.c", "cpp.cc"]):
            with self.subTest(order=order):
                self.succeed(["g++", "-shared", "-o", "libplaces.so", *(name + ".o" for name in order), *SHARED], cwd=self.dir)
                for rest in (["main.c.o", "creator.c.o"], ["creator.c.o", "main.c.o"]):
                    self.succeed(["g++", "-o", "program", "-Wl,--no-as-needed", "-L.", "-lplaces", *rest, "-Wl,-rpath,.",
                                  *SHARED], cwd=self.dir)
                    self.expect("program", "123456789")


# ---- Modules that go ----

LOADER = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void (*hit)(int n);
static volatile int has_hit, gone;
static void *live_on(void *unused)
{
	hit(1);
	has_hit = 1;
	while (!gone)
		usleep(100);
	return unused; /* through the destructors that the runtime has for its threads */
}
int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
		if (!module) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&hit = dlsym(module, "hit");
		has_hit = gone = 0;
		pthread_create(&thread, NULL, live_on, NULL);
		while (!has_hit)
			usleep(100);
		hit(2);
		if (dlclose(module) != 0)
			return 2;
		module = dlopen("./module.so", RTLD_NOW | RTLD_NOLOAD);
		puts(module ? "is there" : "has gone");
		gone = 1;
		pthread_join(thread, NULL);
	}
	return 0;
}
"""
# Sites in all that C++ makes one of in a program, which gcc marks so that the loader would keep the object for ever.
MODULE = r"""
#include "order.h"
#include <unistd.h>
template <int place> struct counted {
	static void count() { static int n; trace_order_at(place + n++); }
};
inline void site() { static int n; trace_order_at(n++); }
struct leaver { ~leaver() { (void)!write(1, "leaves\n", 7); } } leaver;
extern "C" __attribute__((visibility("default"))) void hit(int n);
void hit(int n)
{
	trace_order_at(n);
	%s
}
"""


class Unloading(Case):
    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, self.write("order.tp", ORDER_TP))
        self.write("creator.c", ORDER["creator.c"])
        self.write("loader.c", LOADER)
        self.succeed(["gcc", "-o", "loader", "loader.c", "-ldl", "-lpthread"], cwd=self.dir)

    def module(self, text: str, *flags: str, compiler: str = "gcc") -> None:
        self.write("module.cc", text)
        self.succeed([compiler, "-O2", "-fPIC", *INCLUDES, "-c", "creator.c"], cwd=self.dir)
        self.succeed([CXX[compiler], "-O2", "-fPIC", "-shared", *INCLUDES, "-o", "module.so", "module.cc", "creator.o",
                      *flags], cwd=self.dir)

    def load(self, **env: str) -> list[str]:
        done = run(["./loader"], cwd=self.dir, env={**os.environ, **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    @both
    def test_object_that_is_closed_goes(self) -> None:
        """L 0fd0de10: an exported weak symbol kept it, and its destructor never ran."""
        for compiler in CXX:
            for level in ("-O2", "-O0")[:few_or_many(1, 2)]:
                if not shutil.which(CXX[compiler]):
                    continue
                with self.subTest(compiler=compiler, level=level):
                    self.module(MODULE % "", level, *SHARED, compiler=compiler)
                    self.assertEqual(self.load(), ["leaves", "has gone"] * 20)
                    self.assertEqual(self.load(TP_ENABLE="*", TP_OUTPUT="text:/dev/null"), ["leaves", "has gone"] * 20)

    def test_sites_do_not_keep_an_object(self) -> None:
        """In inline functions and templates: what the object's own static variables do there is not ours."""
        for compiler in CXX:
            if shutil.which(CXX[compiler]):
                with self.subTest(compiler=compiler):
                    text = MODULE.replace("static int n; ", "int n = 0; ") % "site(); counted<5>::count();"
                    self.module(text, "-O0", *SHARED, compiler=compiler)
                    self.assertEqual(self.load(), ["leaves", "has gone"] * 20)

    def test_object_that_holds_the_runtime_stays(self) -> None:
        """L b2292d85: threads that it has to do with were still there when it was unloaded."""
        self.module(MODULE % "", *STATIC)
        for env in ({}, {"TP_ENABLE": "*", "TP_OUTPUT": "text:/dev/null"},
                    {"TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.path('trace')}"}):
            with self.subTest(env=env):
                self.assertEqual(self.load(**env)[:20], ["is there"] * 20)
