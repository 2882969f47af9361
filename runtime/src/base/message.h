/* SPDX-License-Identifier: MIT */
/*
 * base/message.h - messages to a person.
 */
#ifndef TP_MESSAGE_H
#define TP_MESSAGE_H

/*
 * Writes one line to stderr by one write, with "tp: " before it. Safe in
 * signal handlers; errno stays as it was.
 */
void tp_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As strerror(), but in English, and it takes no lock: safe in signal handlers and in forked children. */
const char *tp_strerror(int error);

#endif /* TP_MESSAGE_H */
