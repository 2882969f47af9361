/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/perfetto.h - the Perfetto sink, for those above. tp/tp.h has the function that is public; sink.h says what each
 * file is about.
 */
#ifndef TP_PERFETTO_H
#define TP_PERFETTO_H

struct tp_sink;

/*
 * As tp_perfetto_sink(), in a file that somebody else has made and passed: fd becomes the sink's, also where it fails. It must be
 * open for reading and writing. No path is ever opened: name is what messages call the file. Where the program has closed the
 * descriptor, the file can't grow. Forked children go on in it. NULL with errno set:
 *	EINVAL  it is no regular file
 *	EEXIST  there is something in it
 *	others  as tp_perfetto_sink()
 */
struct tp_sink *tp_perfetto_sink_in(int fd, const char *name);

#endif /* TP_PERFETTO_H */
