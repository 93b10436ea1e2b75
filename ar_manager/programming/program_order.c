/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/ar_manager/program.h>
#include <stdlib.h>

struct place {
	bool above; /* no host is there */
	uint32_t neighbour; /* the first one; HD_NONE: none */
	uint32_t sw;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->above != y->above)
		return x->above ? 1 : -1;
	if (x->neighbour != y->neighbour)
		return x->neighbour < y->neighbour ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static uint32_t first_neighbour(const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t first = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (fabric->isl_to[link] < first)
			first = fabric->isl_to[link];
	return first;
}

int hd_ar_program_order(const struct hd_fabric *fabric, uint32_t *order)
{
	struct place *places = calloc(fabric->switch_count + 1u, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		places[sw] =
		    (struct place){!hd_has_hosts(fabric, sw), first_neighbour(fabric, sw), sw};
	qsort(places, fabric->switch_count, sizeof(*places), compare);
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		order[i] = places[i].sw;
	free(places);
	return 0;
}
