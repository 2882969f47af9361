/* SPDX-License-Identifier: MIT */
/*
 * ctf_fixture.h - what the tests of the CTF sink begin with.
 */
#ifndef CTF_FIXTURE_H
#define CTF_FIXTURE_H

struct tp_sink;

/* A directory that tp_ctf_sink is to make; setup(), a fixture, chooses a new one. The other has TP_CLOCK=monotonic, too. */
extern char trace[128];
void setup(void);
void setup_monotonic(void);

/* A sink on it with everything of the samples enabled. */
struct tp_sink *open_sink(const char *options);

/* There is no sink to be had on this directory, and errno says error. */
void fails_with(const char *directory, int error);

/* Makes an empty file in the directory, which is there. */
void put_file(const char *name);

/* Hits sample_int with these values, without the last one. */
void record(int from, int to);

/* So many of them are in a packet of 4K: each has 8 bytes of time and 12 of record, and begins at a multiple of 8. */
#define PER_PACKET ((4096 - 64 + 4) / 24)

/* Closes the sink, which says this of losses, in one line, and returns that. */
void close_saying(struct tp_sink *sink, const char *losses, int error);

/* Closes the sink, which may say what it likes. What babeltrace2 reads, without an error; to be freed. */
char *close_and_read(struct tp_sink *sink);

#endif /* CTF_FIXTURE_H */
