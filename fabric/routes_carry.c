/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routes_carry.h"

#include <errno.h>
#include <heddle/fabric/tree_labels.h>
#include <stdlib.h>
#include <string.h>

bool routes_origin_init(struct routes_origin *origin, uint32_t rows, uint32_t columns)
{
	origin->row = malloc((rows + 1u) * sizeof(*origin->row));
	origin->column = calloc(columns + 1u, sizeof(*origin->column));
	if (origin->row)
		memset(origin->row, 0xFF, (rows + 1u) * sizeof(*origin->row));
	return origin->row && origin->column;
}

void routes_origin_release(struct routes_origin *origin)
{
	free(origin->row);
	free(origin->column);
}

/* Columns that follow each other, before and after. */
struct run {
	uint32_t from, to, count;
};

/* Lists the columns that have an origin, to be freed; NULL: no memory. */
static struct run *list_runs(const struct hd_routes *from, const struct routes_origin *origin,
			     const struct hd_routes *to, uint32_t *count)
{
	struct run *runs = malloc((to->lid_count + 1u) * sizeof(*runs));

	*count = 0;
	for (uint32_t lid = 1; runs && lid < to->lid_count; lid++) {
		uint32_t old = origin->column[lid];
		struct run *last = *count ? &runs[*count - 1] : NULL;
		if (!old || old >= from->lid_count)
			continue;
		if (last && last->from + last->count == old && last->to + last->count == lid)
			last->count++;
		else
			runs[(*count)++] = (struct run){old, lid, 1};
	}
	return runs;
}

static void carry_row(const uint8_t *source, const struct run *runs, uint32_t count,
		      uint8_t *target)
{
	for (uint32_t i = 0; i < count; i++)
		memcpy(target + runs[i].to, source + runs[i].from, runs[i].count);
}

/* Service levels on SL 0, for tables to which those of `from` are carried over. */
static bool start_levels(const struct hd_routes *from, struct hd_routes *to)
{
	if (!from->sl)
		return true;
	to->sl = calloc(to->switch_count, to->stride);
	memcpy(to->sl2vl, from->sl2vl, sizeof(to->sl2vl));
	return to->sl != NULL;
}

static bool carry_ranks(const struct hd_routes *from, const struct routes_origin *origin,
			struct hd_routes *to)
{
	if (!from->rank)
		return true;
	to->rank = malloc((to->switch_count + 1) * sizeof(*to->rank));
	for (uint32_t sw = 0; to->rank && sw < to->switch_count; sw++)
		to->rank[sw] =
		    origin->row[sw] < from->switch_count ? from->rank[origin->row[sw]] : HD_NONE;
	return to->rank != NULL;
}

int routes_carry(const struct hd_routes *from, const struct routes_origin *origin,
		 struct hd_routes *to)
{
	uint32_t count;
	struct run *runs = list_runs(from, origin, to, &count);

	if (!runs || !start_levels(from, to) || !carry_ranks(from, origin, to)) {
		free(runs);
		return -ENOMEM;
	}
	for (uint32_t sw = 0; sw < to->switch_count; sw++) {
		uint32_t old = origin->row[sw];
		if (old >= from->switch_count)
			continue;
		carry_row(hd_routes_row(from, old), runs, count, hd_routes_row(to, sw));
		if (from->sl)
			carry_row(from->sl + (size_t)old * from->stride, runs, count,
				  to->sl + (size_t)sw * to->stride);
	}
	free(runs);
	memcpy(to->chosen, from->chosen, sizeof(to->chosen));
	to->chosen_for = from->chosen_for;
	to->labels = hd_tree_labels_hold(from->labels);
	return 0;
}
