/* SPDX-License-Identifier: MIT */
/*
 * requests.c - the server of docs/filters.md, docs/triggers.md and docs/histograms.md. The requests of one peer are
 * slow.
 */
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "requests.h"

static const struct {
	const char *peer;
	char method;
	int status;
	size_t size;
} requests[] = {
    {"10.0.0.1", 'G', 200, 1200}, {"10.0.0.2", 'P', 200, 45000}, {"10.0.0.1", 'G', 404, 300},
    {"10.0.0.1", 'G', 200, 1800}, {"10.0.0.2", 'P', 503, 0},     {"10.0.0.3", 'G', 200, 90000},
    {"10.0.0.1", 'G', 200, 1200}, {"10.0.0.2", 'P', 200, 47000},
};

int main(void)
{
	for (uint32_t id = 1; id <= sizeof(requests) / sizeof(requests[0]); id++) {
		trace_request_begin(id, requests[id - 1].peer, requests[id - 1].method);
		if (requests[id - 1].peer[7] == '3')
			usleep(20000);
		trace_request_end(id, requests[id - 1].status, requests[id - 1].size);
	}
	return 0;
}
