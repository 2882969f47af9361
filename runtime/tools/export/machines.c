/* SPDX-License-Identifier: MIT */
#include "export/machines.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

#define HOST_SIZE 256

uint32_t *machines_of(const struct traces *traces)
{
	char (*hosts)[HOST_SIZE] = calloc(traces->nr + 1, sizeof(*hosts));
	uint32_t *machines = calloc(traces->nr + 1, sizeof(*machines));
	uint32_t nr = 0;

	for (size_t t = 0; hosts && machines && t < traces->nr; t++) {
		uint32_t machine = 0;
		metadata_origin(&traces->traces[t].metadata, "hostname", hosts[nr], sizeof(hosts[nr]));
		while (strcmp(hosts[machine], hosts[nr]) != 0)
			machine++;
		nr += machine == nr;
		machines[t] = machine + 1;
	}
	if (!hosts || !machines) {
		free(machines);
		machines = NULL;
		fail_no_memory();
	}
	free(hosts);
	return machines;
}
