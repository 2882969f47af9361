/* SPDX-License-Identifier: MIT */
#include "client/view.h"

bool area_has_room(const struct area *area, size_t *left)
{
	size_t used = 0;

	*left = 0;
	if (!area->height)
		return true;
	for (size_t i = area->from; i < area->text->len; i++)
		used += area->text->text[i] == '\n';
	*left = used < area->height ? area->height - used : 0;
	return *left > 0;
}
