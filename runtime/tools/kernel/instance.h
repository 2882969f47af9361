/* SPDX-License-Identifier: MIT */
/*
 * instance.h - an instance of the kernel's trace buffers, tp's own. Processes that have it open hold a lock on it: one that nobody holds is
 * left over from a tp that was killed, and goes when the next one is made.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Paths would not last: somebody may unmount that tracefs. */
struct instance {
	int tracefs;   /* the top-level directory */
	int dir;       /* with the lock */
	char name[32]; /* "": there is none */
};

#define NO_INSTANCE {.tracefs = -1, .dir = -1}

/* With tracing off. False, and a message that has the remedy. */
bool instance_make(struct instance *instance);

/* Whoever has files of it open closes them first. Says what is wrong where it stays. */
void instance_remove(struct instance *instance);

/* Descriptors only. */
void instance_close(struct instance *instance);

/* A file of a directory in tracefs, for free(), with a NUL behind; NULL, and errno. */
char *tracefs_read(int dir, const char *file, size_t *len);

/* False, and errno. */
bool tracefs_write(int dir, const char *file, const char *text);

#endif /* INSTANCE_H */
