#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo.sh BUILD_DIR - compresses real files with pgz, once traced as text, once
# into a CTF trace, shows what came of it, and makes pictures. `make demo` runs
# it. pgz itself is not told: what is recorded, and where to, the environment
# says.
set -eu
LC_ALL=C
export LC_ALL

if [ $# -ne 1 ] || [ ! -x "$1/examples/pgz/pgz" ] || [ ! -x "$1/tp" ]; then
	echo "usage: demo.sh BUILD_DIR (where examples/pgz/pgz and tp have been built)" >&2
	exit 2
fi
build=$1
pgz=$build/examples/pgz/pgz
demo=$build/demo
input=$demo/input
text=$demo/events.txt
trace=$demo/trace
threads=4

fail() {
	echo "demo.sh: $1" >&2
	exit 1
}

heading() {
	printf '\n== %s ==\n\n' "$1"
}

# make_input NAME BYTES FIND_ARGUMENT... - the first BYTES of the files found, one behind the other
make_input() {
	file=$input/$1
	bytes=$2
	shift 2
	# A closed pipe is how head says that it has enough; files that we may not read are left out.
	{ find "$@" -type f -print0 | sort -z | xargs -0 cat -- || :; } 2>/dev/null | head -c "$bytes" >"$file"
}

# compress OUTPUT - compresses all input, traced to OUTPUT, checks that gunzip restores it, removes what it made
compress() {
	echo "\$ TP_ENABLE='pgz:*' TP_OUTPUT=$1 $pgz -p $threads $input/*"
	TP_ENABLE='pgz:*' TP_OUTPUT=$1 "$pgz" -p "$threads" "$input"/*
	for gz in "$input"/*.gz; do
		gunzip -c "$gz" | cmp - "${gz%.gz}"
	done
	compressed=$(cat "$input"/*.gz | wc -c)
	rm "$input"/*.gz
}

rm -rf "$demo"
mkdir -p "$input"

heading 'Input: what this machine has'
make_input 'copyright notices' 3000000 /usr/share/doc -name copyright
make_input 'headers' 2000000 /usr/include -name '*.h'
make_input 'programs' 3000000 /usr/bin
gzip -c "$input/programs" | gzip -c | head -c 400000 >"$input/already compressed"
: >"$input/empty"
files=$(find "$input" -type f | wc -l)
original=$(cat "$input"/* | wc -c)
wc -c "$input"/*

heading "First run: events as text, a line each"
compress "text:$text"
echo
[ -s "$text" ] || fail "$text: pgz has written no events there"
grep ' pgz:pgz_file_open: ' "$text" | sed -n 1p
grep ' pgz:pgz_block_' "$text" | sed -n 1,8p
echo '...'
grep ' pgz:pgz_block_end: .*INCOMPRESSIBLE' "$text" | sed -n 1p
grep ' pgz:pgz_file_[bc]lo' "$text" | sed -n 1,2p

heading "Second run: the same events into a CTF trace"
compress "ctf:$trace"
echo "\$ babeltrace2 $trace"
echo
if command -v babeltrace2 >/dev/null; then
	timeout 20 babeltrace2 "$trace" >"$demo/babeltrace2.txt"
	sed -n 1,6p "$demo/babeltrace2.txt"
	recorded=$(wc -l <"$demo/babeltrace2.txt")
	echo "... ($recorded events)"
	# Whatever the threads do, the same input makes the same number of events.
	[ "$recorded" -eq "$(wc -l <"$text")" ] || fail "$trace: not as many events as in $text"
else
	echo '(babeltrace2 is not installed: make deps demo does it)'
fi

heading 'Summary'
echo "files         $files, compressed twice; gunzip restores each of them"
echo "bytes in      $original"
echo "bytes out     $compressed ($((compressed * 100 / original)) %)"
echo "threads       $(awk '$3 == "pgz:pgz_block_end:" { print $2 }' "$text" | sort -u | wc -l) of $threads compressed"
echo "events        $(wc -l <"$text") as text:"
awk '{ sub(/:$/, "", $3); count[$3]++ } END { for (name in count) printf "%14d %s\n", count[name], name }' "$text" |
	sort -k 2

heading 'Where it lies, and what to try next'
cat <<END
The trace is in   $trace
The text is in    $text
The events are in defs/pgz.tp, the calls of trace_pgz_...() in examples/pgz.

Only the blocks that did not get smaller, from the trace:
  babeltrace2 $trace | grep 'block_end.*flags = [4-7],'

Files only, on the terminal, of whatever you like:
  TP_ENABLE='pgz:pgz_file_*' $pgz -c LICENSE > /dev/null

Everything but the queue, in a trace of your own:
  TP_ENABLE='pgz:*,!pgz:pgz_block_queue' TP_OUTPUT=ctf:/tmp/pgz-trace-%p $pgz -c -9 LICENSE > /dev/null
END

heading 'Three pictures of the second run, and how to look at each'
picture() {
	echo "\$ $*"
	"$@"
}
picture "$build/tp" timeline "$trace" -o "$demo/timeline.svg"
picture "$build/tp" convert "$trace" --to perfetto -o "$demo/pgz.perfetto"
picture "$build/tp" convert "$trace" --to trace.dat -o "$demo/trace.dat"
cat <<END

$demo/timeline.svg    xdg-open $demo/timeline.svg
$demo/pgz.perfetto    xdg-open https://ui.perfetto.dev    (and drop the file there)
$demo/trace.dat       kernelshark $demo/trace.dat    (or trace-cmd report)
END
