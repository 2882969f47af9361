# SPDX-License-Identifier: MIT
"""Makes docs/terminal.svg, a terminal in which an operator looks into a running server: from a real run.

    python3 docs/terminal.py BUILD     BUILD: where make has put tp and examples/servers/web
"""

from __future__ import annotations

import html
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SESSION = ("tp ps -p web --all", "tp trace -p web --children | head -3", "tp stat -p web --children --for 2 | cut -c -72 | tail -5",
           "tp hist -p web --children -e 'web_request if status >= 400' keys=status --for 2 | tail -6")
COLUMNS = 100
CELL, LINE, EDGE = 7.83, 18, 14  # pixels, of the letters below; what is left free around them
STYLE = """.t{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6deeb;white-space:pre}
.p{fill:#7fdbca}.c{fill:#fff;font-weight:600}.e{fill:#8a99ad}"""


def run(build: str) -> list[tuple[str, str]]:
    """Kind and text of each line: of the prompt with its command, of what is printed, of what is said on stderr."""
    tp, web = (os.path.abspath(os.path.join(build, name)) for name in ("tp", "examples/servers/web"))
    lines: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as directory:
        env = {**os.environ, "TP_CONTROL": directory, "PATH": f"{os.path.dirname(tp)}:{os.environ['PATH']}"}
        with subprocess.Popen([web], env=env, start_new_session=True, stdin=subprocess.DEVNULL) as server:
            try:
                while subprocess.run([tp, "ps", "-p", "web", "--all"], env=env, capture_output=True, text=True).stdout.count("web") < 3:
                    time.sleep(0.1)
                for command in SESSION:
                    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, check=True)
                    lines.append(("command", command))
                    lines += [("printed", line) for line in done.stdout.splitlines()]
                    lines += [("said", line) for line in done.stderr.splitlines()]
            finally:
                os.killpg(server.pid, signal.SIGKILL)
    return lines


def picture(lines: list[tuple[str, str]]) -> str:
    width, height = round(COLUMNS * CELL + 2 * EDGE), len(lines) * LINE + 2 * EDGE + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
           f'aria-label="A terminal: {html.escape(", ".join(SESSION))}">', f"<style>{STYLE}</style>",
           f'<rect width="{width}" height="{height}" rx="8" fill="#011627"/>']
    for i, (kind, line) in enumerate(lines):
        text = html.escape(line if len(line) <= COLUMNS else line[:COLUMNS - 1] + "…")
        if kind == "command":
            text = f'<tspan class="p">$ </tspan><tspan class="c">{text}</tspan>'
        out.append(f'<text class="{"t e" if kind == "said" else "t"}" x="{EDGE}" y="{EDGE + LINE * (i + 1) - 5}">{text}</text>')
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    made = picture(run(sys.argv[1]))
    with open(os.path.join(HERE, "terminal.svg"), "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main()
