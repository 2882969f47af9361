// SPDX-License-Identifier: MIT
/*
 * Has libtraceevent parse format files, DIR/SYSTEM-EVENT each, and prints SYSTEM:EVENT
 * of those that it takes, or what is wrong.
 */
#include <stdio.h>
#include <string.h>

#include <traceevent/event-parse.h>

static void parse(struct tep_handle *tep, const char *path)
{
	char text[1 << 16], system[256], error[256];
	struct tep_event *event = NULL;
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return;
	}
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	snprintf(system, sizeof(system), "%s", strrchr(path, '/') + 1);
	*strrchr(system, '-') = '\0';
	enum tep_errno result = tep_parse_format(tep, &event, text, len, system);
	if (result == 0 && !(event->flags & TEP_EVENT_FL_FAILED)) {
		printf("%s:%s\n", event->system, event->name);
	} else {
		tep_strerror(tep, result, error, sizeof(error));
		printf("%s: %s\n", path, error);
	}
}

int main(int argc, char **argv)
{
	struct tep_handle *tep = tep_alloc();

	for (int i = 1; i < argc; i++)
		parse(tep, argv[i]);
	tep_free(tep);
	return 0;
}
