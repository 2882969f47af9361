/* SPDX-License-Identifier: MIT */
#include "client/names.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

bool name_is_process(const char *name, pid_t *pid, uint64_t *start)
{
	char *end;

	if (!isdigit((unsigned char)name[0]))
		return false;
	errno = 0;
	unsigned long id = strtoul(name, &end, 10);
	if (errno || id == 0 || id > INT_MAX || *end != '.' || !isdigit((unsigned char)end[1]))
		return false;
	unsigned long long ns = strtoull(end + 1, &end, 10);
	if (errno || *end)
		return false;
	if (pid)
		*pid = (pid_t)id;
	if (start)
		*start = ns;
	return true;
}
