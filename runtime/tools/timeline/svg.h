/* SPDX-License-Identifier: MIT */
/* svg.h - lanes, drawn. */
#ifndef SVG_H
#define SVG_H

#include "base/text.h"
#include "timeline/lanes.h"

struct svg_group {
	char *name; /* of a process */
};

/* One kind of event, for the legend. */
struct svg_event {
	const char *name;
	uint32_t colour;
	bool is_slice;
	uint64_t nr;
};

struct svg_picture {
	struct lanes *lanes;
	const struct svg_group *groups; /* by the lanes' group, from 1 on */
	size_t nr_groups;
	const struct svg_event *events;
	size_t nr_events;
	const char *title;              /* a line */
};

/* Which of the colours an event has. */
uint32_t svg_colour(const char *name);

void svg_draw(struct tp_buffer *to, const struct svg_picture *picture);

/* Text of XML: strangers chose it. */
void svg_text(struct tp_buffer *to, const char *text, size_t len);

#endif /* SVG_H */
