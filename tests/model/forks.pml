/* SPDX-License-Identifier: MIT */
/*
 * forks.pml - hits of threads that are in malloc (a signal handler has interrupted it there), forks, which wait for malloc
 * while they hold locks, and somebody who waits for readers; for the model checker Spin (test_model.py runs it):
 *
 *	hitter	hits the tracepoint, inside malloc or not; its first hit makes it known to liburcu, or is counted; its record may
 *		need a lock that forks hold
 *	forker	takes liburcu's locks, the others', then malloc's; and gives them back
 *	user	removes the probe, waits for readers, frees what the probe used; and registers it again
 *
 * Checked, by assertions and by Spin's search for deadlocks: nobody waits for ever, and no probe that is called was freed.
 *
 * Here liburcu's grace period is a wait until each known thread was seen outside of a read-side section: probes.pml has
 * how it does that. Not here: forks inside probes; the child, in which all of these are reset.
 *
 * How many: -DHITTERS, -DFORKERS, 1 or 2. And -DBREAK= one of these, each of which must be refused:
 */
#define FIRST_WAITS 1	   /* a first hit takes liburcu's lock, whatever a fork does */
#define FIRST_LEFT_IN 2	   /* the fork waits for none that is about to take it */
#define RECORD_WAITS 3	   /* a record takes the other lock, whatever a fork does */
#define RECORD_LEFT_IN 4   /* the fork waits for none that is about to take it */
#define NEVER_GIVES_UP 5   /* a record waits until the fork is through */
#define COUNT_IGNORED 6	   /* who waits for readers does not wait for hits that were counted */
#define ONE_COUNT 7	   /* he waits for those in one of the counts */
#define LATE_COUNT 8	   /* a hit is counted behind the load of the array */
#ifndef BREAK
#define BREAK 0
#endif

bool in_malloc, gp_lock, registry_lock, leaf_lock; /* malloc's; liburcu's two; one that readers take, too */
byte first_inside, first_closed; /* the latches: struct tp_fork_latch */
byte slow_inside, slow_closed;
byte unknown[2], now; /* hits that liburcu does not know */
bool known[2], reading[2]; /* threads */
bool funcs = true, freed; /* the probe is there; what it uses is not */

#define TAKE(lock) atomic { !lock -> lock = true }

/* tp_first_hit() */
inline first_hit()
{
	first_inside++;
	if
	:: !first_closed || BREAK == FIRST_WAITS ->
		TAKE(registry_lock);
		d_step { known[r] = true; registry_lock = false };
		first_inside--
	:: else ->
		first_inside--;
		count = now;
#if BREAK == LATE_COUNT
		at = funcs;
#endif
		unknown[count]++;
		counted = true
	fi
}

/* tp_fork_latch_enter(&tp_slow_ways) and what is behind it */
inline record()
{
	do
	:: slow_inside++;
		if
		:: !slow_closed || BREAK == RECORD_WAITS ->
			TAKE(leaf_lock);
			leaf_lock = false;
			slow_inside--;
			break
		:: else -> slow_inside--
		fi;
		if
		:: !slow_closed
		:: BREAK != NEVER_GIVES_UP -> break /* a second has passed */
		fi
	od
}

proctype hitter(byte r)
{
	bool mallocs, counted, at;
	byte count;

	do
	:: break
	:: if
	   :: TAKE(in_malloc); mallocs = true
	   :: true
	   fi;
	   if
	   :: !known[r] -> first_hit()
	   :: else
	   fi;
	   if
	   :: counted -> at = (BREAK == LATE_COUNT -> at : funcs)
	   :: else -> reading[r] = true; at = funcs
	   fi;
	   if
	   :: at -> assert(!freed);
		if
		:: true
		:: record()
		fi;
		assert(!freed)
	   :: else
	   fi;
	   if
	   :: counted -> unknown[count]--
	   :: else -> reading[r] = false
	   fi;
	   d_step { counted = false; at = false; count = 0; in_malloc = (mallocs -> false : in_malloc); mallocs = false }
	od
}

proctype forker()
{
	do
	:: break
	:: TAKE(gp_lock); TAKE(registry_lock);
	   first_closed++;
	   if
	   :: first_inside && BREAK != FIRST_LEFT_IN ->
		d_step { registry_lock = false; gp_lock = false };
		!first_inside;
		TAKE(gp_lock); TAKE(registry_lock)
	   :: else
	   fi;
	   slow_closed++;
	   if
	   :: BREAK == RECORD_LEFT_IN
	   :: BREAK != RECORD_LEFT_IN -> !slow_inside
	   fi;
	   TAKE(leaf_lock);
	   TAKE(in_malloc);
	   in_malloc = false;
	   leaf_lock = false;
	   slow_closed--;
	   registry_lock = false;
	   gp_lock = false;
	   first_closed--
	od
}

#define OUTSIDE(r) (!known[r] || !reading[r])

/* Liburcu waits with the registry's lock given back. */
inline wait_for(r)
{
	do
	:: TAKE(registry_lock);
		if
		:: OUTSIDE(r) -> registry_lock = false; break
		:: else -> registry_lock = false; OUTSIDE(r)
		fi
	od
}

proctype user()
{
	do
	:: break
	:: funcs = false;
	   TAKE(gp_lock);
	   wait_for(0);
	   wait_for(1);
	   gp_lock = false;
#if BREAK == ONE_COUNT
	   if
	   :: unknown[now] -> now = 1 - now; !unknown[1 - now]
	   :: else
	   fi;
#elif BREAK != COUNT_IGNORED
	   if
	   :: unknown[0] -> now = 1; !unknown[0]
	   :: else
	   fi;
	   if
	   :: unknown[1] -> now = 0; !unknown[1]
	   :: else
	   fi;
#endif
	   freed = true;
	   freed = false;
	   funcs = true
	od
}

init
{
	atomic {
		run user();
		run forker();
#if FORKERS == 2
		run forker();
#endif
#if HITTERS == 2
		run hitter(1);
#endif
		run hitter(0) }
}
