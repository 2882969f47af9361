/* SPDX-License-Identifier: MIT */
/*
 * pages.c - prints what is in pages of the kernel's ring buffer, which come by standard input, each behind its length. Argument: the layout's
 * text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/ring_page.h"

static int show(const struct ring_layout *layout, uint32_t len)
{
	unsigned char *bytes = malloc(len ? len : 1); /* exactly: what is read behind it is found */
	struct ring_event event;
	struct ring_page page;

	if (!bytes || fread(bytes, 1, len, stdin) != len)
		return 2;
	if (!ring_page_begin(&page, layout, bytes, len)) {
		puts("no page");
		free(bytes);
		return 0;
	}
	if (page.lost)
		printf("lost %lld\n", (long long)page.lost);
	while (ring_page_next(&page, &event)) {
		printf("%llu", (unsigned long long)event.time);
		for (uint32_t i = 0; i < event.size; i++)
			printf("%s%02x", i ? "" : " ", event.record[i]);
		putchar('\n');
	}
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	struct ring_layout layout;
	uint32_t len;
	int status = 0;

	if (argc != 2 || !ring_layout_read(&layout, argv[1])) {
		puts("no layout");
		return 0;
	}
	while (!status && fread(&len, sizeof(len), 1, stdin) == 1)
		status = show(&layout, len);
	return status;
}
