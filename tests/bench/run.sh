#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh BUILD_DIR - what tracepoints cost on this machine, beside other ways to
# trace. `make bench` runs it. It measures and judges nothing: only figures of
# one run can be compared, and only their ratios with those of another machine.
#
# Peers that are not installed are left out: LTTng-UST (liblttng-ust-dev,
# lttng-tools), SDT (systemtap-sdt-dev); without valgrind no instructions are counted.
set -euf
LC_ALL=C
export LC_ALL

rounds=${ROUNDS:-9}
cc=${CC:-gcc}

if [ $# -ne 1 ] || [ ! -f "$1/libtp.a" ]; then
	echo "usage: run.sh BUILD_DIR (where libtp.a has been built)" >&2
	exit 2
fi
bench=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$bench/../.." && pwd)
build=$(cd "$1" && pwd)
began=$(date +%s)

fail() {
	echo "run.sh: $1" >&2
	exit 1
}

# ---- The place to work in: a directory on the build disk, with "shm" in it for one in memory ----

sessiond=
clean_up() {
	set +e
	if [ -n "$sessiond" ]; then
		kill "$sessiond" 2>/dev/null
		wait "$sessiond" 2>/dev/null
	fi
	[ -z "${shm:-}" ] || rm -rf "$shm"
	rm -rf "$work"
}
work=$(mktemp -d "$build/bench.XXXXXX")
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
	shm=$(mktemp -d /dev/shm/tp-bench.XXXXXX)
	ln -s "$shm" shm
else
	mkdir shm
	echo "There is no /dev/shm: \"tmpfs\" below is the build disk, too."
fi

# ---- Compiling ----

python=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
	if [ -z "$python" ] && "$candidate" -c 'import jinja2, pycparser' 2>/dev/null; then
		python=$candidate
	fi
done
[ -n "$python" ] || fail 'there is no python3 with Jinja2 and pycparser, which tpgen needs ("make deps")'

# tpgen FILE - into the directory of the work
tpgen() {
	CC=$cc PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root "$python" -m tpgen gen -o . "$1"
}

# compile OUTPUT ARGUMENT... - with the project's warnings for what is the project's
compile() {
	output=$1
	shift
	# shellcheck disable=SC2086 # CC may have arguments
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -I "$bench/subjects" -I . -I "$root/runtime/include" \
		-o "$output" "$@"
}

# subject NAME HEADER ARGUMENT... - the program NAME, which measures what HEADER says
subject() {
	name=$1
	header=$2
	shift 2
	compile "$name" -DSUBJECT="\"$header\"" "$bench/bench.c" "$@"
}

can_include() {
	printf '#include <%s>\n' "$1" | $cc -E -x c - >/dev/null 2>&1
}

strict='-Wpedantic -Wshadow -Wconversion'
cp "$bench/bench.tp" .
tpgen bench.tp || fail 'tpgen does not compile bench.tp'
# shellcheck disable=SC2086 # strict is words
{
	subject nothing nothing.h $strict -lpthread
	subject flag flag.h $strict -lpthread
	subject direct direct.h -DCALLS=1 $strict -lpthread
	subject direct3 direct.h -DCALLS=3 $strict -lpthread
	subject fprintf fprintf.h $strict -lpthread
	subject ours ours.h $strict "$build/libtp.a" -lurcu-bp -lpthread
	subject register register.h $strict "$build/libtp.a" -lurcu-bp -lpthread
}

have_sdt=
if can_include sys/sdt.h; then
	subject sdt sdt.h -lpthread
	have_sdt=yes
fi

# ---- LTTng-UST ----

# lttng_session NAME MODE_OF_CREATION MODE_OF_CHANNEL - a session that records the event bench:NAME
lttng_session() {
	lttng create "$1" "$2" && lttng enable-channel -s "$1" -u "$3" --subbuf-size 8M --num-subbuf 4 channel &&
		lttng enable-event -s "$1" -u "bench:$1" -c channel && lttng start "$1"
}

# Root's daemon listens where the system's would: a second one can't be had.
start_lttng() {
	LTTNG_HOME=$PWD/shm
	LTTNG_UST_REGISTER_TIMEOUT=10000
	export LTTNG_HOME LTTNG_UST_REGISTER_TIMEOUT
	if lttng --no-sessiond list >/dev/null 2>&1; then
		echo 'an lttng-sessiond is running already, and is left alone'
		return
	fi
	lttng-sessiond --no-kernel >sessiond.log 2>&1 &
	sessiond=$!
	tries=50
	while ! lttng --no-sessiond list >/dev/null 2>&1; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ]; then
			echo 'lttng-sessiond does not start'
			return
		fi
		sleep 0.1
	done
	if ! { lttng_session discard --output="$LTTNG_HOME/lttng" --discard &&
		lttng_session snapshot --snapshot --overwrite; } >lttng.log 2>&1; then
		echo 'its sessions can not be made'
	fi
}

have_lttng=
have_lttng_daemon=
if can_include lttng/tracepoint.h && subject lttng-off lttng.h -DEVENT=off -llttng-ust -ldl -lpthread; then
	have_lttng=yes
	subject lttng-discard lttng.h -DEVENT=discard -llttng-ust -ldl -lpthread
	subject lttng-snapshot lttng.h -DEVENT=snapshot -llttng-ust -ldl -lpthread
	why='lttng-tools are not installed'
	if command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null; then
		start_lttng >why
		why=$(cat why)
		[ -n "$why" ] || have_lttng_daemon=yes
	fi
fi

# ---- Measuring ----

# What a group is, line by line, for measure and for table.awk.
new_group() {
	printf 'group\t%s\t%s\n' "$1" "$2" >group
	number=0
}

# row KIND LABEL ENVIRONMENT PROGRAM ARGUMENT... - KIND is "ours", "peer", "plain" (has none), or "base" (what the
# others contain)
row() {
	number=$((number + 1))
	printf 'row\t%s\t%s\t%s\n' $number "$1" "$2" >>group
	shift 2
	printf '%s\n' "$*" >"command-$number"
}

note() {
	printf 'note\t%s\n' "$1" >>group
}

# hit PREFIX EVENTS ENVIRONMENT PROGRAM ARGUMENT... - what the program prints
hit() {
	prefix=$1
	events=$2
	environment=$3
	program=$4
	shift 4
	# shellcheck disable=SC2086 # the prefix is words
	env "$environment" $prefix "./$program" "$events" "$@"
	rm -rf trace shm/trace
}

# measure EVENTS - the rows of the group in turn, as many times as there are rounds
measure() {
	for round in $(seq "$rounds"); do
		for i in $(seq $number); do
			# shellcheck disable=SC2046 # the command is words
			value=$(hit '' "$1" $(cat "command-$i")) || fail "in round $round: $(cat "command-$i") has failed"
			printf 'value\t%s\t%s\n' "$i" "$value" >>group
		done
	done
}

# count EVENTS - the instructions of an event
count() {
	command -v valgrind >/dev/null || return 0
	tool='valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=timed'
	for i in $(seq $number); do
		# shellcheck disable=SC2046 # the command is words
		if hit "$tool" "$1" $(cat "command-$i") >/dev/null 2>callgrind.log; then
			awk -v row="$i" -v events="$1" '/ Collected : / { printf "count\t%s\t%s\n", row, $4 / events }' \
				callgrind.log >>group
		fi
	done
}

table() {
	awk -f "$bench/table.awk" group
}

no_environment=A=

machine=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
printf 'Machine: %s, %s cores, Linux %s, %s; load before the run %s\n' "${machine:-$(uname -m)}" "$(nproc)" \
	"$(uname -r)" "$($cc --version | head -n 1)" "$(cut -d ' ' -f 1 /proc/loadavg)"
echo "Each figure is the median of $rounds rounds, in which the rows of a group take turns. A round gives the median of"
echo "15 slices where there is one thread, the mean of all where there are more, each on a processor of its own."
[ -n "$have_sdt" ] || echo 'SDT is left out: sys/sdt.h is not installed.'
if [ -z "$have_lttng" ]; then
	echo 'LTTng-UST is left out: its headers are not installed.'
elif [ -z "$have_lttng_daemon" ]; then
	echo "LTTng-UST does not record here: $why."
fi
command -v valgrind >/dev/null || echo 'No instructions are counted: valgrind is not installed.'

off_sites() {
	row base 'nothing at all' $no_environment nothing "$1" 1
	row peer 'volatile flag' $no_environment flag "$1" 1
	[ -z "$have_sdt" ] || row peer 'SDT nop' $no_environment sdt "$1" 1
	[ -z "$have_lttng" ] || row peer 'LTTng-UST' $no_environment lttng-off "$1" 1
	row ours 'tpgen: load and branch' $no_environment ours "$1" 1
}

new_group 'Off: 32 sites in straight-line code, a site, above nothing at all' ns
off_sites sites
measure 24000000
count 480000
table

new_group 'Off: a site in a leaf function, a call, above nothing at all' ns
off_sites leaf
measure 6000000
count 30000
note 'Where times differ by less than their noise, the instructions tell.'
table

new_group 'On: one empty probe' ns
row peer 'direct call' $no_environment direct loop 1
row ours 'tpgen: 1 probe' $no_environment ours loop 1 1
measure 3000000
count 30000
note 'LTTng-UST has no probes but its own recorder.'
table

new_group 'On: three empty probes' ns
row peer 'three direct calls' $no_environment direct3 loop 1
row ours 'tpgen: 3 probes' $no_environment ours loop 1 3
measure 3000000
count 30000
table

TP_ENABLE='bench:*'
export TP_ENABLE

record() {
	if [ -n "$have_lttng_daemon" ]; then
		row peer 'LTTng-UST, snapshot mode' $no_environment lttng-snapshot loop "$1" 1
		row peer 'LTTng-UST, discard mode' $no_environment lttng-discard loop "$1" 1
	fi
	row ours 'tpgen: CTF sink, tmpfs' TP_OUTPUT=ctf:shm/trace ours loop "$1" -1
	row ours 'tpgen: CTF sink, build disk' TP_OUTPUT=ctf:trace ours loop "$1" -1
}

new_group 'Record {u64, u32, char[16]}, one thread' ns
record 1
measure 300000
count 45000
note 'clock_gettime is outside the instruction counts (a system call, under valgrind).'
table

new_group 'Record {u64, u32, char[16]}, two threads at once, each' ns
record 2
measure 300000
if [ -n "$have_lttng_daemon" ]; then
	note "LTTng-UST, discard mode, has lost of all these: $(lttng list discard |
		awk '/Discarded events:/ { lost += $3 } END { print lost + 0 }') events."
fi
table

unset TP_ENABLE

print_text() {
	row peer 'fprintf' $no_environment fprintf loop "$1"
	row ours 'tpgen: tp_text_sink()' $no_environment ours loop "$1" -2
}

# As the environment opens a text sink, so that one sees what a program does while it runs.
print_lines() {
	row peer 'fprintf' $no_environment fprintf loop "$1" 1
	row ours 'tpgen: TP_OUTPUT=text:FILE' TP_OUTPUT=text:/dev/null ours loop "$1" -1
}

new_group 'Print the same to one FILE, /dev/null, with a full buffer, one thread' ns
print_text 1
measure 75000
count 15000
table

new_group 'The same, two threads at once, each' ns
print_text 2
measure 75000
table

new_group 'The same, line-buffered (a system call a line), one thread' ns
print_lines 1
measure 75000
table

new_group 'The same, line-buffered, two threads at once, each' ns
print_lines 2
measure 75000
table

new_group 'Register, unregister and synchronize' ns
row ours 'tpgen: no other thread' $no_environment register loop 1
row ours 'tpgen: another thread is in a second probe' $no_environment register loop 1 1
measure 450
note 'The other thread has a processor of its own, and is seen to run before each time.'
table

# ---- tpgen itself ----

# many_events NUMBER - a .tp file of events that differ a little, lest the compiler make one of them
many_events() {
	echo '#define TRACE_SYSTEM many'
	echo '#include <stdint.h>'
	echo '#include <string.h>'
	awk -v nr="$1" '/^TRACE_EVENT/ { on = 1 }
		on { text = text $0 "\n" }
		END { for (i = 1; i <= nr; i++) { one = text; gsub(/bench_event/, "many_" i, one)
				sub(/= number;/, "= number + " i ";", one); print one } }' \
		"$bench/bench.tp"
}

# many_lttng_events NUMBER - the same for LTTng-UST, whose macros do tpgen's work
many_lttng_events() {
	awk -v nr="$1" '
		/^LTTNG_UST_TRACEPOINT_EVENT_CLASS/ { on = 1 }
		on && !/^$/ { text = text $0 "\n"; if (/^\)/) on = 0; next }
		/^LTTNG_UST_TRACEPOINT_EVENT_INSTANCE/ { getline; next }
		/^#endif/ { for (i = 1; i <= nr; i++) { one = text; sub(/EVENT_CLASS/, "EVENT", one)
				sub(/bench, event/, "bench, many_" i, one)
				sub(/number, number\)/, "number, number + " i ")", one); print one } }
		{ gsub(/lttng_events.h/, "many_lttng.h"); print }' "$bench/subjects/lttng_events.h"
}

# took ROW EVENTS COMMAND... - milliseconds an event
took() {
	index=$1
	per=$2
	shift 2
	before=$(date +%s%N)
	"$@" || fail "$* has failed"
	after=$(date +%s%N)
	awk -v row="$index" -v ns=$((after - before)) -v per="$per" \
		'BEGIN { printf "value\t%s\t%.4f\n", row, ns / per / 1e6 }' >>group
}

tpgen_again() {
	rm -f many.h
	tpgen many.tp
}

# The compiler's time grows with the events, so that it is given fewer of them.
compiled=200
many_events 1000 >many.tp
many_events $compiled >some.tp
tpgen some.tp
printf '#define CREATE_TRACE_POINTS\n#include "some.h"\n' >some.c
many_lttng_events $compiled >many_lttng.h
printf '#define LTTNG_UST_TRACEPOINT_%s\n' CREATE_PROBES DEFINE >some_lttng.c
echo '#include "many_lttng.h"' >>some_lttng.c

new_group 'Many events like that in one file, an event' ms
row plain 'tpgen gen, 1,000 events' -
row ours "$cc -O2 of what it generates, $compiled events" -
[ -z "$have_lttng" ] || row peer "$cc -O2 of LTTng-UST's macros, $compiled events" -
for round in 1 2 3; do
	took 1 1000 tpgen_again
	took 2 $compiled compile some.o -c some.c
	[ -z "$have_lttng" ] || took 3 $compiled compile some_lttng.o -c some_lttng.c
done
note 'Three rounds.'
table

# section HEADING COMMAND - what the command says of the objects
section() {
	new_group "$1" bytes
	row ours 'tpgen' -
	[ -z "$have_lttng" ] || row peer 'LTTng-UST' -
	i=0
	for object in some.o ${have_lttng:+some_lttng.o}; do
		i=$((i + 1))
		"$2" "$object" | awk -v row=$i -v per=$compiled '{ printf "value\t%d\t%.1f\n", row, $1 / per }' >>group
	done
	table
}

code() {
	size -A "$1" | awk '/^\.text/ { sum += $2 } END { print sum }'
}

text() {
	size "$1" | awk 'NR == 2 { print $1 }'
}

data() {
	size "$1" | awk 'NR == 2 { print $2 }'
}

section 'Code of the same, without call sites, an event' code
section 'Code, constants and unwind tables (the text of size) of the same, an event' text
section 'Data of the same, an event' data

# milliseconds COMMAND... - what it takes
milliseconds() {
	before=$(date +%s%N)
	"$@" || fail "$* has failed"
	after=$(date +%s%N)
	echo "$before $after" | awk '{ print ($2 - $1) / 1e6 }'
}

printf '#define CREATE_TRACE_POINTS\n#include "many.h"\n' >many.c
printf '\nFrom 10 to 10,000 events in one file, an event\n  %10s %16s %16s\n' events 'tpgen gen, ms' "$cc -O2, ms"
for events in 10 100 1000 10000; do
	many_events $events >many.tp
	generating=$(milliseconds tpgen_again)
	compiling=$(milliseconds compile many.o -c many.c)
	echo "$events $generating $compiling" | awk '{ printf "  %10d %16.2f %16.2f\n", $1, $2 / $1, $3 / $1 }'
done
echo '  One round each, with the start of both.'

echo
awk -f "$bench/noise.awk" spread
echo "All of it took $(($(date +%s) - began)) s."
