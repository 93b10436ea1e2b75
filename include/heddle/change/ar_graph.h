/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The channel dependency graph of forwarding tables and groups, kept up to date. A proof from scratch
 * follows all packets to all switches. This graph knows what is in force, and only follows packets again
 * where entries have changed, and from there on.
 *
 * LIDs of the hosts of one switch are taken together. Only where they have a loop that none has alone, each is
 * followed by itself. There is room for some thousands of them.
 *
 * A graph counts for each dependency how many destination switches have it, so that dependencies can go,
 * too. Only tables without service levels have one: all packets are on one lane.
 *
 *	hd_ar_graph_new()       after the first programming
 *	hd_ar_steps_prove()     moves it along with each change
 *	hd_ar_graph_settle()    when the change is complete
 *
 * After an error in between nobody knows what it stands for: it must be freed.
 */
#ifndef HEDDLE_CHANGE_AR_GRAPH_H
#define HEDDLE_CHANGE_AR_GRAPH_H

#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_ar_plan;
struct hd_ar_graph;

/*
 * The graph of a plan (NULL: no switch has AR) on its tables; both are of the fabric. *out is freed with
 * hd_ar_graph_free(). Errors: -ELOOP it has a loop, -ENOTSUP private tables or service levels, -ECANCELED,
 * -ENOMEM. Cost: O(switches * LIDs) and O(destination switches * links * radix).
 * Memory: destination switches * switches * (radix / 8 + 1) bytes, and links * radix * 2 bytes.
 */
int hd_ar_graph_new(const struct hd_fabric *fabric, const struct hd_routes *routes,
		    const struct hd_ar_plan *plan, const struct hd_go_on *go_on,
		    struct hd_ar_graph **out, struct hd_error *err);

/* NULL is allowed. */
void hd_ar_graph_free(struct hd_ar_graph *graph);

/*
 * The change is complete: the graph becomes that of these tables and this plan (NULL: none), of the fabric that
 * it was last asked about. Only entries that the change has touched are looked at. Errors: -ENOMEM; the graph
 * must be freed then. Cost: O(switches touched * LIDs), and O(radix) for each entry that changes.
 */
int hd_ar_graph_settle(struct hd_ar_graph *graph, const struct hd_fabric *fabric,
		       const struct hd_routes *routes, const struct hd_ar_plan *plan,
		       struct hd_error *err);

/* Whether LIDs of any switch are followed by themselves. */
bool hd_ar_graph_by_lid(const struct hd_ar_graph *graph);

/* Whether both have the same dependencies, each of as many destination switches. For tests. O(memory). */
bool hd_ar_graph_equal(const struct hd_ar_graph *a, const struct hd_ar_graph *b);

#ifdef __cplusplus
}
#endif

#endif
