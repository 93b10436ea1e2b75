/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognition of tori and meshes, with or without holes: products of rings and rows of switches. It needs the cables
 * alone, no names and no port numbers.
 *
 * Links on opposite sides of a square are parallel (parallel_links.h). At a switch from which nothing is missing, the two
 * links of one dimension are the only two that are no sides of a square: so classes of parallel links join to all links of
 * one direction. Then each switch gets its place by counting steps, and the length of a ring is what is left when the
 * steps come back to a switch. A ring of four is taken as two dimensions of two switches each, which it is as well.
 */
#ifndef ENGINES_RINGS_SHAPE_H
#define ENGINES_RINGS_SHAPE_H

#include <heddle/fabric.h>

#define RINGS_DIMS 16u

struct rings_shape {
	const struct hd_fabric *fabric;
	uint32_t dims;
	uint32_t size[RINGS_DIMS]; /* places in the dimension */
	bool round[RINGS_DIMS]; /* the last place is next to the first */
	int32_t *at; /* [switch_count * dims] place of a switch: 0 .. size-1 in each dimension */
	uint8_t *dim; /* [isl_count] of a link */
	bool *ahead; /* [isl_count] it leads to the next place, else to the one before */
	uint32_t *switch_at; /* [places] HD_NONE: a hole; the last dimension counts up first */
	uint32_t places;
	uint32_t switches_missing;
	uint32_t cables_missing; /* pairs of neighbours without a cable between them */
};

/* Finds the places. Memory is the arena's. Errors: -ENOTSUP the fabric is none of these (says why), -ENOMEM. Cost: that of
 * parallel_links_find(), and O(links * radix^2). */
int rings_shape_find(const struct hd_fabric *fabric, struct hd_arena *arena,
		     struct rings_shape *shape, struct hd_error *err);

/* The place of a switch in a dimension. */
static inline uint32_t rings_shape_place(const struct rings_shape *shape, uint32_t sw, uint32_t dim)
{
	return (uint32_t)shape->at[(size_t)sw * shape->dims + dim];
}

#endif
