/* SPDX-License-Identifier: MIT */
/*
 * play.h - plays a script: in the kernel by init.c, in a process by program.c.
 *
 * A script has a command a line. What is behind "<" is an answer: a script with its answers is a script again, and is played
 * to the same text if the same is answered.
 *
 *	= TEXT                    a new case: all that earlier ones have set is taken off
 *	> enable EVENT            and disable EVENT
 *	> emit [FROM-TO]          hits the events of records.txt, whose numbers are FROM to TO
 *	> accepts EVENT FILTER    the numbers of the records for which the filter is true
 *	> filter EVENT FILTER     sets it
 *	> trigger EVENT TEXT      sets a trigger, or with "!" in front takes one off
 *	> try EVENT TEXT          sets a trigger, shows how it is listed, and takes it off
 *	> synth TEXT, trysynth TEXT    the same with synthetic events
 *	> recorded                the numbers of the records since the last time; what synthetic events said
 *	> snapshot                the same of the snapshot
 *	> state, switch 0|1       whether recording is on
 *	> triggers EVENT, enabled EVENT, hist EVENT, synths    the files of these names
 *	> totals EVENT            the end of the hist file
 */
#ifndef REPLAY_PLAY_H
#define REPLAY_PLAY_H

#include <stdio.h>

struct verb {
	const char *name;
	void (*act)(char *args); /* args can be changed */
};

/* Of init.c or program.c. The last one's name is NULL. */
extern const struct verb verbs[];
void play_reset(void);
void play_emit(const char *line);

/* Answers: each line of a text becomes one. */
void say(const char *text);
void sayf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Numbers in their order, a run of successive ones as "3-5"; a flush says what there is. */
void say_number(int number);
void say_numbers_end(void);
/* A line of a trace: the number of a record of ours, or what a synthetic event's says, or that there is a stack. */
void say_record(char *line);

/* The word that *rest begins with; *rest is behind it and its blank then. */
char *next_word(char **rest);
void emit(char *range);

/* Remembers a trigger that was set; calls take_off for each, the latest first, as it can use earlier ones. Some may be gone. */
void remember(const char *where, const char *trigger);
void take_all_off(void (*take_off)(const char *where, const char *trigger));

/* Plays the script; the records are of a file. Returns 0, or a negative errno value. */
int play(const char *records, const char *script, FILE *to);

#endif
