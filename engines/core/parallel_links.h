/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classes of parallel links. Links from u to v and from x to y are parallel if u, v, y and x are a square without
 * diagonals: u is next to x, v next to y, but neither u to y nor v to x. In a product of graphs (torus, mesh, hypercube,
 * HyperX) a class has links of one dimension only, and where rings have more than four switches those of one
 * direction: so switches that number their ports differently can agree on an order of dimensions. In other fabrics a
 * class may be one link. Source: the relation of Djokovic (1973) by which products of graphs are recognised.
 */
#ifndef ENGINES_PARALLEL_LINKS_H
#define ENGINES_PARALLEL_LINKS_H

#include <heddle/base/arena.h>
#include <heddle/fabric.h>

/* class[isl_count]: the lowest link that is parallel to it, also by way of others. Errors: -ENOMEM. Cost: O(links *
 * radix), and one for each square. */
int parallel_links_find(const struct hd_fabric *fabric, uint32_t *class);

/* The lowest member of a class that is being joined. class[i] is i, or leads to another member. */
static inline uint32_t parallel_links_lowest(uint32_t *class, uint32_t member)
{
	while (class[member] != member) {
		class[member] = class[class[member]];
		member = class[member];
	}
	return member;
}

/* Makes one class of those of two members. */
static inline void parallel_links_join(uint32_t *class, uint32_t a, uint32_t b)
{
	a = parallel_links_lowest(class, a);
	b = parallel_links_lowest(class, b);
	if (a < b)
		class[b] = a;
	else
		class[a] = b;
}

/* The links of one switch after the other, and the squares of which they are sides. */
struct parallel_corners {
	const struct hd_fabric *fabric;
	uint32_t *links; /* [largest number of links of a switch] of the switch at hand */
	uint32_t *near; /* [switch_count] switch + 1: it is the switch at hand or its neighbour */
	uint32_t *beside; /* [switch_count] */
};

/* Memory is the arena's. Errors: -ENOMEM. */
int parallel_links_start(struct parallel_corners *corners, const struct hd_fabric *fabric,
			 struct hd_arena *arena);

/* Fills links[] with one link to each neighbour of a switch. Returns their number. */
uint32_t parallel_links_list(struct parallel_corners *corners, uint32_t sw);

/* Whether two links of the switch that was listed last are sides of a square without diagonals. O(radix). */
bool parallel_links_corner(struct parallel_corners *corners, uint32_t sw, uint32_t a, uint32_t b);

/* What one switch says of two classes whose links meet there: beside a gap it may be wrong. */
struct parallel_vote {
	uint32_t one, other; /* classes */
	int32_t vote; /* above 0: they belong together */
};

/* Sorts votes[count] by pairs of classes, and joins the two of each pair whose votes are `least` or more together. Cost:
 * O(count * log count). */
void parallel_links_join_voted(uint32_t *class, struct parallel_vote *votes, size_t count,
			       int64_t least);

#define PARALLEL_LINKS_NONE UINT32_MAX

/*
 * Dimensions of products of graphs, also with cables and switches missing. Two classes are of one dimension if a link
 * leads back on the other, or if they are no sides of a common square at most switches where both are: beside a gap links
 * of two dimensions are not, either. A ring of four is a product itself, and counts as two dimensions.
 *
 * Fills dimension[isl_count]: the lowest link of the same dimension; PARALLEL_LINKS_NONE for the few links that fit none.
 * *found: there are several dimensions. If there are not, all links have the same number. Errors: -ENOMEM. Cost:
 * O(switches * radix ^ 3), and that of parallel_links_find().
 */
int parallel_links_dimensions(const struct hd_fabric *fabric, uint32_t *dimension, bool *found);

#endif
