# SPDX-License-Identifier: MIT
"""The command tpgen fmt: which files it writes, which it leaves alone, and how."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

from support import ROOT, Case, need, read, run, tpgen, unavailable

from tpgen.diag import Diagnostics
from tpgen.emit import rewrite

NOBODY = 65534
GOOD = """#define TRACE_SYSTEM test

TRACE_EVENT(e,

	TP_PROTO(int a),

	TP_ARGS(a),

	TP_STRUCT__entry(
		__field(int, a)
	),

	TP_fast_assign(
		__entry->a = a;
	),

	TP_printk("a=%d", __entry->a)
);
"""
BAD = GOOD.replace("\n\n\tTP_ARGS(a)", " TP_ARGS( a )")
BROKEN = BAD.replace("__field(int, a)", "__field(int, a")


class Fmt(Case):
    def fmt(self, *args: str, status: int = 0, stdout: str = "") -> str:
        done = tpgen("fmt", *args, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (status, stdout), done.stderr)
        return done.stderr

    def piped(self, text: bytes, *args: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-m", "tpgen", "fmt", *args, "-"], input=text, cwd=ROOT, check=False,
                              **({"capture_output": True} | options))

    def test_in_place(self) -> None:
        path = self.write("x.tp", BAD)
        kept = self.write("good.tp", GOOD)
        before = os.stat(kept)
        self.assertEqual(self.fmt("x.tp", "good.tp"), "")
        self.assertEqual(read(path), GOOD)
        self.assertEqual((os.stat(kept).st_ino, os.stat(kept).st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        self.assertEqual(self.fmt("x.tp"), "")
        self.assertEqual(sorted(os.listdir(self.dir)), ["good.tp", "x.tp"])

    def test_check_lists_what_would_change(self) -> None:
        for name, text in (("a.tp", BAD), ("b.tp", GOOD), ("c.tp", BAD)):
            self.write(name, text)
        self.assertEqual(self.fmt("--check", "a.tp", "b.tp", "c.tp", "a.tp", status=1, stdout="a.tp\nc.tp\n"), "")
        self.assertEqual(read(self.path("a.tp")), BAD)
        self.assertEqual(self.fmt("--check", "b.tp"), "")

    def test_diff_is_a_patch(self) -> None:
        need(self, "patch")
        for text in (BAD, BAD.rstrip("\n"), BAD.replace("\n", "\r\n"), BAD + "// \f \x1c \u2028 \udcff"):
            path = self.write("x.tp", "")
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
            done = subprocess.run([sys.executable, "-m", "tpgen", "fmt", "--diff", path], cwd=ROOT, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            with open(path, "rb") as file:
                self.assertEqual(file.read(), text.encode("utf-8", "surrogateescape"))
            subprocess.run(["patch", "--binary", "-s", path], input=done.stdout, cwd=self.dir, check=True)
            self.assertEqual(self.fmt("--check", "x.tp"), "")
        self.assertEqual(self.fmt("--diff", "x.tp"), "")
        self.write("x.tp", BAD)
        self.assertEqual(tpgen("fmt", "--diff", "--check", "x.tp", cwd=self.dir).returncode, 1)

    def test_standard_input(self) -> None:
        for text in (BAD, GOOD):
            done = self.piped(text.encode())
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, GOOD.encode(), b""))
        done = self.piped(BAD.encode(), "--check")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"<stdin>\n", b""))
        done = self.piped(BROKEN.encode())
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"<stdin>:8:3: error: ", done.stderr)
        self.assertIn("stands alone", self.fmt("-", "x.tp", status=2))

    def test_bytes_stay(self) -> None:
        for data in (b"\xef\xbb\xbf" + BAD.encode(), b"/* \xff \x00 */\n" + BAD.encode(), BAD.replace("\n", "\r\n").encode(), b""):
            done = self.piped(data)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            end = b"\r\n" if b"\r" in data else b"\n"
            self.assertEqual(done.stdout, data.replace(b" TP_ARGS( a )", end + end + b"\tTP_ARGS(a)"))

    def test_a_mistake_leaves_the_file_alone(self) -> None:
        """And that file only."""
        self.write("broken.tp", BROKEN)
        self.write("x.tp", BAD)
        self.write("if.tp", BAD + "#if 1\n")
        said = self.fmt("broken.tp", "if.tp", "x.tp", "gone.tp", status=1)
        self.assertRegex(said, r"^broken\.tp:8:3: error: TRACE_EVENT\(e\): '\)' is missing")
        self.assertRegex(said, r"(?m)^if\.tp:17:[12]: error: the C preprocessor says: unterminated")  # clang points behind the #
        self.assertIn("gone.tp: error: can't read it: No such file or directory [TP001]\n", said)
        self.assertEqual([read(self.path(name)) for name in ("broken.tp", "if.tp", "x.tp")], [BROKEN, BAD + "#if 1\n", GOOD])
        # What only makes a bad event is no matter of its layout.
        self.write("x.tp", BAD.replace("%d", "%s"))
        self.assertEqual(self.fmt("x.tp"), "")
        self.assertEqual(read(self.path("x.tp")), GOOD.replace("%d", "%s"))

    def test_options_of_the_preprocessor(self) -> None:
        text = '#ifndef A\n#error "no A"\n#endif\n'
        self.write("x.tp", text + BAD)
        self.assertIn("no A", self.fmt("x.tp", status=1))
        self.assertEqual(self.fmt("-D", "A", "x.tp"), "")
        self.assertEqual(read(self.path("x.tp")), text + GOOD)

    def test_parts_of_an_included_macro(self) -> None:
        self.write("parts.h", "#define PARTS TP_PROTO(int b), TP_ARGS(b), TP_STRUCT__entry(), TP_fast_assign(), TP_printk(\"\")\n")
        text = '#include "parts.h"\nTRACE_EVENT(f,  PARTS);\n'
        self.write("x.tp", text + BAD)
        self.assertIn("TRACE_EVENT: ", self.fmt("x.tp", status=1))
        self.assertEqual(self.fmt("--expand-includes", "x.tp"), "")
        self.assertEqual(read(self.path("x.tp")), text + GOOD)

    def test_mode_and_links(self) -> None:
        path = self.write("there/x.tp", BAD)
        os.chmod(path, 0o2751)
        os.symlink("there/x.tp", self.path("link.tp"))
        self.assertEqual(self.fmt("link.tp"), "")
        self.assertTrue(os.path.islink(self.path("link.tp")))
        self.assertEqual((read(path), stat.S_IMODE(os.stat(path).st_mode)), (GOOD, 0o2751))
        self.assertEqual(os.listdir(self.path("there")), ["x.tp"])

    def test_owner(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can give files away")
        path = self.write("x.tp", BAD)
        os.chown(path, NOBODY, NOBODY)
        os.chmod(path, 0o4666)
        self.assertEqual(self.fmt("x.tp"), "")
        now = os.stat(path)
        self.assertEqual((read(path), now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)), (GOOD, NOBODY, NOBODY, 0o4666))

    def as_nobody(self, path: str, why: str) -> None:
        """The file can't be written; it stays as it is, and nothing comes to be beside it."""
        before = read(path), os.stat(path)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            diag = Diagnostics()
            written = rewrite(path, GOOD.encode(), diag)
            os.write(writing, f"{written} {diag.text()}".encode())
            os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as said:
            self.assertEqual(said.read(), f"False {path}: error: can't write it: {why}; the file is as it was before [TP091]\n")
        self.assertEqual(read(path), before[0])
        self.assertEqual(os.stat(path).st_ino, before[1].st_ino)
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])

    def test_files_of_others(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can become somebody else")
        path = self.write("their/x.tp", BAD)
        os.chmod(self.dir, 0o755)
        os.chmod(self.path("their"), 0o777)
        self.as_nobody(path, "Permission denied")
        os.chmod(path, 0o666)
        self.as_nobody(path, "its owner or group would be lost; run tpgen as its owner")
        os.chmod(self.path("their"), 0o755)
        self.as_nobody(path, "Permission denied")

    def test_no_regular_file(self) -> None:
        os.mkdir(self.path("dir.tp"))
        self.assertEqual(self.fmt("dir.tp", status=1), "dir.tp: error: can't read it: Is a directory [TP001]\n")
        done = tpgen("fmt", "/dev/stdin", cwd=self.dir)  # which is /dev/null
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.write("x.tp", BAD), "rb") as file:
            done = run(["sh", "-c", f"cat | {sys.executable} -m tpgen fmt /dev/stdin"], stdin=file)
        self.assertEqual(done.stderr, "/dev/stdin: error: can't write it: no regular file; - is standard input; "
                         "the file is as it was before [TP091]\n")

    def test_full_disk(self) -> None:
        disk = self.small_disk("8k")
        path = os.path.join(disk, "x.tp")
        with open(path, "w", encoding="ascii") as file:
            file.write(BAD)
        with open(os.path.join(disk, "rest"), "wb") as file:
            file.write(b"x" * 4096)
        self.assertIn("No space left on device; the file is as it was before [TP091]\n", self.fmt(path, status=1))
        self.assertEqual(read(path), BAD)
        self.assertEqual(sorted(os.listdir(disk)), ["rest", "x.tp"])
        with open("/dev/full", "wb") as full:
            done = self.piped(BAD.encode(), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (1, b"<stdout>: error: can't write it: No space left on device [TP091]\n"))
