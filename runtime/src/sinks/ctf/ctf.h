/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ctf.h - the CTF sink, for those above. tp/tp.h has the functions that are public. Each of its
 * files uses those below it only:
 *
 *	sink.c                    the sink
 *	numbered.c                snapshots one after the other
 *	snapshot.c                a copy of what a sink's packets hold
 *	options.c                 how a sink is to be
 *
 *	ring/preparer.c           the helper's part: packets (by base/helper.h)
 *	ring/record.c             the way of a record into a stream, where it is not the short one of record/stream.h
 *	  ring/stream.c           the streams, and which thread has which
 *	    ring/end.c            the end of a stream's packets
 *	    ring/copy.c           records that are copied into their packet's file
 *	    ring/chapter.c        the chapter ends where another packet is needed
 *	      ring/packets.c      a stream's packets, one after the other
 *	        ring/make.c       making the next one
 *	        ring/room.c       how many there may be, and which goes
 *	        ring/packet.c     a packet, a file that is mapped
 *
 *	dir/begin.c               the directory of a trace whose name has %p, or of a chapter: the process that records makes it
 *	  describe/describe.c     which events are described in the trace, and the file with that
 *	    describe/metadata.c   the description, a text
 *	      describe/environment.c  its part on the process
 *	      describe/string.c   strings in it
 *	    describe/format.c     the events' format files, texts beside the streams
 *	  describe/log.c          the runtime's messages, beside the streams
 *	    dir/old.c             traces whose processes are gone make way
 *	    dir/hold.c            which those are
 *	      dir/dir.c           the directory
 *	        dir/spare.c       descriptors in reserve
 *
 * What a file has for the others is in the header of its name; of ring/end.c, ring/copy.c and ring/chapter.c in ring/packets.h, of
 * describe/environment.c and describe/string.c in describe/metadata.h, of dir/old.c in dir/hold.h, of dir/spare.c in dir/dir.h.
 */
#ifndef TP_CTF_H
#define TP_CTF_H

#include <stdbool.h>

struct tp_sink;

/*
 * As tp_ctf_sink(), for a name with %p. Where that is in its last part, the directory is made at the
 * first record, with the id of the process that records.
 */
struct tp_sink *tp_ctf_sink_of_process(const char *pattern, const char *options);

/*
 * As tp_ctf_sink(), in the empty directory of a descriptor, which becomes the sink's, also where it fails: it is closed
 * then. No path is ever opened: name is what messages call the trace, and where the program has closed the descriptor,
 * records are lost and counted. There is nothing beside the directory either, so that rotate=, keep= and owner= are refused.
 * Forked children go on in the directory. NULL with errno set:
 *	EINVAL     name is NULL; or options are wrong, and a message says how
 *	ENOTDIR    dir is no directory
 *	EEXIST     there is a trace in it
 *	ENOTEMPTY  there is something else in it, be it a name that begins with a dot
 *	others     as tp_ctf_sink()
 */
struct tp_sink *tp_ctf_sink_in(int dir, const char *name, const char *options);

/* As tp_ctf_snapshot(), in such a directory; dir is closed in any case. name is for messages. */
int tp_ctf_snapshot_in(struct tp_sink *sink, int dir, const char *name);

/*
 * As tp_ctf_snapshot(), in a new directory: snapshot-N in dir, or with dir -1 TRACE-snapshot-N beside the trace, with the
 * first N from *number on that is free. *number becomes the one behind it. -ENODATA: the process has recorded nothing yet.
 */
int tp_ctf_snapshot_next(struct tp_sink *sink, int dir, unsigned int *number);

/* Whether the sink writes such a trace, which is read elsewhere, and later. */
bool tp_is_ctf(struct tp_sink *sink);

/* Whether that can be done: 0; -ENOTSUP: it is no flight recorder; -ENOTDIR: it has no path, and there is no dir. */
int tp_ctf_snapshot_check(struct tp_sink *sink, bool has_directory);

#endif /* TP_CTF_H */
