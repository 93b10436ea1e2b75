/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "late_ports.h"

#include <heddle/base/grow.h>
#include <stdlib.h>

bool late_ports_add(struct late_ports *ports, uint64_t node, uint32_t number)
{
	struct late_port *items =
	    hd_grow(ports->items, ports->count, 1, &ports->room, sizeof(*items));

	if (!items)
		return false;
	ports->items = items;
	ports->items[ports->count++] = (struct late_port){node, number};
	return true;
}

void late_ports_release(struct late_ports *ports)
{
	free(ports->items);
	*ports = (struct late_ports){0};
}

static int compare(const struct late_port *a, const struct late_port *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Unites two sets. Returns false if memory is short. */
static bool join(const struct late_ports *a, const struct late_ports *b, struct late_ports *out)
{
	struct late_ports all = {0};
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : compare(&a->items[i], &b->items[j]);
		const struct late_port *next = order <= 0 ? &a->items[i] : &b->items[j];

		if (!late_ports_add(&all, next->node, next->number)) {
			late_ports_release(&all);
			return false;
		}
		i += order <= 0;
		j += order >= 0;
	}
	*out = all;
	return true;
}

/* True if `now` has a port that is not known. */
static bool has_new(const struct late_ports *known, const struct late_ports *now)
{
	for (size_t i = 0, j = 0; j < now->count; j++) {
		while (i < known->count && compare(&known->items[i], &now->items[j]) < 0)
			i++;
		if (i == known->count || compare(&known->items[i], &now->items[j]))
			return true;
	}
	return false;
}

bool late_ports_note(struct late_ports *known, struct late_ports *now)
{
	struct late_ports all = {0};
	bool is_new = has_new(known, now), joined = is_new && join(known, now, &all);

	late_ports_release(known);
	*known = joined ? all : *now;
	if (joined)
		late_ports_release(now);
	*now = (struct late_ports){0};
	return is_new;
}
