# SPDX-License-Identifier: MIT
"""The Debian packages: they are built, checked, and used in a bare system, where nothing else of this tree is installed.

The bare system is made once a week, with the packages that debian/tests/control names, and kept in build/debian. It is
entered with mounts and processes of its own, which end with the command that runs there.
"""

from __future__ import annotations

import concurrent.futures
import functools
import glob
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import time
import unittest

from building import constant, soname
from docs.pages import INSTALLED, Page, blocks, have_alone, section
from support import BUILD, PATIENCE, ROOT, UPDATE, Case, check_all, copy_sources, need, read, run, temporary, unavailable

PAGE = "docs/adopting/debian.md"
VERSION = re.findall(r'^#define TP_VERSION "(.*)"$', read(os.path.join(ROOT, "runtime/include/tp/tracepoint.h")), re.M)[0]
LIBRARY = soname().replace(".so.", "")
SYMBOLS = os.path.join(ROOT, f"debian/{LIBRARY}.symbols")

CACHE = os.path.join(BUILD, "debian")
WEEK = 7 * 86400  # seconds, after which the mirror may no longer have what the lists of the bare system name
# Where a system that runs has other files after a while.
CHANGING = re.compile(r"/(proc|sys|dev|tmp|root|here|var/(lib/(dpkg|apt|systemd)|cache|log|tmp)|etc/(ld\.so\.cache|mtab))(/|$)")


def commands() -> list[str]:
    """Those by which the page builds the packages, and installs them."""
    return [block.text for block in blocks(section(PAGE, "Building and installing them")) if block.kind == "sh"]


class Files(unittest.TestCase):
    """What debian/ repeats of the rest."""

    def test_version(self) -> None:
        changelog = read(os.path.join(ROOT, "debian/changelog"))
        self.assertEqual(changelog.split(")")[0], f"tpgen ({VERSION}", "debian/changelog begins with the version of TP_VERSION")

    def test_name_of_the_library(self) -> None:
        """Packages are called after the SONAME."""
        self.assertTrue(os.path.exists(SYMBOLS), f"{soname()} needs {SYMBOLS}")
        self.assertEqual(read(SYMBOLS).splitlines()[0], f"{soname()} {LIBRARY} #MINVER#")
        self.assertIn(f"\nPackage: {LIBRARY}\n", read(os.path.join(ROOT, "debian/control")))

    def test_symbols(self) -> None:
        """The symbols are those that the library exports; UPDATE=1 adds new ones with the version of today."""
        node = f"LIBTP_{constant('TP_SONAME', 'runtime/src/core/interface.h')}"
        names = read(os.path.join(ROOT, "runtime/libtp.symbols")).splitlines()
        wanted = {node, *(name for name in names if not name.startswith("#"))}
        head = [line for line in read(SYMBOLS).splitlines() if not line.startswith(" ")]
        have = dict(re.findall(rf"(?m)^ (\w+)@{node} (\S+)$", read(SYMBOLS)))
        if UPDATE:
            lines = [f" {name}@{node} {have.get(name, VERSION)}" for name in sorted(wanted)]
            with open(SYMBOLS, "w", encoding="utf-8") as file:
                file.write("\n".join([*head, *lines]) + "\n")
        self.assertEqual(sorted(re.findall(r"(?m)^ (\w+)@", read(SYMBOLS))), sorted(wanted),
                         f"{SYMBOLS} lists what runtime/libtp.symbols does; UPDATE=1 writes it anew")

    def test_interface(self) -> None:
        """A program of a new interface needs a library that serves it, or its tracepoints stay off."""
        served = int(re.findall(r"interface (\d+) \(TP_INTERFACE_VERSION\)", read(SYMBOLS))[0])
        self.assertEqual(served, constant("TP_INTERFACE_VERSION"), f"in {SYMBOLS}, the comment names the interface: give "
                         "tp_module_announce and tp_module_load the version of this library, and correct the comment")

    def test_directory_of_control(self) -> None:
        """The line for tmpfiles.d is the one that "tp setup" prints: one file takes the place of the other."""
        lines = [line for line in read(os.path.join(ROOT, "debian/tmpfiles.d/tp.conf")).splitlines() if not line.startswith("#")]
        self.assertEqual(lines, ["d /run/tp 0755 root root"])
        setup = read(os.path.join(ROOT, "runtime/tools/commands/setup.c"))
        self.assertIn("the file /etc/tmpfiles.d/tp.conf:", setup)
        self.assertIn(rf'"\t{lines[0]}\n', setup)


# ---- Building ----

@functools.cache
def packages() -> tuple[str, str]:
    """The folder of the built packages, which has the sources as tpgen/, and what the build has said."""
    folder = temporary()
    copy_sources(os.path.join(folder, "tpgen"))
    env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
    done = run(["sh", "-ec", commands()[0]], cwd=os.path.join(folder, "tpgen"), env=env)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-20000:]
    return folder, done.stdout + done.stderr


def built() -> list[str]:
    return sorted(glob.glob(os.path.join(packages()[0], "*.deb")))


# ---- The bare system ----

class Unavailable(Exception):
    """The text says why no bare system can be made here."""


def _apt_sources() -> str:
    """The machine's own, of Debian only, in the one line format."""
    fields = "$(ORIGIN)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    targets = run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).stdout
    lines = dict.fromkeys(re.findall(r"(?m)^Debian\|(deb .*)$", targets))
    if not lines:
        raise Unavailable("apt has no lists of Debian here: apt-get update")
    return "".join(f"{line}\n" for line in lines)


def _wanted() -> list[str]:
    """What debian/tests/control needs besides the packages themselves; and the program that reads tmpfiles.d."""
    depends = re.findall(r"(?m)^Depends: @, (.*)$", read(os.path.join(ROOT, "debian/tests/control")))
    return sorted({*", ".join(depends).split(", "), "systemd-standalone-tmpfiles"})


def bare_system() -> str:
    """The archive of a system with little more than apt in it."""
    if os.geteuid():
        raise Unavailable("only root can enter another system")
    if not shutil.which("mmdebstrap"):
        raise Unavailable("mmdebstrap is not installed")
    sources = _apt_sources()
    wanted = [*_wanted(), *(["ca-certificates"] if "https:" in sources else [])]
    key = hashlib.sha256(f"{sources}{wanted}".encode()).hexdigest()[:16]
    archive = os.path.join(CACHE, f"{key}.tar")
    if os.path.exists(archive) and time.time() - os.stat(archive).st_mtime < WEEK:
        return archive
    shutil.rmtree(CACHE, ignore_errors=True)
    os.makedirs(CACHE)
    lines = os.path.join(CACHE, "sources.list")
    with open(lines, "w", encoding="utf-8") as file:
        file.write(sources)
    codename = re.findall(r"(?m)^VERSION_CODENAME=(\w+)$", read("/etc/os-release"))[0]
    options = ['APT::Install-Recommends "false"', *re.findall(r'(?m)^(Acquire::\w+::Proxy ".+");$', run(["apt-config", "dump"]).stdout)]
    done = run(["mmdebstrap", "--mode=root", "--format=tar", "--variant=minbase", f"--include={','.join(wanted)}", "--skip=cleanup/apt/lists",
                *(f"--aptopt={option}" for option in options), "--dpkgopt=force-unsafe-io", codename, f"{archive}.new", lines])
    if done.returncode:
        raise Unavailable(f"mmdebstrap makes no system here: {' '.join(re.findall(r'(?m)^E: .*', done.stderr)) or done.stderr[-500:]}")
    os.rename(f"{archive}.new", archive)
    return archive


@check_all("takes minutes, and builds with Debian's flags what all other tests build")
class Packages(Case):
    @classmethod
    def setUpClass(cls) -> None:
        """The bare system comes from the network, while the processors build."""
        if not all(map(shutil.which, ("dpkg-buildpackage", "dh", "lintian"))):
            raise unittest.SkipTest("debhelper or lintian is not installed")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            system = pool.submit(bare_system)
            packages()
        cls.system = system

    def test_lintian(self) -> None:
        changes = glob.glob(os.path.join(packages()[0], "*.changes"))
        done = run(["lintian", "--allow-root", "--fail-on", "error,warning", *changes])
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_build(self) -> None:
        """All unit tests have run, once; Debian's flags have come to the compiler and to the linker."""
        folder, log = packages()
        units = glob.glob(os.path.join(ROOT, "tests/unit/test_*.c"))
        self.assertEqual(log.count("100%: Checks: "), len(units))
        library, tp = (glob.glob(os.path.join(folder, "tpgen/debian", path))[0]
                       for path in (f"{LIBRARY}/usr/lib/*/{soname()}", "tp-tools/usr/bin/tp"))
        self.assertRegex(run(["readelf", "-Ws", "--dyn-syms", library]).stdout, "_chk@", "CPPFLAGS: _FORTIFY_SOURCE")
        for file in (library, tp):
            self.assertIn("BIND_NOW", run(["readelf", "-d", file]).stdout, "LDFLAGS")
        names = {os.path.basename(path).split("_")[0] for path in built()}
        self.assertEqual(names, {LIBRARY, "libtp-dev", "tpgen", "tp-tools", "tp-doc", f"{LIBRARY}-dbgsym", "tp-tools-dbgsym"})
        for options, runs in (("", True), ("parallel=2 nocheck", False)):
            plan = self.succeed(["make", "--no-print-directory", "-n", "-f", "debian/rules", "override_dh_auto_test"],
                                cwd=os.path.join(folder, "tpgen"), env={**os.environ, "DEB_BUILD_OPTIONS": options})
            self.assertEqual("check-units" in plan.stdout, runs, options)

    def test_files(self) -> None:
        """No two packages have a file of one name. What is for all processors names none."""
        owners: dict[str, str] = {}
        for package in built():
            listing = self.succeed(["dpkg-deb", "--contents", package]).stdout
            for path in re.findall(r"(?m)^[^d]\S+ .*? (\./.*?)(?: -> .*)?$", listing):
                self.assertNotIn(path, owners, package)
                owners[path] = package
        triplet = run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"]).stdout.strip()
        everywhere = self.path("all")
        for package in built():
            if package.endswith("_all.deb"):
                self.succeed(["dpkg-deb", "--extract", package, everywhere])
        self.assertEqual(run(["grep", "-rlF", triplet, everywhere + "/usr/share/tpgen"]).stdout, "")

    # ---- In the bare system ----

    def enter(self) -> None:
        try:
            archive = self.system.result()
        except Unavailable as error:
            unavailable(self, str(error))
        self.root = self.path("root")
        os.mkdir(self.root)
        need(self, "unshare")
        if (done := run(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"])).returncode:
            unavailable(self, f"there are no mounts of a command's own here: {done.stderr.strip()}")
        done = run(["tar", "-xpf", archive, "-C", self.root, "--numeric-owner"])
        if done.returncode:
            unavailable(self, f"a system can't be unpacked here: {done.stderr.partition(chr(10))[0]}")
        shutil.copy("/etc/resolv.conf", os.path.join(self.root, "etc/resolv.conf"))
        os.makedirs(os.path.join(CACHE, "archives/partial"), exist_ok=True)
        copy_sources(os.path.join(self.root, "here/tpgen"))
        for package in built():
            shutil.copy(package, os.path.join(self.root, "here"))

    def inside(self, script: str) -> str:
        """What a script prints that runs there, with mounts and processes of its own. The packages that apt loads are kept."""
        mounts = ('mount -t proc proc "$1/proc" && mount --bind "$2" "$1/var/cache/apt/archives" && '
                  'exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 '
                  'DEBIAN_FRONTEND=noninteractive sh -ec "cd /here/tpgen; $3"')
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mounts, "sh", self.root,
                               os.path.join(CACHE, "archives"), script], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="surrogateescape", timeout=3 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}{done.stderr}")
        return done.stdout

    def files(self) -> set[str]:
        found = set()
        for top, folders, names in os.walk(self.root):
            inside = top.removeprefix(self.root)
            folders[:] = [name for name in folders if not CHANGING.match(f"{inside}/{name}")]
            found |= {f"{inside}/{name}" for name in (*folders, *names) if not CHANGING.match(f"{inside}/{name}")}
        return found

    def newer(self, package: str) -> None:
        """The same package as the next version."""
        folder = self.path("newer")
        self.succeed(["dpkg-deb", "--raw-extract", package, folder])
        path = os.path.join(folder, "DEBIAN/control")
        self.write(path, read(path).replace(VERSION, "99"))
        self.succeed(["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder,
                      os.path.join(self.root, "here", f"{os.path.basename(package).split('_')[0]}_99_all.deb")])
        shutil.rmtree(folder)

    def test_in_a_bare_system(self) -> None:
        have_alone(self, "server")
        self.enter()
        before = self.files()
        self.inside(commands()[1])

        with self.subTest("installing lets nobody listen"):
            nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"
            self.assertEqual(self.inside(f"! {nobody} mkdir /run/tp/65534; stat -c '%a %u %g' /run/tp; ls -A /run/tp"), "755 0 0\n")

        for script in ("tour", "project"):
            with self.subTest(script):
                self.inside(f"debian/tests/{script}")

        with self.subTest("codes are explained without tp-doc"):
            self.assertIn("TP052", self.inside("tpgen explain TP052"))

        with self.subTest("an empty directory goes"):
            self.inside("apt-get purge --yes tp-tools")
            self.assertFalse(os.path.exists(f"{self.root}/run/tp"))

        with self.subTest("newer packages take the place of these"):
            for package in built():
                if "dbgsym" not in package:
                    self.newer(package)
            self.inside("apt-get install --yes ../*_99_all.deb; tpgen --version; tp --version")
            self.assertEqual(self.inside("dpkg-query -W -f '${Version}\\n' tpgen libtp-dev tp-tools tp-doc"), "99\n" * 4)

        with self.subTest("what a user has made stays, and nothing else"):
            self.inside("tp setup --system")
            self.inside(f"apt-get purge --autoremove --yes {LIBRARY} libtp-dev tpgen tp-tools tp-doc")
            after = self.files()
            self.assertEqual(sorted(after - before), ["/run/tp", "/run/tp/0"])
            self.assertEqual(sorted(before - after), [])


if INSTALLED:
    class Project(Page):
        """A project's own package, with the packages of the page installed: debian/tests/project."""

        def test_package(self) -> None:
            need(self, "dpkg-buildpackage", "dh")
            folder = self.path("server")
            os.mkdir(folder)
            for block in blocks(section("README.md", "A ten-minute tour")):
                if block.name:
                    self.write(f"server/{block.name}", block.text)
            self.walk(f"\n```sh\ncd {shlex.quote(folder)}\n```\n\n{section(PAGE, 'A package of your own')}")
            done = self.succeed([os.path.join(folder, "debian/server/usr/bin/server")], env={**self.env, "TP_ENABLE": "net:*"})
            self.assertEqual(done.stderr.count("net:net_request: "), 6)
            self.assertNotIn("RUNPATH", run(["readelf", "-d", os.path.join(folder, "server")]).stdout)
