# SPDX-License-Identifier: MIT
"""The tarball of a release, and what can be done with it where there is no git."""

from __future__ import annotations

import functools
import io
import os
import re
import tarfile

from support import ROOT, Case, check_all, copy_sources, need, read, run, sources, temporary

DAY = 1_700_000_000


def without_git(folder: str) -> str:
    """A PATH with all programs but git. Nothing says so louder than that they are not there."""
    os.mkdir(folder)
    for place in os.environ["PATH"].split(":"):
        for name in os.listdir(place) if os.path.isdir(place) else ():
            link = os.path.join(folder, name)
            if not name.startswith("git") and not os.path.lexists(link):
                os.symlink(os.path.join(place, name), link)
    return folder


@functools.cache
def repository() -> str:
    """A repository that has this tree as its one commit."""
    clone = os.path.join(temporary(), "clone")
    copy_sources(clone)
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", f"{DAY} +0100"))}
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        done = run(["git", *command], cwd=clone, env={**os.environ, **who})
        assert done.returncode == 0, done.stderr
    return clone


@functools.cache
def tarball() -> bytes:
    """What "make dist" makes of it."""
    done = run(["make", "-s", "dist"], cwd=repository())
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    with open(os.path.join(repository(), done.stdout.strip()), "rb") as file:
        return file.read()


class Dist(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "git", "make")
        self.env = {**os.environ, "MAKEFLAGS": ""}

    def dist(self, tree: str, **options: str) -> tuple[bytes, str]:
        """The tarball that "make dist" makes there, and its messages."""
        done = self.succeed(["make", "-s", "dist"], cwd=tree, env={**self.env, **options})
        with open(os.path.join(tree, done.stdout.strip()), "rb") as file:
            return file.read(), done.stderr

    def unpack(self, content: bytes, name: str, umask: int = 0o022) -> str:
        """Returns the tree in it."""
        path = self.path("it.tar.xz")
        with open(path, "wb") as file:
            file.write(content)
        folder = self.path(name)
        os.makedirs(folder)
        self.succeed(["sh", "-c", f'umask {umask:03o}; exec tar --no-same-permissions -xf "$1" -C "$2"', "sh", path, folder])
        top, = os.listdir(folder)
        return os.path.join(folder, top)

    def test_same_bytes(self) -> None:
        """In another folder, with another umask, locale and time zone, and with changes that are not committed."""
        other = self.path("another place/clone")
        self.succeed(["sh", "-c", 'umask 077; exec git clone -q "$1" "$2"', "sh", repository(), other], env=self.env)
        for name in ("LICENSE", "new"):
            self.write(f"{other}/{name}", "changed\n")
        os.unlink(os.path.join(other, "README.md"))
        again, said = self.dist(other, TZ="Asia/Tokyo", LC_ALL="tr_TR.UTF-8", LANG="de_DE", XZ_OPT="-9", TAR_OPTIONS="--owner=7")
        self.assertTrue(again == tarball(), "the tarball is another one")
        self.assertEqual(said, "dist: there are changes that are not committed; the tarball has HEAD, without them\n")

    def test_contents(self) -> None:
        version = re.findall(r'^#define TP_VERSION "(.*)"$', read(os.path.join(ROOT, "runtime/include/tp/tracepoint.h")), re.M)[0]
        with tarfile.open(fileobj=io.BytesIO(tarball())) as tar:
            members = {member.name.partition("/")[2]: member for member in tar}
            manifest = tar.extractfile(members["MANIFEST"]).read().decode().splitlines()
        self.assertEqual({member.name.partition("/")[0] for member in members.values()}, {f"tpgen-{version}"})
        listed = self.succeed(["git", "ls-files", "-z"], cwd=repository(), env=self.env).stdout.split("\0")
        self.assertEqual(set(members), {name for name in listed if name} | {"MANIFEST"})
        self.assertEqual(set(manifest[1:]), set(members) - {"MANIFEST"})
        self.assertEqual({(member.uid, member.gid, member.uname, member.gname, member.mtime) for member in members.values()},
                         {(0, 0, "", "", DAY)})
        self.assertEqual({member.mode for member in members.values()}, {0o644, 0o755})
        self.assertEqual(members[".ci/deps"].mode, 0o755)

    @check_all("makes a tarball of its own")
    def test_time(self) -> None:
        """SOURCE_DATE_EPOCH is the files' time."""
        early, _ = self.dist(repository(), SOURCE_DATE_EPOCH="86400")
        with tarfile.open(fileobj=io.BytesIO(early)) as tar:
            self.assertEqual({member.mtime for member in tar}, {86400})
        for wrong in ("today", "-1", "1.5"):
            done = run(["make", "-s", "dist"], cwd=repository(), env={**self.env, "SOURCE_DATE_EPOCH": wrong})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"dist: SOURCE_DATE_EPOCH is '{wrong}'; it must be seconds since 1970, such as {DAY}\n", done.stderr)

    def test_of_an_unpacked_tarball(self) -> None:
        """The same bytes again, whatever was made in the tree, and though it stands below another repository."""
        tree = self.unpack(tarball(), "below/tree", 0o077)
        self.succeed(["git", "init", "-q"], cwd=self.path("below"), env=self.env)
        os.makedirs(os.path.join(tree, "build"))
        for stray in ("build/libtp.a", "mine.o", "tpgen/mine.py"):
            self.write(os.path.join(tree, stray), "")
        os.utime(os.path.join(tree, "Makefile"))
        again, said = self.dist(tree, PATH=without_git(self.path("bin")))
        self.assertEqual(said, "")
        self.assertTrue(again == tarball(), "the tarball is another one")

    def test_mistakes(self) -> None:
        tree = self.unpack(tarball(), "it")
        for broken, message in (
                (lambda: os.unlink(f"{tree}/LICENSE"), "dist: MANIFEST lists LICENSE: No such file or directory; unpack the tarball again"),
                (lambda: self.write(f"{tree}/MANIFEST", "LICENSE\n"), "dist: the first line of MANIFEST is not as this program writes it"),
                (lambda: self.write(f"{tree}/MANIFEST", ""), "dist: the first line of MANIFEST is not as this program writes it"),
                (lambda: os.unlink(f"{tree}/MANIFEST"), f"dist: {tree} is no clone and no unpacked tarball: it has neither .git nor MANIFEST")):
            with self.subTest(message):
                broken()
                done = run(["make", "-s", "dist"], cwd=tree, env=self.env)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
        done = run(["make", "-s", "dist"], cwd=repository(), env={**self.env, "PATH": without_git(self.path("bin"))})
        self.assertIn("dist: this is a clone, and git is not installed; install it\n", done.stderr)

    @check_all("makes a tarball of its own")
    def test_full_disk(self) -> None:
        """Nothing that has the tarball's name is half a tarball."""
        disk = self.small_disk("100k")
        done = run(["make", "-s", "dist", f"BUILD={disk}"], cwd=repository(), env=self.env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(os.listdir(disk), [])

    @check_all("builds the tree once more")
    def test_without_git(self) -> None:
        """An unpacked tarball is built, installed and tested where there is no git."""
        tree = self.unpack(tarball(), "it")
        env = {**self.env, "PATH": without_git(self.path("bin")), "CFLAGS": "-O0"}
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        self.succeed(["make", jobs, "install", f"PREFIX={self.path('usr')}"], cwd=tree, env=env)
        self.assertTrue(os.path.exists(self.path("usr/bin/tp")))
        tests = ["structure/test_", "install/test_outside_project.Outside.test_pkg_config", "docs/test_links", "mutate/test_"]
        done = run(["python3", "tests/run.py", "check", *tests], cwd=tree, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\b0 skipped\n")


class Sources(Case):
    """support.sources() asks no repository, and lists what a repository would."""

    def test_sources(self) -> None:
        need(self, "git")
        if not os.path.exists(os.path.join(ROOT, ".git")):
            self.assertEqual(set(read(os.path.join(ROOT, "MANIFEST")).splitlines()[1:]) - set(sources()), set())
            return
        listed = self.succeed(["git", "-C", ROOT, "ls-files", "-z", "-c", "-o", "--exclude-standard"]).stdout.split("\0")
        there = {name for name in listed if name and os.path.lexists(os.path.join(ROOT, name))}
        self.assertEqual(there - set(sources()), set())
