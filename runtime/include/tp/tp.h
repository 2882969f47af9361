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
 * The environment does the same without a line of code in the program:
 *
 *	TP_ENABLE=PATTERNS  what to enable, as for tp_enable(); or several rules with ";"
 *	                    between, some of them with a filter, as for tp_enable_if():
 *	                    TP_ENABLE='net:* if size > 4096; sched:*'
 *	TP_OUTPUT=KIND:ARG  where records go: text:stderr (the default), text:stdout,
 *	                    text:FILE, socket:PATH, ctf:DIRECTORY[,OPTION...],
 *	                    perfetto:FILE, stats:FILE[,OPTION...], lttng:, ftrace:,
 *	                    ftrace:INSTANCE, sdt:. "%p" in a FILE, PATH,
 *	                    DIRECTORY or INSTANCE stands for the process id.
 *	                    A text FILE that exists is appended to. Several
 *	                    outputs stand with ";" between. Each gets what TP_ENABLE
 *	                    says, or its own events, which follow an arrow between
 *	                    blanks: TP_OUTPUT='ctf:/tmp/t <- net:*; text:stderr <- err:*'.
 *	                    Each of several rules follows an arrow of its own
 *	TP_TRIGGER=TRIGGERS what events set off, as for tp_trigger(), at each output:
 *	                    "PATTERNS TRIGGER", several with ";" between:
 *	                    TP_TRIGGER='net:net_error traceoff:1 if code >= 500'.
 *	                    Without TP_ENABLE and TP_OUTPUT, only events that triggers
 *	                    enable are recorded
 *	TP_HIST=PATH        where histograms of TP_TRIGGER are written when the program ends;
 *	                    without it, to stderr. A name that ends in .json: as JSON
 *	TP_SYNTHETIC=EVENTS definitions of synthetic events, as for tp_synthetic_event(),
 *	                    with "|" or a newline between; before all of these
 *	TP_CLOCK=CLOCK      the clock of CTF traces and statistics: tsc (the default),
 *	                    the processor's counter if that is reliable;
 *	                    or monotonic, which is CLOCK_MONOTONIC
 *	TP_LOG=WHERE        where messages go: stderr (the default), syslog, or a FILE,
 *	                    which is appended to, and made with mode 0600. If the program
 *	                    has closed stderr, or put another file in its place as daemon()
 *	                    does, messages for stderr go to syslog. While a CTF
 *	                    trace is open, messages are in its directory, too: log/PID
 *	TP_CONTROL=WHERE    whether and where the process listens to the command tp, which
 *	                    can do all this while the process runs: tp/control.h
 *	TP_SANDBOX=1        for a program that forbids itself system calls, by a seccomp filter:
 *	                    the runtime leaves out the calls after the opening that it
 *	                    can do without (docs/internals/system-calls.md)
 *
 * TP_OUTPUT alone enables everything, but for outputs with patterns of their own. TP_ENABLE and TP_OUTPUT are read once, when the first module with
 * tracepoints is loaded; TP_CLOCK is read when a sink that needs it is opened. An empty variable counts
 * as not set. Set-uid, set-gid and capability programs ignore all of them. A mistake in them is
 * reported in one line (see TP_LOG), and the program goes on. An output of TP_OUTPUT ends when the
 * program does, which waits no more than a moment for probe calls that run.
 *
 * docs/outputs has a page for each kind of sink, with its options.
 *
 * None of these functions may be called from a signal handler or from inside a probe. tp_enable,
 * tp_disable, tp_trigger and tp_sink_close can wait for all probe calls that run: do not call them with a lock held
 * that a probe takes.
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
 * Opens a sink that writes a line of text for each event:
 *
 *	1763634276.123456789 1234/1240 sched:sched_switch: prev_comm=...
 *
 * The line has the time in seconds since the epoch, process id/thread id, system:event, and the text of
 * TP_printk. The line is written whole, however many threads write. Control characters in the text are
 * written as \n and \xHH; a newline at its end is left out, as in the kernel. A text too long for a
 * line (80 KiB) ends in "...".
 *
 * file stays the caller's. It must be open until tp_sink_close(), which flushes it, has returned. The
 * sink clears its error flag. A thread may lock the file (flockfile) while it hits tracepoints; its
 * lines then stay together. A failed write raises neither SIGPIPE nor SIGXFSZ. If parent and child both
 * use a file after fork, their lines stay whole if the file is open for appending and its buffer takes
 * a line, or it has no buffer (setvbuf).
 *
 * Two kinds of records are lost and counted: those of a signal handler that interrupted the sink
 * itself, and those that could not be written. The count is printed on stderr at the end.
 *
 * Returns the sink, or NULL with errno set:
 *	EINVAL  file is NULL
 *	ENOMEM
 */
TP_PUBLIC struct tp_sink *tp_text_sink(FILE *file);

/*
 * Opens a sink that writes a CTF 1.8 trace into the directory dir.
 *
 * dir is created (mode 0700) if it doesn't exist. If it holds an earlier trace, to which no process
 * writes any more, that trace is renamed to dir.1, dir.2 ... dir must not hold other files (directories
 * and names that begin with a dot don't count): readers take any other file for a part of the trace.
 * dir must stay writable for the process's user; if a daemon drops root, the option owner= gives it to
 * the new user. dir can be a relative name, and the program may change its directory later. The last
 * part of dir must not be a symbolic link.
 *
 * options is NULL, or a comma-separated list of name=value. docs/outputs/ctf.md lists all of them, with
 * values and defaults.
 *
 * Each thread writes into mapped files of its own, of a packet each. They are a valid trace at every
 * instant: babeltrace2 can read it after kill -9, and also while the program runs, unless packets are
 * overwritten. A thread of the runtime's, which a process has once at most, makes files before they are
 * needed, unless options say prepare=self.
 *
 * No more than 16 CTF sinks can be open at once. In a forked child the sink goes on, into files of its
 * own in the same trace. But the events of modules that only the child loads are not in the trace, and
 * their records are lost.
 *
 * The trace counts lost records, too (a packet's events_discarded, which babeltrace2 reports): in a
 * packet of the thread or, if the thread has got no packet at all, in the next that is made for any
 * thread.
 *
 * A record of a signal handler is in the trace when the record that the signal interrupted is
 * committed. If a crash handler never returns to that record, the handler's records are lost, and counted
 * when the thread exits. If it leaves it by siglongjmp, that record and those inside it are lost, and counted
 * at the thread's next hit that is no deeper in the stack; from there on it records again.
 *
 * Returns the sink, or NULL with errno set:
 *	EINVAL     dir is NULL; or options are wrong, and a line on stderr says how
 *	EEXIST     dir holds a trace that can't be renamed: a process still writes to it, for one
 *	ENOTEMPTY  dir holds other files
 *	EMFILE     16 are open
 *	ELOOP      dir is a symbolic link
 *	ENOMEM
 *	others     what the system said of dir
 */
TP_PUBLIC struct tp_sink *tp_ctf_sink(const char *dir, const char *options);

/*
 * Copies the packets of a flight recorder, a CTF sink with mode=flight, as they are at this moment. The
 * copy is a trace of its own in dir. dir is made as by tp_ctf_sink(), but must not hold a trace.
 *
 * The threads go on recording and lose nothing by it; while a packet is copied, there can be others
 * beyond the limits. The copy has each thread's events up to the call, and maybe some later ones,
 * without a gap. Packets that are overwritten before they are copied are missing, the oldest first, but
 * never a thread's newest two. The copy has the process's own threads only; parents and children make
 * their own.
 *
 * Returns 0, or a negative errno value:
 *	-EINVAL   dir is NULL, or sink is not a CTF sink
 *	-ENOTSUP  mode=stream: the sink's own directory can be read at any time
 *	-EDEADLK  called from inside a probe
 *	-EBUSY    a thread stands still at the end of a packet; a later call may succeed
 *	others    what tp_ctf_sink() returns for dir, or ENOSPC and its like. What was copied is removed again
 */
TP_PUBLIC int tp_ctf_snapshot(struct tp_sink *sink, const char *dir);

/*
 * Opens a sink that writes a Perfetto trace into file, which ui.perfetto.dev and Perfetto's Trace Processor read.
 *
 * "%p" in file stands for the process id. file can be a relative name, and the program may change its directory later. An
 * older file of the name is removed, unless a process still writes to it. options is NULL or empty: there are none yet.
 *
 * Each thread writes into a mapped part of file of its own. The file is a valid trace at every instant: it can be read after
 * kill -9, and also while the program runs. A forked child goes on in the same file or, if file has a %p, in one of its own,
 * which its first record makes. No more than 8 such sinks can be open at once.
 *
 * An event is an instant of its thread or, if it has the fields of the kernel's track events (docs/outputs/perfetto.md), a slice
 * or a counter. Its fields are arguments. Its system and its level are categories. Lost records are events of category tp, where
 * the thread has recorded again; their number is said on stderr, too.
 *
 * A record of a signal handler that interrupts the sink itself is in the trace when the record that the signal interrupted is. If
 * the handler leaves that by siglongjmp, both are lost.
 *
 * Returns the sink, or NULL with errno set:
 *	EINVAL  file is NULL, empty, or no regular file; or there are options, and a line on stderr says so
 *	EEXIST  a process still writes to file
 *	EACCES  file is another user's, in a directory that others may write to
 *	EMFILE  8 are open
 *	ENOMEM
 *	others  what the system said of file
 */
TP_PUBLIC struct tp_sink *tp_perfetto_sink(const char *file, const char *options);

/*
 * Opens a sink that writes a line of text for each event into the kernel's own trace buffer, between
 * the kernel's events:
 *
 *	sched:sched_switch: prev_comm=...
 *
 * Each line is one write to trace_marker. The kernel adds the thread, the processor and the time. The
 * text is as in the text sink. A line longer than 4000 bytes (1024 up to Linux 6.7) ends in "...".
 *
 * instance selects the buffer:
 *	NULL or ""  the top-level buffer
 *	a name      the instance of this name. If it doesn't exist, it is made. It stays
 *	            when the sink is closed
 *	"/..."      the directory of either, wherever tracefs is mounted; it must exist
 * While the sink is open, its instance can't be removed (EBUSY).
 *
 * Records are lost, and counted, while the buffer takes none: tracing_on is 0, options/markers is 0, or
 * it is full and options/overwrite is 0. Signal handlers can record safely; in a forked child the sink
 * goes on. If the program has closed the sink's descriptor, the file is opened again by its name.
 *
 * Returns the sink, or NULL with errno set, after a line on stderr that says what to do:
 *	ENOENT         tracefs is not mounted, or there is no such directory
 *	EACCES, EPERM  no permission
 *	EINVAL         not a name of an instance
 *	ENOMEM
 *	others         what the system said
 */
TP_PUBLIC struct tp_sink *tp_ftrace_sink(const char *instance);

/*
 * Opens a sink that shows each whole record to tools that know USDT probes: bpftrace, perf, gdb,
 * SystemTap. Their probe is tp:record, in the object that the runtime is linked into (the program, or
 * libtp.so.1), with the arguments
 *
 *	const struct trace_entry *record, size_t size, const char *system, const char *name
 *
 * record is a struct trace_event_raw_NAME *, size bytes long, and is valid while the probe is being
 * hit. Programs need not be compiled with -DTP_SDT=1, which puts such probes at the sites themselves
 * (tp/sdt.h). An enabled event costs what its record does, whether a tool is attached or not. Records
 * are lost if signal handlers and the like nest so deep that there is no room for one more.
 *
 * Returns the sink, or NULL with errno set:
 *	ENOMEM
 *	ENOTSUP  not on this processor
 */
TP_PUBLIC struct tp_sink *tp_sdt_sink(void);

/*
 * Opens a sink whose events are tracepoints of LTTng-UST, 2.13 or later. "lttng list -u" lists all
 * events of the process, enabled or not, by their names, system:event, with their fields and levels.
 * LTTng's tools choose which events are recorded, where to, by what filter and with what context. The
 * sink gets the events that are enabled on it ("*" leaves the choice to LTTng), and passes on what a
 * session of LTTng wants. If no session wants an event, its site looks at LTTng's flag and does nothing
 * more; if something else listens to the event, too, the event's writer looks at the flag. LTTng counts
 * what its buffers can't take; the sink does not.
 *
 * LTTng's library is loaded by dlopen, and stays loaded. It makes two threads. The opening waits for
 * the answer of LTTng's daemon, if there is one, but no longer than LTTNG_UST_REGISTER_TIMEOUT says (3
 * seconds). The daemon can come, go, and come again. To LTTng, a forked child is a process of its own,
 * with its own two threads, and its fork waits in the same way; liblttng-ust-fork.so is not needed.
 *
 * One such sink can be open at a time. When a module is unloaded, LTTng keeps what it has been told of
 * the module's events until the sink is closed. Strings of a record end at their first NUL.
 *
 * Returns the sink, or NULL with errno set; for all but ENOMEM, after a line on stderr:
 *	ELIBACC  the library is missing, or too old
 *	ENOTSUP  libtp was built without LTTng's headers, or the program is linked statically
 *	EBUSY    there is such a sink already
 *	ENOMEM
 */
TP_PUBLIC struct tp_sink *tp_lttng_sink(void);

/*
 * Opens a sink that counts, and writes statistics into file. For each event that was hit, it counts the
 * hits, and measures the first and the last (CLOCK_REALTIME) and the shortest, mean and longest
 * interval between two hits that follow one another in one thread. For fields that options name, it
 * also counts what values they had. Each thread counts by itself, without a lock.
 *
 * A thread of the sink's own replaces file now and then (option interval=), always as a whole: it can
 * be read at any time, and after kill -9 has what was written last. With interval=0 there is no such
 * thread. The file is also written when the sink is opened, and when it is closed.
 *
 * file can be a relative name, and the program may change its directory later, but not its root. An
 * existing regular file is replaced; if file is anything else, it is refused.
 *
 * options is NULL, or a comma-separated list of name=value, or of a name alone.
 * docs/outputs/statistics.md lists all of them, with values and defaults, and describes the file and its limits.
 *
 * The writers of events without a counted field only count: TP_fast_assign does not run.
 *
 * A forked child counts from 0, into FILE.PID, which appears once the child has a hit and writes. If
 * its parent ends first, as that of a daemon does, FILE is the child's from then on, and what the
 * parent had written there is in FILE.PID. By default (unless interval=0) the child has a thread that
 * writes, too, made before fork() returns in the child, with all signals blocked. With children=end it
 * has none; it writes by tp_stats_write() and tp_sink_close(), and, if TP_OUTPUT has opened the sink,
 * when it ends by exit().
 *
 * Returns the sink, or NULL with errno set:
 *	EINVAL  file is NULL or can't be replaced; or options are wrong, and a line on stderr says how
 *	EBUSY   another open sink has this file
 *	ENOMEM
 *	others  what the system said of file
 */
TP_PUBLIC struct tp_sink *tp_stats_sink(const char *file, const char *options);

/*
 * Writes the statistics' file now, with all hits up to the call. Of hits that other threads are counting at this
 * very moment, a part of the numbers may be in the file: a field's values, but not the hit.
 *
 * Returns 0, or a negative errno value:
 *	-EINVAL   sink is not a statistics sink
 *	-EDEADLK  the call interrupts the runtime's own work in this thread
 *	others    what the system said of the file, which then stays as it was
 */
TP_PUBLIC int tp_stats_write(struct tp_sink *sink);

/*
 * Returns a sink that TP_OUTPUT has opened: by its name there ("ctf:/tmp/trace", without patterns), or
 * the first of a kind ("ctf"). Use it to take a snapshot, to enable and disable, or to close the sink before the
 * program ends. Returns NULL if there is none, or if the program has closed it. It must not be called
 * in a module's constructor, nor at the end of the process.
 */
TP_PUBLIC struct tp_sink *tp_output(const char *name);

/*
 * Attaches the writers of the matching events to sink, including those of modules that are loaded
 * later.
 *
 * patterns is a comma-separated list of globs (as in fnmatch) for SYSTEM:EVENT, or for EVENT alone. A
 * glob that begins with "!" takes its matches out of the list again, wherever it stands. Blanks around
 * a pattern don't count, nor does a comma at the end. If several calls match an event, the last of them
 * decides.
 *
 * Returns the number of events that are attached now and were not before (0 is no error: their module
 * may come later), or a negative errno value, and then nothing has changed:
 *	-EINVAL   sink or patterns is NULL; or patterns is empty, has an empty element, or has
 *	          only elements that begin with "!"
 *	-EPERM    the system forbids to change program text, which static keys need (docs/api.md)
 *	-EDEADLK  in a forked child whose tracing is off (docs/api.md)
 *	-ENOMEM
 */
TP_PUBLIC int tp_enable(struct tp_sink *sink, const char *patterns);

/*
 * As tp_enable(), but a record is written only if filter is true for it. filter is an expression in the
 * kernel's filter grammar, over the fields of the event (docs/filters.md):
 *
 *	tp_enable_if(sink, "net:*", "size > 4096 && peer ~ \"10.*\"", &error);
 *
 * It is evaluated after TP_fast_assign, in the thread that hits the tracepoint. A record that it refuses
 * does not reach the sink, and is not lost. Each sink has filters of its own. Another call for the same
 * events replaces their filter while they are being hit: each record meets the old one or the new one.
 * tp_enable(), and a filter that is NULL or "0", take it off.
 *
 * Of the events that match, some may lack a field that the filter names, or have it with another type.
 * They stay as they were. So do those of modules that are loaded later, and a line on stderr says so.
 *
 * Returns the number of events that have the filter now (without a filter, what tp_enable() returns), or
 * a negative errno value, and then nothing has changed, and earlier filters stay:
 *	-EINVAL  as for tp_enable(); or filter is no such expression; or it fits none of the matching events
 *	others   as for tp_enable()
 *
 * *error becomes NULL, or a text for a person, which the caller must free(). If the filter is wrong, its
 * lines are the kernel's: the filter, a "^" under the place, "parse_error: " and what is wrong. If some
 * of the events stayed as they were, it is a line that says how many, and why. error can be NULL.
 */
TP_PUBLIC int tp_enable_if(struct tp_sink *sink, const char *patterns, const char *filter, char **error);

/*
 * Takes the matching events off again, including those of modules that are loaded later. Returns the
 * number taken off, or -EINVAL or -ENOMEM as for tp_enable().
 */
TP_PUBLIC int tp_disable(struct tp_sink *sink, const char *patterns);

/*
 * Stop the recording on a sink, and begin it again, as the kernel's functions tracing_off() and tracing_on() and its
 * file tracing_on: what is enabled stays enabled, and what is recorded already stays. Records that are on their way are
 * finished; those that are not made are not counted as lost. A sink begins with recording on; the triggers traceoff and
 * traceon switch the same. Safe in probes and signal handlers; sink must be open.
 */
TP_PUBLIC void tp_tracing_off(struct tp_sink *sink);
TP_PUBLIC void tp_tracing_on(struct tp_sink *sink);
TP_PUBLIC bool tp_tracing_is_on(const struct tp_sink *sink);

/*
 * Defines an event of system "synthetic", in the grammar of the kernel's file synthetic_events, or removes one:
 *
 *	tp_synthetic_event("wakeup_latency u64 lat; pid_t pid; char comm[16]", &error);
 *	tp_synthetic_event("!wakeup_latency", &error);
 *
 * To sinks it is an event like those of a module that is loaded or unloaded at this moment; what was enabled before counts
 * for it, too. Its records come from histograms (docs/histograms.md). It can be called while other threads record, but not
 * in a signal handler.
 *
 * Returns 0, or a negative errno value, and then nothing has changed:
 *	-EINVAL   definition is NULL, or no such definition
 *	-EEXIST   there is a synthetic event of this name
 *	-ENOENT   there is none that could be removed
 *	-EBUSY    the event is enabled, has triggers or probes, or a histogram makes its records
 *	-ENOSPC   all ids of events are taken, or there was no memory for one
 *	-EDEADLK  a removal inside a probe, which would wait for itself; or in a forked child whose tracing is off
 *	-ENOMEM
 *
 * *error becomes NULL, or a text for a person, which the caller must free(): the definition, a "^" under the place,
 * "parse_error: " and what is wrong, in the kernel's words. error can be NULL.
 */
TP_PUBLIC int tp_synthetic_event(const char *definition, char **error);

/*
 * Sets a trigger: from now on, an event that matches patterns sets something off. trigger is in the kernel's language
 * (docs/triggers.md), COMMAND[:COUNT] [if FILTER]:
 *
 *	tp_trigger(sink, "net:net_error", "traceoff:1 if code >= 500", &error);
 *
 *	traceoff, traceon           sink stops recording, or begins again
 *	enable_event:SYSTEM:EVENT   sink records another event from now on ...
 *	disable_event:SYSTEM:EVENT  ... or does so no more
 *	snapshot                    a copy of what sink, a flight recorder, holds is made beside the trace: in
 *	                            DIR-snapshot-1, DIR-snapshot-2 ... snapshot:after=5s and snapshot:COUNT:after=500ms
 *	                            wait for what follows. A thread makes it, which is there while such a trigger is
 *	hist:keys=FIELD...          the events are counted in a histogram (docs/histograms.md), which tp_hist_text() shows
 *	enable_hist:SYSTEM:EVENT    the histograms of another event count from now on ...
 *	disable_hist:SYSTEM:EVENT   ... or pause. These three need no sink, and do not belong to one: NULL will do
 *	stacktrace                  an event tp:stacktrace follows in sink: the functions that have led to the event
 *
 * COUNT is how often it does so. The filter is on the event that fires the trigger. That event need not be enabled. A "!"
 * in front takes the trigger off; COUNT and FILTER are not compared then, and may be left out. Closing sink takes off its
 * triggers. Events of modules that are loaded later fire it, too.
 *
 * Returns the number of events that fire it now (0 is no error: their module may come later; and if it is taken off, 0),
 * or a negative errno value, and then nothing has changed:
 *	-EINVAL   patterns, trigger or its filter are wrong, or the filter fits none of the matching events; or there is no
 *	          sink
 *	-EEXIST   one of the events has such a trigger for sink already: traceon and traceoff exclude each other, and so do
 *	          enable_event and disable_event of one event
 *	-ENOENT   there is no such trigger to take off
 *	-ENOTSUP  a snapshot of a sink that is no flight recorder; a stack for one that can't have such events
 *	others    as for tp_enable()
 *
 * *error becomes NULL, or a text for a person, as that of tp_enable_if(). The trigger is set also if there is no event that
 * enable_event, disable_event, enable_hist or disable_hist could switch now; then the text says so.
 */
TP_PUBLIC int tp_trigger(struct tp_sink *sink, const char *patterns, const char *trigger, char **error);

/*
 * Returns the text of the histograms of matching events, those of triggers and others: as the kernel's file "hist" has it,
 * or a JSON list. The caller must free() it. NULL with errno set:
 *	ENOENT  there is none
 *	EINVAL  patterns is no list of patterns
 *	ENOMEM
 */
TP_PUBLIC char *tp_hist_text(const char *patterns, bool json);

/*
 * Waits until what other threads are switching is done: calls of tp_enable, tp_disable, register and unregister that have
 * begun, the closing of a sink, the loading of a module. A regfunc (TRACE_EVENT_FN) is called before its event is on: the
 * thread that it has asked to record the program's state calls this first (docs/api.md, "A trace that begins late"). Not
 * in a regfunc or an unregfunc, which would wait for itself.
 */
TP_PUBLIC void tp_enable_wait(void);

#ifdef __cplusplus
}
#endif

#endif /* TP_TP_H */
