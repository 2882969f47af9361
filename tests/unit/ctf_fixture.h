/* SPDX-License-Identifier: MIT */
/*
 * ctf_fixture.h - what the tests of the CTF sink begin with.
 */
#ifndef CTF_FIXTURE_H
#define CTF_FIXTURE_H

struct tp_sink;

/* A directory that tp_ctf_sink is to make; setup(), a fixture, chooses a new one. */
extern char trace[128];
void setup(void);

/* A sink on it with everything of the samples enabled. */
struct tp_sink *open_sink(const char *options);

/* There is no sink to be had on this directory, and errno says error. */
void fails_with(const char *directory, int error);

#endif /* CTF_FIXTURE_H */
