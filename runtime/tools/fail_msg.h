/* SPDX-License-Identifier: MIT */
/* fail_msg.h - what the tool says to a person: a line on stderr each. */
#ifndef FAIL_MSG_H
#define FAIL_MSG_H

#include <stdbool.h>

/* Returns false, as it is mostly why something has failed. What is no plain character is shown as a question mark. */
bool fail_msg(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool fail_no_memory(void);

/* From now on nothing is said; or it is again. */
void fail_msg_silence(bool silent);

#endif /* FAIL_MSG_H */
