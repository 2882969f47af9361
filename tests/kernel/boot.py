# SPDX-License-Identifier: MIT
"""Boots the kernels whose headers are tested, in an emulator, and keeps what they say: their format files.

    python3 tests/kernel/boot.py

It needs qemu-system-x86 and busybox-static, and fetches Debian's image of the very version of each installed
linux-headers package with apt-get. Some minutes later build/kernel/booted-RELEASE/SYSTEM/EVENT/format is there, and
test_booted.py compares. $QEMU is the emulator with its options, $BUSYBOX a statically linked busybox.
"""

from __future__ import annotations

import base64
import glob
import gzip
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from kernel import tree  # noqa: E402
from support import BUILD  # noqa: E402

# Without KVM: where that only half works, as in some virtual machines, a kernel hangs; emulated, it takes a minute.
QEMU = os.environ.get("QEMU", "qemu-system-x86_64 -accel tcg -cpu max")
BUSYBOX = os.environ.get("BUSYBOX") or shutil.which("busybox") or "/bin/busybox"
_EVENTS = b"_ftrace_events\0"  # the section of a module that has tracepoints
_LINE = re.compile(r"([\w.-]+/[\w.-]+)/format:(.*)")

# Modules that want other hardware, or others first, are left out: their events are not compared.
_INIT = """#!/busybox sh
/busybox mount -t devtmpfs dev /dev
/busybox mount -t sysfs sys /sys
/busybox mount -t tracefs tracefs /tracefs
while read module; do
	/busybox timeout 60 /busybox insmod /modules/$module.ko
done </modules/order
/busybox dmesg -n 1
cd /tracefs/events
echo @@BEGIN
/busybox grep '' */*/format | /busybox gzip | /busybox base64
echo @@END
/busybox poweroff -f
"""


def directory(found: tree.Tree) -> str:
    """Where the format files of a booted kernel are kept."""
    return os.path.join(BUILD, "kernel", f"booted-{_release(found)}")


def _release(found: tree.Tree) -> str:
    return os.path.basename(found.config).removeprefix("linux-headers-")


def _modules(image: str) -> tuple[dict[str, bytes], list[str]]:
    """Those with tracepoints and what they need, in the order in which they can be loaded."""
    texts: dict[str, bytes] = {}
    for path in glob.glob(f"{image}/lib/modules/**/*.ko*", recursive=True):
        with open(path, "rb") as file:
            text = file.read()
        name = os.path.basename(path).partition(".")[0].replace("-", "_")
        texts[name] = lzma.decompress(text) if path.endswith(".xz") else text
    order: list[str] = []

    def add(name: str) -> None:
        if name in order or name not in texts:
            return
        needs = re.search(rb"\0depends=([^\0]*)\0", texts[name])
        for needed in needs[1].decode().split(",") if needs else []:
            add(needed.replace("-", "_"))
        order.append(name)
    # What others ask for by another way than by a symbol.
    for name in ["crc32c_generic", *sorted(name for name, text in texts.items() if _EVENTS in text)]:
        add(name)
    return texts, order


def _initramfs(image: str, root: str) -> str:
    """The file system that the kernel starts with."""
    for name in ("dev", "sys", "tracefs", "modules"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(BUSYBOX, os.path.join(root, "busybox"))
    texts, order = _modules(image)
    for name in order:
        with open(f"{root}/modules/{name}.ko", "wb") as file:
            file.write(texts[name])
    for path, text in (("modules/order", "\n".join(order) + "\n"), ("init", _INIT)):
        with open(os.path.join(root, path), "w", encoding="ascii") as script:
            script.write(text)
    os.chmod(f"{root}/init", 0o755)
    return pack(root)


def _unpack(console: str, out: str) -> int:
    """The format files that a console has shown."""
    text = "".join(line for line in console.partition("@@BEGIN")[2].partition("@@END")[0].split() if not line.startswith("["))
    files: dict[str, list[str]] = {}
    for line in gzip.decompress(base64.b64decode(text)).decode("utf-8", "surrogateescape").splitlines():
        match = _LINE.match(line)
        if match:
            files.setdefault(match[1], []).append(match[2])
    for name, lines in files.items():
        os.makedirs(os.path.join(out, name), exist_ok=True)
        with open(os.path.join(out, name, "format"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(lines) + "\n")
    return len(files)


def fetch_image(found: tree.Tree, work: str) -> str:
    """Debian's package of a kernel, unpacked below a directory."""
    os.chmod(work, 0o755)  # apt-get fetches as a user of its own
    subprocess.run(["apt-get", "download", f"linux-image-{_release(found)}"], cwd=work, check=True)
    image = os.path.join(work, "image")
    subprocess.run(["dpkg-deb", "-x", *glob.glob(f"{work}/*.deb"), image], check=True)
    return image


def pack(root: str) -> str:
    """The directory as the file system that a kernel starts with."""
    subprocess.run(f"find . | {shlex.quote(BUSYBOX)} cpio -o -H newc 2>/dev/null | gzip -1 >../initramfs", shell=True, cwd=root,
                   check=True)
    return os.path.join(os.path.dirname(root), "initramfs")


def emulate(image: str, initramfs: str, *options: str, parameters: str = "") -> str:
    """Boots a kernel, and waits until it switches the machine off; what its first serial line has shown."""
    done = subprocess.run(
        [*shlex.split(QEMU), "-display", "none", "-nodefaults", "-no-reboot", "-serial", "stdio", *options,
         "-kernel", *glob.glob(f"{image}/boot/vmlinuz-*"), "-initrd", initramfs, "-append", f"console=ttyS0 panic=-1 {parameters}"],
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="surrogateescape", check=True, timeout=1800)
    return done.stdout


def boot(found: tree.Tree) -> int:
    """Boots a kernel; how many format files it has shown."""
    with tempfile.TemporaryDirectory(prefix="tpgen-boot-") as work:
        image = fetch_image(found, work)
        console = emulate(image, _initramfs(image, os.path.join(work, "root")), "-m", "3G")
    out = directory(found)
    shutil.rmtree(out, ignore_errors=True)
    return _unpack(console, out)


if __name__ == "__main__":
    for one in filter(None, map(tree.find, tree.SERIES)):
        print(f"{directory(one)}: {boot(one)} events")
