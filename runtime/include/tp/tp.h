/* SPDX-License-Identifier: MIT */
/*
 * tp/tp.h - switching events on: sinks, tp_enable and the environment.
 *
 *	struct tp_sink *sink = tp_ctf_sink("/tmp/trace", NULL);
 *
 *	if (sink && tp_enable(sink, "sched:*,!sched:sched_wakeup") >= 0) {
 *		... the program ...
 *	}
 *	tp_sink_close(sink);
 *
 * Without a line of code in the program the environment does the same:
 *
 *	TP_ENABLE=PATTERNS  what to enable, as for tp_enable()
 *	TP_OUTPUT=KIND:ARG  where to: text:stderr (the default), text:stdout,
 *	                    text:FILE, ctf:DIRECTORY[,OPTION...],
 *	                    stats:FILE[,OPTION...], lttng:, ftrace:,
 *	                    ftrace:INSTANCE, sdt:; "%p" in a FILE,
 *	                    DIRECTORY or INSTANCE stands for the process id;
 *	                    a FILE of text that exists is appended to. Several
 *	                    outputs, with ";" between, get all the same
 *	TP_CLOCK=CLOCK      what CTF traces and statistics count time in: tsc (the default),
 *	                    the processor's counter where that is reliable,
 *	                    or monotonic, which is CLOCK_MONOTONIC
 *
 *	TP_LOG=WHERE        where messages go: stderr (the default), syslog, or a FILE,
 *	                    which is appended to, and made with mode 0600. Messages for
 *	                    stderr go to syslog where the program has closed it, or put
 *	                    another file in its place, as daemon() does. While a CTF
 *	                    trace is open, they are in its directory, too: log/PID
 *	TP_SANDBOX=1        the program forbids itself system calls, by a seccomp filter:
 *	                    what takes one after the opening, and can be left out, is
 *	                    (docs/sandbox.md)
 *
 * TP_OUTPUT alone enables everything. Both are read once, when the first
 * module with tracepoints is loaded; TP_CLOCK is, when such a sink is opened.
 * setuid programs ignore them, and an
 * empty one counts as none. The output ends when the program does, which
 * waits no more than a moment for probe calls that run. What is
 * wrong with them is said in one line (TP_LOG), and the program goes on.
 *
 * None of these functions may be called from a signal handler or from inside
 * a probe. tp_enable, tp_disable and tp_sink_close may wait for all probe calls
 * that run: so not with a lock held that a probe takes.
 */
#ifndef TP_TP_H
#define TP_TP_H

#include <stdio.h>

#include <tp/sink.h>
#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A line of text an event:
 *
 *	1763634276.123456789 1234/1240 sched:sched_switch: prev_comm=...
 *
 * time in seconds since the epoch, process id/thread id, system:event, and
 * the text of TP_printk. A line is written whole, however many threads
 * write. Control characters in the text are written as \n and \xHH; a
 * newline at its end goes, as in the kernel. A text too long for a line (80 KiB) ends in "...".
 *
 * file stays the caller's: it must be open until tp_sink_close() has returned,
 * which flushes it. The sink clears its error flag. A thread may hit tracepoints
 * with the file locked (flockfile), and its lines stay together. A failed write raises
 * neither SIGPIPE nor SIGXFSZ. Where parent and child go on with a file after
 * fork, their lines stay whole if it is open for appending and its buffer
 * takes a line, or there is none (setvbuf). Records from a signal handler that
 * interrupted the sink itself are counted as lost, as are those that could
 * not be written; the count is said on stderr at the end.
 * NULL with errno set: EINVAL (file is NULL), ENOMEM.
 */
TP_PUBLIC struct tp_sink *tp_text_sink(FILE *file);

/*
 * A CTF 1.8 trace in dir, which is created (mode 0700) where it doesn't
 * exist, and must not hold a trace or other files yet (directories and names
 * with a dot in front don't count; readers take any other file for a part of
 * the trace). It must stay writable for the user that the process is: for a
 * daemon that drops root, owner= gives it to its new user. Each thread writes into mapped files
 * of its own, a packet each; they are a valid trace at every instant, so that
 * babeltrace2 can read it after kill -9, and, unless packets are overwritten,
 * while the program runs. The threads that record
 * prepare their next files themselves, in good time and piece by piece.
 *
 * dir may be given by a relative name, and the program may change its
 * directory later; its last part must not be a symbolic link. No more than
 * 16 CTF sinks can be open at once. In a forked child the sink goes on, into
 * files of its own in the same trace; but the events of modules that only
 * the child loads are not in the trace, and their records are lost.
 *
 * Lost records are counted in the trace, too (a packet's events_discarded, which
 * babeltrace2 reports), in that of the thread or, where it has got no
 * packet at all, in the next that is made for any.
 *
 * A record of a signal handler is in the trace when the record that the signal
 * interrupted is committed. A crash handler that never returns into that one,
 * or leaves it by siglongjmp, loses what this thread records from there on;
 * these are counted as lost when the thread exits.
 *
 * options is NULL or a comma-separated list:
 *
 *	mode=stream      keep everything (the default)
 *	mode=flight      a flight recorder: keep the last packets, and write into
 *	                 the oldest again, whose memory is warm. Its files change under a
 *	                 reader's eyes: while it runs, read a tp_ctf_snapshot()
 *	packet=SIZE      bytes of a packet, which is a file: from 4K to 1G, with
 *	                 a suffix K, M or G, rounded up to whole pages; default 1M,
 *	                 in flight mode 512K, with size= no more than 1/32 of it
 *	packets=NUMBER   of a thread, at most, 2 or more; default in flight mode 4,
 *	                 where there is no size=, else any number
 *	size=SIZE        bytes of all packets of the process, at most. Each thread that
 *	                 records has one packet or more
 *	keep=NUMBER      of the traces that made way for this one, so many stay; default all
 *	rotate=SIZE      begin another chapter after so many bytes, with a suffix K, M or G: dir becomes
 *	                 dir.1, dir.2 ..., and a new dir is made, each a complete trace. rotate=TIME, with
 *	                 s, m or h: after that time; rotate=1G+1h: after either. It is looked
 *	                 at when a packet is begun. dir is made at the first record, and %p in its last part is
 *	                 the process's id. Not with mode=flight, full=overwrite, size= or packets=
 *	full=discard     at these limits: new records are lost (the default in stream mode)
 *	full=overwrite   or the oldest packet goes: the thread's own, where it has
 *	                 packets= of them or its share of size=, else that of a thread with
 *	                 more than its share, or of any (the default in flight mode)
 *	prepare=thread   a thread of the sink's own makes new packets, and closes full
 *	                 ones, so that the ends of packets hold those that record up less.
 *	                 It ends with the sink; a forked child has none. (A process
 *	                 with a thread more can't do some things, such as unshare(CLONE_NEWUSER),
 *	                 nor end by pthread_exit() in its last thread.) Default: prepare=self
 *	owner=USER       where root makes the trace: give it to this user, a name of
 *	                 /etc/passwd, UID or UID:GID; for a daemon that becomes that
 *	                 user. A directory that exists already stays whose it is
 *	write=map        store records in the mapped files: the default on ext4, XFS
 *	                 and tmpfs
 *	write=call       copy each into its file by a system call, process_vm_writev(2), which reports
 *	                 what a store would answer by SIGBUS: that there is no block (btrfs), or that somebody has
 *	                 truncated the file. The default on other file systems
 *	context=LIST     for each event also cpu (cpu_id), pid, name (procname, the
 *	                 thread's as it was when its packet was begun), with "+"
 *	                 between; the thread's id is always there. Costs a bit
 *
 * NULL with errno set: EINVAL (dir is NULL; or options, about which there is a
 * line on stderr), EEXIST (dir holds a trace), ENOTEMPTY (dir holds other
 * files), EMFILE (16 are open), or what the system said of dir.
 */
TP_PUBLIC struct tp_sink *tp_ctf_sink(const char *dir, const char *options);

/*
 * Copies what the CTF sink's packets hold at this moment into dir, a trace of
 * its own, which is made as by tp_ctf_sink(). The threads go on recording
 * and lose nothing by it; while a packet is copied, there may be others beyond the limits.
 * Each thread's events are those up to the call and maybe some later ones, without a gap; packets that are
 * overwritten before their turn has come, the oldest first, are missing, but never the newest two. Of
 * the process's own threads only; parents and children make their own.
 *
 * 0, or a negative errno value: EINVAL (dir is NULL, or sink no CTF sink),
 * ENOTSUP (mode=stream: its own directory can be read at any time), EDEADLK
 * (called from inside a probe), what tp_ctf_sink() says of dir, or ENOSPC and its like, and then what
 * was copied is gone again.
 */
TP_PUBLIC int tp_ctf_snapshot(struct tp_sink *sink, const char *dir);

/*
 * A line of text an event in the kernel's own trace buffer, between the
 * kernel's events:
 *
 *	sched:sched_switch: prev_comm=...
 *
 * by one write to trace_marker; the kernel adds the thread, the processor and the
 * time. The text is as in the text sink; a line longer than 4000 bytes, or 1024
 * up to Linux 6.7, ends in "...".
 *
 * instance is NULL or "" for the top-level buffer; the name of an instance,
 * which is made where it doesn't exist, and stays when the sink is closed;
 * or, beginning with "/", the directory of either, tracefs mounted wherever
 * it is, and then it must exist. While the sink is open, its instance can't be removed (EBUSY).
 *
 * Records are lost, and counted, while the buffer takes none: tracing_on is
 * 0, options/markers is 0, or it is full and options/overwrite is 0. Safe in
 * signal handlers; in a forked child the sink goes on. A descriptor that the
 * program has closed is opened again, by its name.
 *
 * NULL with errno set, after a line on stderr that says what to do: ENOENT (tracefs
 * is not mounted, or there is no such directory), EACCES, EPERM (no permission), EINVAL
 * (no name of an instance), ENOMEM, or what else the system said.
 */
TP_PUBLIC struct tp_sink *tp_ftrace_sink(const char *instance);

/*
 * Shows each record, whole, to the tools that know USDT probes: bpftrace, perf, gdb, SystemTap. Their probe is
 * tp:record, in the object that the runtime is linked into (the program, or
 * libtp.so.1), with the arguments
 *
 *	const struct trace_entry *record, size_t size, const char *system, const char *name
 *
 * of which the first is a struct trace_event_raw_NAME *, size bytes long, as long as the probe
 * is being hit. Programs need not be compiled with -DTP_SDT=1, which puts such probes at
 * the sites themselves (tp/sdt.h). An enabled event costs what its record does, whether a
 * tool is attached or not. Lost are records of signal handlers and the like that nest
 * so deep that there is no room for one more.
 *
 * NULL with errno set: ENOMEM, ENOTSUP (not on this processor).
 */
TP_PUBLIC struct tp_sink *tp_sdt_sink(void);

/*
 * Events as tracepoints of LTTng-UST, 2.13 or later. All events of the process,
 * enabled or not, are in "lttng list -u" by their names, system:event, with
 * their fields and levels; LTTng's tools say which are recorded, where to, by
 * what filter and with what context. The sink gets those that are enabled on it
 * ("*" leaves the choice to LTTng), and passes on what a session of LTTng wants.
 * The site of one that no session wants looks at LTTng's flag, and that is all;
 * where something else listens to it, too, its writer does. What
 * LTTng's buffers can't take is LTTng's to count, not the sink's.
 *
 * LTTng's library is loaded by dlopen, for ever. It makes two threads, and waits
 * for the answer of LTTng's daemon, where there is one, but no longer than
 * LTTNG_UST_REGISTER_TIMEOUT says (3 seconds). The daemon may come, go, and come
 * again. A forked child is a process of its own to LTTng, with its own two
 * threads, and its fork waits in the same way; liblttng-ust-fork.so is not needed.
 *
 * One such sink can be open at a time. When a module is unloaded, what LTTng has been told
 * of its events stays until the sink is closed. Of a record, strings end at their first NUL.
 *
 * NULL with errno set: ELIBACC (the library is missing, or too old), ENOTSUP
 * (libtp was built without LTTng's headers, or the program is linked statically),
 * EBUSY (there is one), each after a line on stderr; or ENOMEM.
 */
TP_PUBLIC struct tp_sink *tp_lttng_sink(void);

/*
 * Statistics in file: of each event that was hit how often, when first and
 * last (CLOCK_REALTIME), and the shortest, mean and longest interval between
 * two hits that follow one another in one thread; of fields that are asked for, what values
 * they had. Threads count by themselves, without a lock. A thread of the sink's
 * own replaces file now and then, always as a whole, so that it can be read at any time, and
 * after kill -9 holds what was written last. It is written when the sink is opened, too, and
 * when it is closed.
 *
 * file may be given by a relative name, and the program may change its
 * directory later, but not its root. It is replaced where it exists; what is
 * neither that nor a regular file is refused. No more than 4 statistics sinks can be open at once.
 *
 * options is NULL or a comma-separated list:
 *
 *	json             one JSON object (docs/sinks.md has its keys); default: aligned text
 *	by=thread        hits and intervals for each thread, too: those that run and
 *	                 the last 1,000 that have exited; earlier ones are one together
 *	interval=SECONDS how often file is written, if there is anything new: from 0.01 to 86400,
 *	                 with decimals; 0: only by tp_stats_write() and at the end, and there is no
 *	                 thread. Default 1. (What prepare=thread of tp_ctf_sink() says of a thread holds here)
 *	field=EVENTS.FIELD[+EVENTS.FIELD]...
 *	                 counts the values of these fields; EVENTS and FIELD are globs as in
 *	                 tp_enable(): sched:*.prev_state, net:net_request.*. Of integers and floats: sum,
 *	                 least, mean, greatest, and a histogram by powers of two. Of integers
 *	                 that print by name, and of strings and arrays of char: the most frequent
 *	                 values. A text counts by its first 63 bytes and its length.
 *	                 Other fields are not counted, which is said on stderr where one is named
 *	top=NUMBER       of the most frequent values so many: from 1 to 1000; default 10
 *	children=end     a forked child has no thread that writes: see below. Default: children=live; it has
 *	                 one, unless interval is 0, and its file is written as often. The thread is made before fork()
 *	                 returns in the child, with all signals blocked; so not where a signal handler forks
 *
 * Each thread tells 192 values of a field apart between two writings of file, the sink 3072:
 * of those that come later only the sum is there, as "other". Where other is not 0, the
 * counts of the values that are shown may be too low.
 *
 * The writers of events that have no counted field only count: TP_fast_assign does not run.
 *
 * A record of a signal handler that interrupted another record's counting counts as usual, but for the
 * intervals, which are those between such. The fourth, each in the
 * middle of the one before, is counted as lost. A handler that
 * leaves by siglongjmp leaves its place taken.
 *
 * A forked child counts from 0, into FILE.PID, which is there once it has hit something and that was written. Where its
 * parent ends first, as that of a daemon does, FILE is the child's from then on, and what the parent had written there
 * is in FILE.PID. With children=end it writes by tp_stats_write() and tp_sink_close(), and where
 * TP_OUTPUT has opened the sink, at its end by exit().
 *
 * NULL with errno set: EINVAL (file is NULL or can't be replaced; or options,
 * about which there is a line on stderr), EMFILE (4 are open), EBUSY (one of them has this
 * file), or what the system said of file.
 */
TP_PUBLIC struct tp_sink *tp_stats_sink(const char *file, const char *options);

/*
 * Writes the statistics' file now, with all hits up to the call. Where a thread is counting at this very moment
 * and does not come to its end in some 20 ms (it waits for a processor, or a signal handler is at
 * work), its last ones are in the next.
 * 0, or a negative errno value: EINVAL (no statistics sink), or what the
 * system said of the file, and then that is as before.
 */
TP_PUBLIC int tp_stats_write(struct tp_sink *sink);

/*
 * A sink that TP_OUTPUT has opened, by its name there ("ctf:/tmp/trace"), or the
 * first of a kind ("ctf"): to take a snapshot of it, to enable and disable, or
 * to close it before the program ends. NULL where there is none, or where the
 * program has closed it. Not in a module's constructor, nor at the end of the process.
 */
TP_PUBLIC struct tp_sink *tp_output(const char *name);

/*
 * Attaches the writers of the matching events to sink, those of modules that
 * are loaded later too. patterns is a comma-separated list of globs (as in
 * fnmatch) for SYSTEM:EVENT, or for EVENT alone; one that begins with "!"
 * takes its matches out of the list again, wherever it stands. Blanks
 * around a pattern don't count, nor does a comma at the end. Of several calls, for an event the last
 * whose patterns match it decides.
 *
 * The number of events that are attached now and were not before (0 is no
 * error: their module may come yet), -EINVAL (patterns is NULL or empty, has
 * an empty element, or only such that begin with "!"), or -ENOMEM, and then
 * nothing has changed.
 */
TP_PUBLIC int tp_enable(struct tp_sink *sink, const char *patterns);

/* Takes the matching events off again, those of modules loaded later too. The number taken off, or as above. */
TP_PUBLIC int tp_disable(struct tp_sink *sink, const char *patterns);

#ifdef __cplusplus
}
#endif

#endif /* TP_TP_H */
