/* SPDX-License-Identifier: MIT */
/*
 * text_fixture.h - what the tests of the text sink on sockets and other descriptors begin with.
 */
#ifndef TEXT_FIXTURE_H
#define TEXT_FIXTURE_H

struct tp_sink;

/* A sink on the descriptor, which it owns, with everything of the samples enabled. */
struct tp_sink *open_on(int fd);

/* The sink, which must be there, with everything of the samples enabled. */
struct tp_sink *enabled(struct tp_sink *sink);

void socket_pair(int type, int fd[2]);

/* All that can be read now; static memory, until the next call. */
const char *all_of(int fd);

/* The number of lines. Every line is whole, and of a sample. */
unsigned int whole_lines(const char *text);

#endif /* TEXT_FIXTURE_H */
