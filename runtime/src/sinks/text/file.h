/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/file.h - where a sink's own file or socket is, to open it again by its name.
 */
#ifndef TP_TEXT_FILE_H
#define TP_TEXT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* All zeros is no place. */
struct tp_text_place {
	char *path;      /* absolute, without links; NULL: it can't be opened again */
	char *directory; /* of path */
	dev_t device;    /* of the directory, with inode */
	ino_t inode;
};

/* The program may change its directory. Where there is no memory, there is no place. */
void tp_text_place_remember(struct tp_text_place *place, const char *name);
void tp_text_place_forget(struct tp_text_place *place);

/* The path leads to the directory that it led to then, and not to one of the same name in a jail. */
bool tp_text_place_is_there(const struct tp_text_place *place);

#endif /* TP_TEXT_FILE_H */
