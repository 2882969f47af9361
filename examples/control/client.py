#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the events of a process, and shows those that match: client.py SOCKET [PATTERNS]"""
import signal
import socket
import sys


def ask(process, request, *fds):
    """Returns the lines of the reply, and the value of its "ok"."""
    socket.send_fds(process, [request.encode()], fds)
    reply = b""
    while not (reply.endswith(b"\n") and reply[:-1].rpartition(b"\n")[2].split(b" ")[0] in (b"ok", b"error")):
        reply += process.recv(65536) or sys.exit("the process has ended")
    *lines, last = reply.decode(errors="replace").rstrip("\n").split("\n")
    return (lines, last[3:]) if last.startswith("ok") else sys.exit(last)


signal.signal(signal.SIGINT, signal.SIG_DFL)  # ^C ends this, and with the connection the output
sys.stdout.reconfigure(line_buffering=True)  # in a pipe, too
process = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
process.connect(sys.argv[1])
print(process.recv(65536).decode(), end="")
for event in ask(process, "events")[0]:
    print(event.split(" ")[1])
if len(sys.argv) > 2:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    _, output = ask(process, "open text client.py", theirs.fileno())
    theirs.close()
    ask(process, f"enable {output} {sys.argv[2]}")
    while line := ours.recv(1 << 20):
        print(line.decode(errors="replace"), end="")
