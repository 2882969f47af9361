/* SPDX-License-Identifier: MIT */
/* out.h - standard output, for which nobody waits: a terminal may be stopped, or a pipe's reader slow. */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stddef.h>

struct out {
	int fd;
	bool own;    /* it was opened anew, and is closed at the end */
	bool waits;  /* a write may wait: no more is written at once than surely fits */
	bool failed; /* nobody reads on, or nothing can be written: error says */
	int error;
	char *buffer;
	size_t begin, end;
};

/* False, and a message, where nothing can be written. Zeros are no output. */
bool out_open(struct out *out);
void out_close(struct out *out);

/* The most that is added at once. */
#define OUT_PIECE ((size_t)128 << 10)

/* Whether there is surely room for such a piece. */
bool out_has_room(const struct out *out);

/* Room for so many bytes, of which out_add() then adds those that were filled in; NULL: it is full. */
char *out_room(struct out *out, size_t size);
void out_add(struct out *out, size_t len);

/* The same for a text that is there. False: it does not fit. */
bool out_put(struct out *out, const char *text, size_t len);

/* Whether there is something to write, for which poll() must wait. */
bool out_is_waiting(const struct out *out);

/* Writes what can be written. False: failed. */
bool out_write(struct out *out);

/* Writes the rest, for some milliseconds at most. */
void out_finish(struct out *out, int ms);

#endif /* OUT_H */
