/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routes_carry.h"

#include <errno.h>
#include <heddle/fabric/tree_labels.h>
#include <stdlib.h>

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

static void carry_row(const uint8_t *source, uint32_t source_count, const uint16_t *column,
		      uint8_t *target, uint32_t target_count)
{
	for (uint32_t lid = 1; lid < target_count; lid++)
		if (column[lid] && column[lid] < source_count)
			target[lid] = source[column[lid]];
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
	if (!start_levels(from, to) || !carry_ranks(from, origin, to))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < to->switch_count; sw++) {
		uint32_t old = origin->row[sw];
		if (old >= from->switch_count)
			continue;
		carry_row(hd_routes_row(from, old), from->lid_count, origin->column,
			  hd_routes_row(to, sw), to->lid_count);
		if (from->sl)
			carry_row(from->sl + (size_t)old * from->stride, from->lid_count,
				  origin->column, to->sl + (size_t)sw * to->stride, to->lid_count);
	}
	memcpy(to->chosen, from->chosen, sizeof(to->chosen));
	to->labels = hd_tree_labels_hold(from->labels);
	return 0;
}
