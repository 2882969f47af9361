/* SPDX-License-Identifier: MIT */
/* svg.h - lanes, drawn. */
#ifndef SVG_H
#define SVG_H

#include "base/text.h"
#include "timeline/lanes.h"
#include "timeline/legend.h"

enum svg_named { NAMED_NOT, NAMED_BY_KERNEL, NAMED_BY_ITSELF };

struct svg_group {
	char *name; /* of a process */
	enum svg_named by;
};

struct svg_picture {
	struct lanes *lanes;
	const struct svg_group *groups; /* by the lanes' group, from 1 on */
	size_t nr_groups;
	const struct legend *legend;
	const char *title;              /* a line */
};

void svg_draw(struct tp_buffer *to, const struct svg_picture *picture);

/* Text of XML: strangers chose it. */
void svg_text(struct tp_buffer *to, const char *text, size_t len);

#endif /* SVG_H */
