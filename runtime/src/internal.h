/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the runtime's files need of each other.
 *
 * Locks, in the order in which they may nest:
 *
 *	the loader's            (held where constructors and destructors run; so by tp_module_load and unload)
 *	liburcu's own           (taken by fork and by grace periods)
 *	  tp_events_lock        module.c, events.c, enable.c: modules, events, sinks
 *	    tp_registry_lock    registry.c, probes.c, site.c: names, probe arrays, sites
 *	      LTTng's           lttng.c; also taken by threads of its own
 *	      a sink's own      text.c, users': taken in readers too; in text.c behind
 *	                        its FILE's, which a fork only tries to take
 *	        tp_ctf_lock     ctf.h: who holds a sink's own may call what is traced (write ...)
 *	        tp_stats_lock   stats.h; nothing that may be traced is called with one of the two
 *
 * Nobody waits for a grace period with one of them held: a reader, which the
 * grace period waits for, may be waiting for that very lock.
 */
#ifndef TP_INTERNAL_H
#define TP_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/module.h>
#include <tp/sink.h>
#include <tp/tracepoint.h>

/* For what a signal handler of the same thread may see: the compiler keeps the order, the processor does anyway. */
#define tp_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* What the hot path hardly ever calls: inlined, its frame and its registers would be paid for by each record. */
#define TP_COLD __attribute__((noinline, cold))

#define TP_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/*
 * ThreadSanitizer's, in programs that are built with it: it can't see into
 * liburcu, nor into this library where that is built without it.
 */
TP_PUBLIC extern void __tsan_acquire(void *address) __attribute__((weak));
TP_PUBLIC extern void __tsan_release(void *address) __attribute__((weak));

/* Event ids are below it; 0 is none. */
#define TP_NR_IDS 65536u

/* FNV-1a, of names. */
static inline uint32_t tp_hash(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* ---- memory.c ---- */

/* malloc, but for the tests, which make it fail. */
extern void *(*tp_malloc)(size_t size);

/* ---- complain.c ---- */

/* One line on stderr, by one write: "tp: " goes in front, the newline behind. Safe in signal handlers, keeps errno. */
void tp_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- lock.c ---- */

/*
 * A mutex whose holder can't be cancelled: what it calls (open, write ...)
 * are cancellation points, and a cancelled holder would keep it for ever.
 */
struct tp_lock {
	pthread_mutex_t mutex;
	int cancel_state; /* the holder's, from before */
};

#define TP_LOCK_INIT {.mutex = PTHREAD_MUTEX_INITIALIZER}

void tp_lock(struct tp_lock *lock);
bool tp_try_lock(struct tp_lock *lock); /* false where it is taken, by this thread for one */
void tp_unlock(struct tp_lock *lock);

extern struct tp_lock tp_events_lock;
extern struct tp_lock tp_registry_lock;

/*
 * A stretch of code that this thread's signal handlers and cancellation
 * do not interrupt, and that leaves errno as it was. False where the thread
 * is in such a stretch already: something that it calls is traced itself, or
 * it was interrupted after all, by the handler of a SIGSEGV or the like. The
 * record is to be counted as lost then.
 */
struct tp_guard {
	sigset_t signals;
	int cancel_state;
	int error;
};

bool tp_guard_enter(struct tp_guard *guard);
void tp_guard_leave(const struct tp_guard *guard);

/* ---- sink.c ---- */

/* A sink's key that no slot ever has. */
#define TP_NO_KEY UINT64_MAX

/* If any are, and by what cause. path may be NULL. */
void tp_sink_tell_lost(struct tp_sink *sink, const char *path);

/* ---- thread.c: what is kept for each thread ---- */

/* The thread's id as gettid() says it, cached. */
int32_t tp_thread_id(void);

/* Makes thread_exit run when this thread exits. False in its very last destructors, where it would not run again. */
bool tp_thread_arm(void);

void tp_thread_start(void); /* once a process */
void tp_thread_after_fork_child(void);

/* ---- scratch.c ---- */

void tp_scratch_thread_exit(void);

/* ---- registry.c and probes.c ---- */

struct probe_array;

/* A name that a tracepoint or a probe has. */
struct tp_name {
	struct tp_name *next;           /* of the same hash */
	struct tracepoint *tracepoints; /* of the loaded modules, by their next */
	struct probe_array *probes;     /* NULL while there are none */
	unsigned int leaving;           /* tracepoints unlinked whose readers have not been waited for */
	const char *proto;
	char name[];
};

extern struct tp_module *tp_modules; /* module.c; under tp_registry_lock, as all of probes.c and site.c */

struct probe_array *tp_probe_array_new(unsigned int nr); /* needs no lock */
unsigned int tp_probes_count(const struct tp_name *name);
/* -EAGAIN: *spare must have room for one more than there are. Else it may have been used, and is NULL then. */
int tp_probes_add(struct tp_name *name, const struct tracepoint_func *probe, struct probe_array **spare);
int tp_probes_remove(struct tp_name *name, tp_probe_t func, void *data);
void tp_probes_remove_if(struct tp_name *name, bool (*condition)(tp_probe_t func, const void *priv),
			 const void *priv);
int tp_probes_replace(struct tp_name *name, tp_probe_t func, tp_probe_t by, void *data);
/* Leaves out removed elements; -EAGAIN: *spare must have room for as many as there are. */
int tp_probes_compact(struct tp_name *name, struct probe_array **spare);
bool tp_probes_any_removed(void);
tp_probe_t tp_probes_first(const struct tp_name *name);
/* What the tracepoint's regfunc returned, if it has refused the probes that there are. */
int tp_probes_link(struct tp_name *name, struct tracepoint *tp);
void tp_probes_unlink(struct tp_name *name, struct tracepoint *tp);
void tp_probes_fail(struct tracepoint *tp);
void tp_probes_abandon(struct tp_name *name);
/* Arrays that only readers need, and that are freed when these are gone. */
bool tp_probes_any_retired(void);
struct probe_array *tp_probes_take_retired(void);
void tp_probes_free(struct probe_array *list); /* needs no lock */

/* Returns when all readers of now are gone. Not under a lock, nor in a reader, which would wait for itself. */
void tp_wait_for_readers(void);

/*
 * Like tp_probe_register() and tp_probe_unregister(); where now is false, sites
 * are switched by the next tp_registry_switch(), or by whoever comes before.
 * That returns -EPERM as long as some can't be switched on.
 */
int tp_registry_add(const char *name, const char *proto, const struct tracepoint_func *probe, bool now);
int tp_registry_remove(const char *name, tp_probe_t func, void *data, bool now);
int tp_registry_switch(void);
/* Puts by in the place of func, for the same data. -ENOENT: nothing has changed. */
int tp_registry_replace(const struct tracepoint *tp, tp_probe_t func, tp_probe_t by, void *data);
/* Waits for readers, where something is left over that only they need. In a reader it does nothing. */
void tp_registry_settle_probes(void);

void tp_registry_abandon(void); /* all off, in a forked child */

/* ---- gate.c ---- */

/*
 * Whether calls of the tracepoint's probes go through a gate, or (NULL) do not. What
 * is closed is, from here on, and with hits that have begun already from then on.
 */
void tp_gate_set(struct tracepoint *tp, const int *gate);

/* ---- site.c ---- */

/* Looks where the sites of each tracepoint are. */
void tp_sites_load(const struct tp_module *module);
/* The tracepoint's sites are to be switched to what its enabled says. */
void tp_sites_change(struct tracepoint *tp);
/* Switches the sites of all those. 0, or -EPERM: those of which some could not be switched on stay changed. */
int tp_sites_switch(void);
/*
 * The same where a module goes. At the end of the process sites stay as they are: they call no probes, and a
 * sandbox may kill whoever opens a file.
 */
void tp_sites_leave(void);
/* By their next_changed. */
struct tracepoint *tp_sites_changed(void);
unsigned int tp_sites_count(const struct tracepoint *tp);

/* ---- pattern.c: the lists of globs of tp_enable and tp_disable ---- */

struct tp_pattern;

/* NULL with *error set to -EINVAL or -ENOMEM; else *error is 0. */
struct tp_pattern *tp_pattern_new(const char *text, int *error);
void tp_pattern_free(struct tp_pattern *pattern);
/* full_name is "system:event". */
bool tp_pattern_matches(const struct tp_pattern *pattern, const char *full_name);
bool tp_pattern_same(const struct tp_pattern *a, const struct tp_pattern *b);

/* ---- events.c: under tp_events_lock ---- */

struct group;

extern bool tp_events_without_id; /* there are some: their writers must not be trusted */

/* The first of the module's events, then the next: its own, then those of its markers, some of them more than once. */
struct tp_event *tp_event_at(const struct tp_module *module, size_t *i);
void tp_events_load(struct tp_module *module);
/* Takes one event away: the group that it has left, for tp_sinks_follow. NULL where it stays, or was refused. */
const struct group *tp_event_unload(struct tp_event *event);
void tp_events_settle(struct tp_module *module);

/* ---- enable.c: under tp_events_lock, but for tp_sink_used ---- */

/* Tells the sinks of a module's events, and attaches those that are enabled. */
void tp_sinks_load(struct tp_module *module);
/* An event has left the group: off goes its writer, on another's of the group. */
void tp_sinks_follow(const struct group *group);
/* Whether any event was ever attached to the sink. */
bool tp_sink_used(struct tp_sink *sink);
void tp_sinks_before_fork(void);
void tp_sinks_after_fork(bool child);

/* ---- clock.c: what the records' times are counted in ---- */

/* The counter and another clock at the same moment. */
struct tp_clock_reading {
	uint64_t ticks;
	uint64_t ns;       /* the other's */
	uint64_t width;    /* ticks that the moment took */
	uint64_t slept_ns; /* by the machine until then; at the ends of the baseline */
};

/* Time of a tick: offset_s + (offset + tick) / frequency seconds from the epoch, CLOCK_REALTIME of the opening. */
struct tp_clock {
	bool counter; /* tp_read_counter() has the ticks; else they are nanoseconds of CLOCK_MONOTONIC */
	const char *name; /* an identifier, as CTF wants it */
	const char *description;
	uint64_t frequency; /* ticks a second */
	int64_t offset_s;   /* tick 0: negative where a counter began that was not 0 */
	uint64_t offset;    /* ticks, fewer than frequency */

	/* clock.c's own */
	struct tp_clock_reading epoch; /* with CLOCK_REALTIME: what does not move when it is refined */
	struct tp_clock_reading first; /* with CLOCK_MONOTONIC: the beginning of the baseline */
	uint64_t baseline_ns;          /* 0 where the frequency is known exactly */
	uint64_t width;                /* both of its ends' */
};

/* The first reading, of which the frequency will be found. Once a process; under a microsecond. */
void tp_clock_start(void);
/* Chooses and calibrates: the first 2 ms of a process it may sleep. Never fails. */
void tp_clock_open(struct tp_clock *clock);
/*
 * A better frequency, where the baseline has at least doubled: true where the
 * clock has changed, by which times of the trace so far do. By one caller at a
 * time, while none has times converted. Safe in signal handlers.
 */
bool tp_clock_refine(struct tp_clock *clock);
uint64_t tp_clock_now(const struct tp_clock *clock); /* ticks */
uint64_t tp_clock_to_ns(const struct tp_clock *clock, uint64_t ticks); /* since the epoch */
/* For tests: sets the offset so that ticks are ns from the epoch; ticks a second where so many were in ns. */
void tp_clock_anchor(struct tp_clock *clock, uint64_t ticks, uint64_t ns);
uint64_t tp_clock_frequency(uint64_t ticks, uint64_t ns);

/* ---- ctf_stream.c ---- */

void tp_ctf_thread_exit(void);
void tp_ctf_before_fork(void);
void tp_ctf_after_fork(void);

/* ---- lttng.c: under tp_events_lock, in front of the sinks' own locks ---- */

void tp_lttng_before_fork(void);
void tp_lttng_after_fork_parent(void);
void tp_lttng_after_fork_child(void); /* under no lock */

/* ---- stats.c ---- */

void tp_stats_after_fork_child(void); /* under no lock */

/* ---- stats_block.c ---- */

void tp_stats_thread_exit(void);
void tp_stats_before_fork(void);
void tp_stats_after_fork(void);

/* ---- module.c ---- */

/*
 * Whether an event may hang on this tracepoint: on one of a module that was
 * loaded, or on what only says its name and prototype. Where not, that was said.
 */
bool tp_module_accepts(const struct tracepoint *tp);

/* For those who have nobody to tell: tracepoints whose sites can't be switched on stay off, and it says so. */
void tp_sites_switch_or_give_up(void);

/* The object that an address was loaded from: its base address, or NULL and "?". Takes the loader's lock. */
const void *tp_object_at(const void *address, const char **path);

/* ---- marker.c ---- */

/* In front of the name of a marker's tracepoint. */
#define TP_MARKER_PREFIX "marker:"

/* How a message speaks of a tracepoint, or of a marker. */
struct tp_wording {
	const char *kind;        /* "tracepoint" */
	const char *proto;       /* "prototype" ... */
	const char *open, *close; /* ... between these */
	const char *remedy;
	size_t prefix;           /* bytes of the name that are not for people */
};

const struct tp_wording *tp_wording_of(const char *name);
bool tp_is_marker(const struct tracepoint *tp);

/* Prepares the markers of a module that comes, before one of them can be on; each is in its array once from then on. */
void tp_markers_load(struct tp_module *module);
/* Of a marker that was not refused; NULL where there is none. */
struct tp_event *tp_marker_event(const struct tracepoint *tp);

/* ---- marker_event.c: under tp_events_lock, but for what sinks call ---- */

struct marker;

/* The event of the marker's name and format, made where it is new; NULL: there is none, and it was said why. */
struct tp_event *tp_marker_event_of(const struct marker *marker);
/* The event has an id, by which its records are known. */
void tp_marker_remember_id(const struct tp_event *event);

/* ---- process.c ---- */

/* What the runtime needs once a process, however it is entered. */
void tp_start(void);

/* Whether the process is at its end; where tp_note_exit() was called, which is when a module or a probe comes. */
bool tp_exiting(void);
void tp_note_exit(void);

/* In front of and behind liburcu's wait for readers: forks must know. */
void tp_grace_period_begin(void);
void tp_grace_period_end(void);

/*
 * In a child that was forked inside a probe, during a grace period: liburcu's
 * locks are those of a thread that is not there, and tracing is off.
 */
bool tp_forked_alone(void);

/* ---- text_file.c ---- */

/* A text sink on stderr, stdout or the file of that name, which is appended to; NULL with errno set. */
struct tp_sink *tp_text_file_sink(const char *name);

/*
 * fd, or another for it that is none of the standard numbers, should they be free: the program would write
 * its messages there. Negative, with errno set, where fd is or there is no other.
 */
int tp_above_standard(int fd);

/* ---- output.c ---- */

/*
 * The sink that KIND:ARGUMENT of TP_OUTPUT says; NULL, and it was said why.
 * written: at the end of the process, there is nothing to finish.
 */
struct tp_sink *tp_output_open(const char *output, bool *written);

/* ---- options.c: "mode=flight,size=64M", as sinks take them ---- */

struct tp_option {
	const char *name;
	bool (*parse)(const char *value, void *wishes); /* false where the value is wrong */
	const char *allowed;                            /* values; NULL for an option that is its name alone */
};

struct tp_options {
	const char *subject;     /* "CTF trace" */
	const char *consequence; /* of a mistake: "there is no trace" */
	const struct tp_option *known;
	size_t nr;
};

/* Parses each into wishes. False, after saying what is wrong with which of them in name; NULL and "" are no options. */
bool tp_options_parse(const struct tp_options *options, const char *text, const char *name, void *wishes);

/* "64K"; false where it is no such number, or longer than 64 bits. */
bool tp_options_number(const char *text, const char *suffixes, uint64_t *value);

/* ---- file.c; errors are errno values ---- */

/* False where posix_fallocate or write would be answered with SIGXFSZ. */
bool tp_file_size_allowed(size_t size);

/* Writes all of it. 0 or an error. */
int tp_file_write(int fd, const void *data, size_t len);

/* ---- helper_thread.c: a sink's own thread ---- */

struct tp_helper_thread {
	pthread_t id;
	const char *name;             /* no more than 15 characters */
	void (*work)(void *argument); /* called again and again, whenever there may be something to do */
	void *argument;
	uint64_t interval_ns; /* it is called that often, too; 0: only when it is woken */
	bool stopping;
	uint32_t wakes;
};

/* 0, or an errno value: there is none. */
int tp_helper_thread_start(struct tp_helper_thread *helper);
/* There is something to do. Anywhere, and at any time. */
void tp_helper_thread_wake(struct tp_helper_thread *helper);
/* Ends it, when the work that it is at is done, and waits for that. */
void tp_helper_thread_stop(struct tp_helper_thread *helper);

/* ---- env.c ---- */

void tp_env_start(void);

/* ---- buffer.c: a text that grows ---- */

struct tp_buffer {
	char *text; /* NUL-terminated once something was printed */
	size_t len, size;
	bool failed; /* no memory; text is incomplete */
};

void tp_buffer_printf(struct tp_buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for so many bytes behind len. False: no memory, and so it has failed. */
bool tp_buffer_grow(struct tp_buffer *b, size_t more);
void tp_buffer_free(struct tp_buffer *b);

#endif /* TP_INTERNAL_H */
