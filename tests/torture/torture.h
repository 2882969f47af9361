/* SPDX-License-Identifier: MIT */
/*
 * torture.h - what the actors of the torture test share.
 *
 *	torture.c    the options, the watchdog, the end
 *	points.c     the tracepoints as a table; listeners: probes that check how they are called
 *	hitters.cpp  the same call sites in C++
 *	probes.c     hitters, registrars, registrars inside probes, readers, walkers
 *	modules.c    modules with sites (visitor.c) and with probes (guest.c), loaded and unloaded
 *	processes.c  forks, outside and inside probes
 *	threads.c    signals, threads that live shortly
 *	sinks.c      tp_enable and tp_disable
 *	malloc.c     a malloc that hits a tracepoint; linked into one variant only
 */
#ifndef TORTURE_H
#define TORTURE_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- The tracepoints ---- */

/* Those of the program, and those of modules, which the program can't hit. */
#define OWN_POINTS(X) X(torture_plain) X(torture_cond) X(torture_fn) X(torture_malloc) X(torture_bare)
#define VISITOR_POINTS(X) X(visitor_plain) X(visitor_cond)

enum point {
#define X(name) POINT_##name,
	OWN_POINTS(X) NR_OWN_POINTS,
	POINT_before_visitors = NR_OWN_POINTS - 1,
	VISITOR_POINTS(X) NR_POINTS
#undef X
};

/* What hits a tracepoint, in the top byte of its first argument; a token of a thread's own has OWN_HIT there. */
enum hit { PLAIN_HIT = 1, OWN_HIT, NESTED_HIT, SIGNAL_HIT, EXIT_HIT, MALLOC_HIT };

static inline unsigned long argument(enum hit kind, unsigned long rest)
{
	return ((unsigned long)kind << 56) | (rest & ((1ul << 56) - 1));
}

/* The third argument of each hit: of another tracepoint or other arguments it is another. */
static inline unsigned long checksum(enum point point, unsigned long a, unsigned long b)
{
	return (a * 0x9e3779b97f4a7c15ul) ^ ((b << 17 | b >> 47) + (unsigned long)point * 0xc2b2ae3d27d4eb4ful);
}

/* Whether the tracepoint's condition is true. */
static inline bool passes(enum point point, unsigned long b)
{
	return (point != POINT_torture_cond && point != POINT_visitor_cond) || (b & 1);
}

/* Hits one of the program's, in a function of C or of C++. */
void hit(enum point point, unsigned long a, unsigned long b);
void hit_from_cxx(enum point point, unsigned long a, unsigned long b, unsigned long check);
void hit_any(enum hit kind);
bool is_enabled(enum point point);

/* ---- Who does what ---- */

/* What is counted; all are in the summary. */
#define COUNTS(X)                                                                                                     \
	X(hits) X(calls) X(nested) X(recursed) X(registered) X(removed) X(own) X(refused) X(inside) X(left) X(deadlk) \
	X(visits) X(guests) X(forgotten) X(forks) X(forks_inside) X(children) X(grandchildren) X(dark) X(signals)     \
	X(signals_nested) X(threads) X(exit_hits) X(asked) X(walked) X(switched) X(records) X(mallocs)

enum count {
#define X(name) COUNT_##name,
	COUNTS(X) NR_COUNTS
#undef X
};

/* A thread, or several one after another. In memory that children share, so that what they do is counted, too. */
struct worker {
	const char *actor;
	unsigned int number; /* of all workers */
	unsigned int index;  /* of the actor's */
	bool running;
	const char *where;  /* a literal, for the watchdog */
	unsigned long beat; /* its progress */
	pid_t tid;          /* for signals; 0 while there is no thread */
	unsigned long tokens;
	uint64_t random[2]; /* outside and inside signal handlers */
	unsigned long counts[NR_COUNTS];
};

#ifndef __cplusplus

#include <tp/tracepoint.h>

extern __thread struct worker *me;
extern __thread unsigned int in_signal, in_malloc, in_probe;
/* Of a child; of one that came from inside a probe, and may go on without tracing. */
extern bool in_child, may_be_dark;

/* Options, see torture.c. */
extern unsigned long opt_stall, opt_forget, opt_child_allocates, opt_child_after_probe, opt_alternate, opt_text;

static inline void count_by(enum count what, unsigned long n)
{
	if (me)
		__atomic_fetch_add(&me->counts[what], n, __ATOMIC_RELAXED);
}

static inline void count(enum count what)
{
	count_by(what, 1);
}

unsigned long total(enum count what);

/* Something goes on, namely what the literal says. */
static inline void at(const char *where)
{
	__atomic_store_n(&me->where, where, __ATOMIC_RELAXED);
	__atomic_fetch_add(&me->beat, 1, __ATOMIC_RELAXED);
}

/* By -DTORTURE_SANITIZER=...: 0 none, 1 AddressSanitizer, 2 ThreadSanitizer. */
#ifndef TORTURE_SANITIZER
#define TORTURE_SANITIZER 0
#endif
#define UNDER_SANITIZER (TORTURE_SANITIZER != 0)
#define UNDER_THREAD_SANITIZER (TORTURE_SANITIZER == 2)

bool stopping(void);
unsigned long rnd(unsigned long below);
/* An argument that only this thread hits with, and only until it asks for the next. */
unsigned long new_token(void);
void nap(unsigned int microseconds);
void dawdle(void);

/* For a thread's first and last moment. */
void worker_begin(struct worker *worker);
void worker_end(void);

/* A worker that is no actor's thread of main()'s: of another thread, or of a child. */
struct worker *worker_new(const char *actor);

/* Prints the message and what each worker does, and aborts. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(condition, ...) ((condition) ? (void)0 : die(__VA_ARGS__))

/* ---- Listeners ---- */

enum listener_kind {
	LISTEN,  /* only checks */
	NEST,    /* hits other tracepoints */
	RECURSE, /* hits its own */
	MEDDLE,  /* registers and removes others */
	LEAVE,   /* removes itself */
	FORK,    /* forks, when it is called with its token */
	NR_KINDS
};

/* A probe's data. All but the last few stay as they are until it is buried. */
struct listener {
	unsigned int magic;
	enum point point;
	enum listener_kind kind;
	int prio;
	unsigned int func; /* which probe function it was registered with */
	unsigned long token;
	unsigned long own;   /* calls with the token; its thread's own */
	unsigned int *order; /* a counter for */
	unsigned int place;  /* the place among those that the same hit called */
	enum removal { NOT_YET, BEGUN, DONE } removal; /* of a LEAVE */
	struct listener *next;
};

struct listener *listener_new(enum point point, enum listener_kind kind, unsigned long token);
/* By pointer, by name, or by the generated functions. */
int listener_add(struct listener *listener);
int listener_remove(struct listener *listener);
/* Whether it is the caller, the LEAVE itself or its owner, who removes it. */
bool begin_removal(struct listener *listener);
/* Poisons and frees it: nobody must be in it. */
void listener_bury(struct listener *listener);
/* Leaves it to whoever waits for readers next, as it can't be done inside a probe. */
void listener_leave(struct listener *listener);
/* Waits for readers, and buries those that were left. */
void synchronize(void);
/* What is left at the end of a thread that was in MEDDLE's. */
void meddler_end(void);
void bury_all(void);

/* Registers some, hits them, removes them. Not exact: in a child in which tracing may be off. */
void session(bool exact);

/* ---- Actors: what one round of each is ---- */

void hitter(void);
void registrar(void);
void meddler(void);
void reader(void);
void walker(void);
void visitor(void);
void guest(void);
void forker(void);
void signaller(void);
void churner(void);
void switcher(void);

void fork_inside(struct listener *listener);
void threads_start(void);
void stack_begin(void);
void stack_end(void);
bool any_worker_tid(pid_t *tid);

#endif /* __cplusplus */

#ifdef __cplusplus
}
#endif

#endif /* TORTURE_H */
