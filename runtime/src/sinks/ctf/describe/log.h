/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/log.h - the runtime's messages in the trace's directory: log.c.
 */
#ifndef TP_CTF_LOG_H
#define TP_CTF_LOG_H

struct tp_ctf_sink;

/* From here on messages go to the trace's directory, too; until the sink is closed. */
void tp_ctf_log_begin(struct tp_ctf_sink *sink);
void tp_ctf_log_end(struct tp_ctf_sink *sink);

/* Until nobody is writing a message: to the directory of before, say. */
void tp_ctf_log_wait(void);

/* In a forked child: threads that were writing a message are not there. */
void tp_ctf_log_forget(void);

#endif /* TP_CTF_LOG_H */
