/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths followed hop by hop in the tables: one path, and all paths from one port to another, one
 * for each of the 2^LMC LIDs of the destination.
 */
#ifndef HEDDLE_FABRIC_WALK_H
#define HEDDLE_FABRIC_WALK_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hd_walk_end {
	HD_WALK_ARRIVED,
	HD_WALK_NO_ROUTE, /* the last switch has no entry */
	HD_WALK_DEAD_END, /* its entry names no port, a port without a cable or a wrong host's */
	HD_WALK_LOOP /* the last switch was met before */
};

/*
 * Follows the entries for `lid` from switch `source`. The switches of the path go to `switches`
 * [fabric->switch_count + 1], their number to *count. The last one is where the path ends; in a
 * loop it is the one that is met again. The LID must have a destination switch
 * (hd_fabric_lid_destination()). Cost: O(hops * (hops + log radix)).
 */
enum hd_walk_end hd_routes_walk(const struct hd_fabric *fabric, const struct hd_routes *routes,
				uint32_t source, uint32_t lid, uint32_t *switches, uint32_t *count);

struct hd_path {
	uint32_t lid;
	enum hd_walk_end end;
	uint32_t switch_count;
	const uint32_t *switches; /* as hd_routes_walk() gives them */
	/* [switch_count - 1] directed inter-switch links between them; HD_NONE for a cable from a
	 * switch to itself, which is a loop */
	const uint32_t *links;
	uint8_t sl, vl; /* SL 0 and its lane if an end is a switch's own port */
	uint32_t same_as; /* first path with the same links; its own index if it is the first */
};

struct hd_path_set {
	uint32_t source, destination; /* port indices */
	uint32_t count; /* LIDs of the destination */
	const struct hd_path *paths; /* by ascending LID */
	uint32_t arrived; /* paths that arrive */
	uint32_t distinct; /* different ones among these */
	uint32_t links; /* inter-switch links, in one direction, that these use */
	uint32_t shared; /* of them links that two different ones use */
	const uint32_t *link_uses; /* [isl_count] different paths that arrive over each link */
};

/*
 * The paths from the port `source` to all LIDs of the port `destination`, each a host's port or
 * port 0 of a switch. *out is freed with hd_path_set_free(). Errors: -EINVAL another port, one
 * without a cable to a switch, or a destination without a LID; -ENOMEM. Cost: O(links + LIDs^2 *
 * hops).
 */
int hd_path_set_new(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		    uint32_t destination, struct hd_path_set **out, struct hd_error *err);

/* Frees the paths; NULL is allowed. */
void hd_path_set_free(struct hd_path_set *set);

#ifdef __cplusplus
}
#endif

#endif
