/* SPDX-License-Identifier: MIT */
/*
 * base/message.h - messages to a person.
 */
#ifndef TP_MESSAGE_H
#define TP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct tp_buffer;

/* Looks what descriptor 2 is, and at TP_LOG, and copies the program's name. Once a process. */
void tp_message_start(void);

/* As it was at the start: program_invocation_short_name points into argv, which servers overwrite with a title. */
extern char tp_program_name[256];

/*
 * Writes one line, with "tp: " before it, to where TP_LOG says:
 *
 *	stderr  (the default) to descriptor 2, while that is of the file that it was
 *	        of when the process started. Where the program has closed it, or put
 *	        another file in its place (daemon() puts /dev/null there): to syslog
 *	syslog  to the system's log, as the facility "user"
 *	FILE    to the end of that file, which is made with mode 0600
 *
 * setuid programs ignore TP_LOG. Safe in signal handlers; raises neither
 * SIGPIPE nor SIGXFSZ; errno stays as it was.
 * Control characters, and bytes that are no UTF-8, become "?"; a newline becomes a blank.
 */
void tp_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* If it is foreign, as tp_file_is_foreign() and tp_file_is_foreign_in() have it: true, after a message with its owner and a remedy. */
bool tp_complain_of_foreign(const char *path);
bool tp_complain_of_foreign_in(int directory, int fd, const char *path);

/*
 * listener gets each message, too, a line with its newline; where tp_complain()
 * may be called. There is one, for ever.
 */
void tp_message_listen(void (*listener)(const char *line, size_t len));

/* While in_hit() says that this thread is in a hit, its messages wait for no reader of standard error. Once a process. */
void tp_message_never_wait_in(bool (*in_hit)(void));

/*
 * From here on, this thread's messages are appended to the buffer instead, a line each, without the "tp: "; nobody
 * else gets them. Until NULL is passed. Not for signal handlers, nor to be interrupted by one that complains: the
 * caller has blocked signals.
 */
void tp_message_capture(struct tp_buffer *to);

/* For tests: from here on, descriptor 2 is what it is now. */
void tp_message_look_again(void);

/* As strerror(), but in English, and it takes no lock: safe in signal handlers and in forked children. */
const char *tp_strerror(int error);

#endif /* TP_MESSAGE_H */
