/* SPDX-License-Identifier: MIT */
/*
 * probes.pml - registration, removal and grace periods of one tracepoint, for the model checker Spin, which
 * tries every order in which these can take their steps (test_model.py runs it):
 *
 *	reader	a thread that hits the tracepoint, again and again; its probe may take the registry's lock (as one
 *		does that registers) or hit the tracepoint too (as a signal handler may, in it)
 *	user	registers its probe, unregisters it, synchronizes, frees the probe's data; again and again, until
 *		it leaves the probe there
 *	NOBODY	a user without a probe: only synchronizes
 *
 * Checked, by assertions, by Spin's search for deadlocks, and by the ltl at the end:
 *
 *	- no array is read that is free; no probe is called with data that is free, or another probe's
 *	- a hit that begins after register has returned calls the probe; one that begins after unregister has
 *	  returned doesn't
 *	- nobody waits for ever; and synchronize returns, however often readers come back
 *
 * A step is a load or a store that others may see; stores that C leaves unordered come in any order. Not here:
 * modules that come and go, priorities (where in its copy a new element stands), the patching of code; and forks: forks.pml.
 *
 * How many there are: -DREADERS, 1 or 2; -DUSERS, 1 or 2; -DNOBODYS and -DNESTING, 0 or 1. And -DBREAK= one of
 * these, each of which must be refused, or the model would prove nothing:
 */
#define NO_WAIT 1	     /* arrays and data are freed at once */
#define ONE_PHASE 2	     /* a grace period is a flip and one wait */
#define PHASE_IGNORED 3	     /* it waits for readers that have come after the flip, too */
#define READER_BARRIER 4     /* the array is loaded before the read-side section can be seen */
#define RELEASE 5	     /* no barrier (B): the array is published before its elements */
#define TOMBSTONE_DATA 6     /* a removed element loses its data */
#define LATE_REMOVAL 7	     /* unregister returns before the removal can be seen */
#define LATE_UNPUBLISH 8     /* the last probe's array is unpublished behind the grace period */
#define LATE_TAKE 9	     /* so is the list of retired arrays taken */
#define LATE_KEY 10	     /* the key is turned off behind the lock */
#define WAIT_UNDER_LOCK 11   /* the registry's lock is held in the grace period */
#define EARLY_FREE 12	     /* the user doesn't wait before it frees data */
#ifndef BREAK
#define BREAK 0
#endif
#define BIT(n) (1 << (n))

/* ---- The tracepoint and its probe arrays ---- */

/* Probes' functions, and their data, are their user's number, 1 or 2; or ... */
#define NOBODY 0
#define REMOVED 3 /* TP_REMOVED */
#define JUNK 4 /* what is in freed memory */

typedef probe_array {
	bool used; /* not free */
	byte func[2] = JUNK; /* up to a NOBODY */
	byte data[2]
};

#define NONE 0 /* NULL: an array without live elements */
probe_array array[5]; /* more are never needed at a time: Spin would complain of the index */
byte funcs; /* tp->funcs */
bool key; /* tp->enabled, or the static key */
byte retired; /* the list in probes.c; each array is a BIT() */
bool tp_registry_lock;
bool live[3]; /* the user's data, from register until it is freed */

/* What users may rely on: whom a hit has to call, and whom it may call. A user is a BIT(). */
byte registered; /* from the return of register until the call of unregister */
byte possible; /* from the call of register until the return of unregister */
byte must[4], may[4]; /* the same for each hit that runs, see HIT */

/* ---- liburcu: urcu/static/urcu-bp.h, urcu-bp.c ---- */

#define NEST 3 /* URCU_BP_GP_CTR_NEST_MASK */
#define PHASE 4 /* URCU_BP_GP_CTR_PHASE */
byte gp_ctr = 1; /* urcu_bp_gp.ctr */
byte ctr[2]; /* urcu_bp_reader->ctr */
bool rcu_gp_lock;

/* urcu_bp_reader_state() */
#define INACTIVE(r) (!(ctr[r] & NEST))
#define CURRENT(r) (!INACTIVE(r) && (ctr[r] & PHASE) == (gp_ctr & PHASE) && BREAK != PHASE_IGNORED)

/* Until each reader of from was seen inactive, or current, which adds it to current. */
inline wait_for_readers()
{
	do
	:: d_step { (from & BIT(0)) && INACTIVE(0) -> from = from - BIT(0) }
	:: d_step { (from & BIT(1)) && INACTIVE(1) -> from = from - BIT(1) }
	:: d_step { (from & BIT(0)) && CURRENT(0) -> from = from - BIT(0); current = current + BIT(0) }
	:: d_step { (from & BIT(1)) && CURRENT(1) -> from = from - BIT(1); current = current + BIT(1) }
	:: atomic { !from -> break }
	od
}

/* Two phases: a reader may load gp_ctr, and store it as its own only when a whole grace period has passed. */
#define ALL (BREAK == NO_WAIT -> 0 : BIT(READERS) - 1)
inline synchronize_rcu()
{
	d_step { !rcu_gp_lock -> rcu_gp_lock = true; from = (BREAK == ONE_PHASE -> 0 : ALL) };
	wait_for_readers();
	atomic { gp_ctr = gp_ctr ^ PHASE; from = (BREAK == ONE_PHASE -> ALL : current); current = 0 };
	wait_for_readers();
	atomic { current = 0; rcu_gp_lock = false }
}

/* ---- A hit: the generated __traceiter_X(), and tp/read.h ---- */

#define HIT (2 * r + in)

proctype reader(byte r)
{
	byte in; /* 1 in a hit inside a probe, else 0; what follows is there for both */
	byte at[2], n[2], func[2], data[2];
	byte phase;

	do
	:: break /* the thread ends: who waits for something then, waits for ever */
	:: atomic { skip;
hit:		must[HIT] = registered; may[HIT] = possible;
		at[in] = (BREAK == READER_BARRIER -> funcs : NONE);
		if
		:: key
		:: else -> goto off
		fi };
	   if /* _urcu_bp_read_lock(): it ends with a barrier, or synchronize_rcu begins with one for all threads */
	   :: atomic { INACTIVE(r) -> phase = gp_ctr }; d_step { ctr[r] = phase; phase = 0 }
	   :: d_step { !INACTIVE(r) -> ctr[r] = ctr[r] + 1 }
	   fi;
	   at[in] = (BREAK == READER_BARRIER -> at[in] : funcs); /* tp_read_lock(): barrier (A) */
	   do
	   :: atomic { at[in] == NONE || n[in] == 2 -> break }
	   :: d_step { at[in] != NONE && n[in] < 2 -> /* tp_probe_func() */
		assert(array[at[in]].used); func[in] = array[at[in]].func[n[in]] };
		if
		:: atomic { func[in] == NOBODY -> break }
		:: d_step { func[in] == REMOVED -> n[in] = n[in] + 1; func[in] = 0 }
		:: d_step { func[in] != NOBODY && func[in] != REMOVED ->
				assert(array[at[in]].used); data[in] = array[at[in]].data[n[in]];
				assert(func[in] == data[in]);
				assert(live[data[in]]);
				assert(may[HIT] & BIT(data[in]));
				must[HIT] = must[HIT] & ~BIT(data[in]) };
			if /* in the probe */
			:: true
			:: true -> !tp_registry_lock
			:: atomic { in < NESTING -> in = 1; goto hit };
back:				true /* the probe goes on for a while */
			fi;
			atomic { assert(live[data[in]]); n[in] = n[in] + 1; func[in] = 0; data[in] = 0 }
		fi
	   od;
	   /* tp_read_unlock(); liburcu leaves the phase in ctr, where nobody looks at it */
	   atomic { ctr[r] = (in == 1 -> ctr[r] - 1 : 0); n[in] = 0; func[in] = 0;
off:		assert(!must[HIT]);
		may[HIT] = 0; at[in] = 0;
		if
		:: in == 1 -> in = 0; goto back
		:: else
		fi }
	od
}

/* ---- probes.c, registry.c ---- */

#define LIVE(n) (array[funcs].func[n] == 1 || array[funcs].func[n] == 2)
#define IS_REMOVED(n) (array[funcs].func[n] == REMOVED)
#define HAS_REMOVED ((IS_REMOVED(0) && LIVE(1)) || (LIVE(0) && IS_REMOVED(1)))

inline array_new()
{
	new = 1;
	do
	:: array[new].used -> new++
	:: else -> array[new].used = true; break
	od
}

/* What is live of the old array, and the user's probe, if there is a user. */
inline array_fill(user)
{
	for (i : 0 .. 1) {
		if
		:: LIVE(i) -> array[new].func[nr] = array[funcs].func[i]; array[new].data[nr] = array[funcs].data[i]; nr++
		:: else
		fi };
	if
	:: user != NOBODY -> array[new].func[nr] = user; array[new].data[nr] = user; nr++
	:: else
	fi;
	for (i : nr .. 1) { array[new].func[i] = NOBODY };
	i = 0; nr = 0
}

/* publish_at()'s store of tp->funcs; the list is written under the lock. */
inline publish(it)
{
	retired = retired | (funcs == NONE -> 0 : BIT(funcs));
	funcs = it
}

/* tp_probes_add(), and then publish_at(): three stores, unordered but for barrier (B). */
inline register(user)
{
	d_step { !tp_registry_lock -> tp_registry_lock = true;
		live[user] = true;
		possible = possible + BIT(user);
		for (i : 0 .. 3) { may[i] = may[i] | BIT(user) };
		i = 0;
		array_new(); fill = true; point = true; turn = true };
	do
	:: d_step { fill -> array_fill(user); fill = false }
	:: d_step { point && (!fill || BREAK == RELEASE) -> publish(new); point = false }
	:: d_step { turn -> key = true; turn = false }
	:: atomic { !fill && !point && !turn -> break }
	od;
	atomic { new = NONE; registered = registered + BIT(user); tp_registry_lock = false }
}

/* tp_probes_remove(); where it was the last, the two stores of publish_at() need no order. */
#define IS_LAST (!(LIVE(0) && LIVE(1)) && BREAK != LATE_UNPUBLISH)
inline unregister(user)
{
	d_step { !tp_registry_lock -> tp_registry_lock = true;
		registered = registered - BIT(user);
		for (i : 0 .. 3) { must[i] = must[i] & ~BIT(user) };
		i = (array[funcs].func[0] == user -> 0 : 1);
		possible = (BREAK == LATE_REMOVAL -> possible & ~BIT(user) : possible) };
	if
	:: d_step { !IS_LAST -> array[funcs].func[i] = REMOVED;
		array[funcs].data[i] = (BREAK == TOMBSTONE_DATA -> NOBODY : user) }
	:: d_step { IS_LAST -> publish(NONE) }; key = false
	:: d_step { IS_LAST -> key = false }; d_step { publish(NONE) }
#if BREAK == LATE_KEY
	:: d_step { IS_LAST -> publish(NONE); tp_registry_lock = false }; key = false;
		d_step { !tp_registry_lock -> tp_registry_lock = true }
#endif
	fi;
	atomic { i = 0; possible = possible & ~BIT(user); tp_registry_lock = false; live[user] = (BREAK != EARLY_FREE) }
}

#define TAKE_RETIRED d_step { !tp_registry_lock -> list = (BREAK == LATE_TAKE -> 0 : retired); \
	retired = retired - list; tp_registry_lock = (BREAK == WAIT_UNDER_LOCK) }

/* tracepoint_synchronize_unregister(), and then the user frees its data. */
inline synchronize(user)
{
	if /* compact(): readers see one store of it */
	:: d_step { !tp_registry_lock && HAS_REMOVED -> array_new(); array_fill(NOBODY); publish(new); new = NONE };
		TAKE_RETIRED
	:: TAKE_RETIRED /* there is no memory, or nothing to leave out */
	fi;
	synchronize_rcu();
	d_step {
#if BREAK == LATE_TAKE
		list = retired; retired = 0;
#elif BREAK == WAIT_UNDER_LOCK
		tp_registry_lock = false;
#elif BREAK == LATE_UNPUBLISH
		if
		:: !tp_registry_lock && !LIVE(0) && !LIVE(1) -> publish(NONE); list = list | retired; retired = 0; key = false
		:: else
		fi;
#endif
		for (i : 1 .. 4) {
			if
			:: list & BIT(i) -> array[i].used = false;
				array[i].func[0] = JUNK; array[i].func[1] = JUNK; array[i].data[0] = 0; array[i].data[1] = 0
			:: else
			fi };
		i = 0; list = 0;
		live[user] = false }
}

proctype user(byte k)
{
	byte new, i, nr, list, from, current;
	bool fill, point, turn;

	do
	:: if
	   :: k == NOBODY
	   :: k != NOBODY -> register(k);
		if
		:: break
		:: unregister(k)
		fi
	   fi;
	   synchronize(k)
	od
}

init
{
	atomic {
		run user(1);
#if USERS == 2
		run user(2);
#endif
#if NOBODYS == 1
		run user(NOBODY);
#endif
#if READERS == 2
		run reader(1);
#endif
		run reader(0) }
}

ltl synchronize_returns { [] (rcu_gp_lock -> <> !rcu_gp_lock) }
