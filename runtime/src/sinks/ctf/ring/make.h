/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/make.h - making a stream's next packet: make.c. Called in tp_guard_enter().
 */
#ifndef TP_CTF_MAKE_H
#define TP_CTF_MAKE_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/sink.h>

struct tp_ctf_dir;
struct tp_ctf_packet;
struct tp_ctf_sink;
struct tp_ctf_stream;

/* Says once what could not be done, and for a while no other packet is to be tried for. */
void tp_ctf_failed(struct tp_ctf_sink *sink, const char *what, const char *done, int error);

/* A hidden file in the directory for the stream's next packet, or for any stream's (NULL). TP_NR_LOST, or why there is none. */
enum tp_lost tp_ctf_make(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_stream *stream, struct tp_ctf_packet **made);

/* Makes some more of the packet present in memory, at least so many bytes from its start, as far as it goes. */
void tp_ctf_warm(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, size_t at_least);

#endif /* TP_CTF_MAKE_H */
