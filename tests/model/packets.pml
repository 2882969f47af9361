/* SPDX-License-Identifier: MIT */
/*
 * packets.pml - a stream's packets, files that are written, saved and written again, and whoever reads the directory at any
 * moment, be it after kill -9; for the model checker Spin (test_model.py runs it):
 *
 *	recorder	takes an empty file or makes one, gives it a head and a name, records, and leaves it to the helper
 *	helper		copies it into a file of its own, which takes the name; then the file is empty (packet.c, tp_ctf_packet_save())
 *	reader		finds each packet whole: its name leads to its head, and to all that was recorded before
 *	late reader	has opened one then, and reads it at any time after that (watch.c)
 *
 * The states of a file are those of ring/packet.h. Not here: full disks, where the helper leaves the file as it is.
 *
 * How many packets: -DPACKETS. And -DBREAK= one of these, each of which must be refused:
 */
#define NAME_FIRST 1	   /* a file has its name before it has its head */
#define EARLY_EMPTY 2	   /* a file is empty before the copy has its name */
#define EARLY_RENAME 3	   /* the copy has the name before it has the events */
#define EARLY_FULL 4	   /* a file is left to the helper while its thread records into it */
#define NO_COPY 5	   /* a file is empty while its name leads to it */
#define NO_WATCH 6	   /* a file that somebody has opened is written again */
#define EARLY_WATCH 7	   /* nobody asks after the copy has its name */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef PACKETS
#define PACKETS 4
#endif

#define FILES 6
#define NONE 7
#define EVENTS 2 /* of a packet */

mtype = {UNUSED, EMPTY, CURRENT, CLOSED, COPY, LEFT};
mtype state[FILES] = UNUSED;
byte head[FILES], events[FILES]; /* which packet it is; how many are content */
byte name[PACKETS + 1] = NONE;   /* the file that it leads to */
byte recorded[PACKETS + 1];      /* so many were committed */
bool opened[FILES];              /* by the late reader */
bool over;                       /* nothing more is recorded */
byte queue = NONE;               /* what was left to the helper; the queue has one place here */

/* A file of this state becomes another's. */
inline take(file, from, to)
{
	d_step {
		file = 0;
		do
		:: file < FILES && state[file] != from -> file++
		:: else -> break
		od;
		if
		:: file < FILES -> state[file] = to
		:: else -> file = NONE
		fi
	}
}

active proctype recorder()
{
	byte packet = 1, file, old = NONE;

	do
	:: packet <= PACKETS ->
		take(file, EMPTY, CURRENT);
		if
		:: file == NONE -> take(file, UNUSED, CURRENT)
		:: else
		fi;
		assert(file != NONE);
#if BREAK == NAME_FIRST
		name[packet] = file;
#endif
		d_step { head[file] = packet; events[file] = 0 };
		name[packet] = file;
#if BREAK != EARLY_FULL
		if
		:: old != NONE -> atomic { queue == NONE -> state[old] = CLOSED; queue = old }
		:: else
		fi;
#else
		atomic { queue == NONE -> state[file] = CLOSED; queue = file };
#endif
		events[file] = 1;
		recorded[packet] = 1;
		events[file] = EVENTS;
		recorded[packet] = EVENTS;
		old = file;
		packet++
	:: else -> break
	od;
	over = true
}

active proctype helper()
{
	byte file, copy;
	bool was_opened;

	do
	:: atomic { queue != NONE -> file = queue; queue = NONE };
		if
		:: skip; /* there is no room: it stays as it is */
		:: true ->
#if BREAK == NO_COPY
			state[file] = EMPTY;
#endif
			take(copy, UNUSED, COPY);
			if
			:: copy == NONE
			:: else ->
#if BREAK == EARLY_EMPTY
				state[file] = EMPTY;
#endif
				head[copy] = head[file];
#if BREAK == EARLY_RENAME
				name[head[copy]] = copy;
#endif
				events[copy] = events[file];
#if BREAK == EARLY_WATCH
				was_opened = opened[file];
#endif
				name[head[copy]] = copy;
#if BREAK != EARLY_WATCH && BREAK != NO_WATCH
				was_opened = opened[file];
#endif
				if
				:: was_opened -> state[file] = LEFT
				:: else -> state[file] = EMPTY
				fi
			fi
		fi
	:: atomic { over && queue == NONE -> break }
	od
}

/* Of each packet that has a name. What was recorded counts before the look, as more may be there by then. */
active proctype reader()
{
	byte packet, was;

	do
	:: atomic {
			packet = 1;
			do
			:: packet <= PACKETS ->
				was = recorded[packet];
				if
				:: name[packet] != NONE ->
					assert(head[name[packet]] == packet);
					assert(events[name[packet]] >= was)
				:: else ->
					assert(was == 0)
				fi;
				packet++
			:: else -> break
			od;
			packet = 0
		}
	:: over -> break
	od
}

active proctype late_reader()
{
	byte packet = 1, file, was;

	do
	:: packet < PACKETS -> packet++
	:: break
	od;
	atomic {
		name[packet] != NONE ->
			file = name[packet];
			opened[file] = true;
			was = recorded[packet]
	};
	atomic {
		assert(head[file] == packet);
		assert(events[file] >= was)
	}
}
