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

#include <heddle/fabric.h>

/* class[isl_count]: the lowest link that is parallel to it, also by way of others. Errors: -ENOMEM. Cost: O(links *
 * radix), and one for each square. */
int parallel_links_find(const struct hd_fabric *fabric, uint32_t *class);

#endif
