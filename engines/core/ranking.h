/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches ranked by their distance from the roots, and the links that climb towards them. */
#ifndef ENGINES_RANKING_H
#define ENGINES_RANKING_H

#include "resolved_policy.h"

#include <heddle/fabric/tree.h>

struct ranking {
	const struct hd_fabric *fabric;
	const struct hd_route_request *request;
	struct resolved_policy policy;
	struct hd_arena arena;
	uint8_t *up; /* [isl_count] 1 where the link climbs */
	uint32_t *rank, *queue; /* [switch_count] */
	uint32_t *centres; /* [switch_count] by (switches out of reach, eccentricity, index) */
};

/* Memory from the ranking's arena. Errors: -ENOMEM. */
int ranking_allocate(struct ranking *ranking);

/* Directions from one root, or from all of is_root[]. A link climbs to the lower rank, between
 * equals to the lower index. A component without a root gets its lowest-numbered switch. */
void ranking_from_root(struct ranking *ranking, uint32_t root);
void ranking_from_roots(struct ranking *ranking, const bool *is_root);

/* Fills centres[]. Errors: those of hd_fabric_distances(). */
int ranking_find_centres(struct ranking *ranking, struct hd_error *err);

/*
 * The root where none is given: the centre. With tables in place it is that of the first
 * ROOTS_TRIED centres for which the fewest entries of a sample break the rule to climb, then
 * descend. So a lost link that shifts the centre does not turn the whole fabric round.
 */
uint32_t ranking_steady_centre(struct ranking *ranking);

/*
 * Directions from ranks that tables in place have. A switch that is new, with hosts, is below all
 * its neighbours; one without hosts is above them. So a root that comes back, or a centre that
 * moves, changes no direction. False, and nothing is set, if no rank is known.
 */
bool ranking_from_tables(struct ranking *ranking, const struct hd_routes *tables,
			 const struct hd_routes *others);

/*
 * Changes as few ranks as it can so that one switch of each component has all hosts below it: then
 * all have legal paths to each other. That is the switch which has the most hosts below it already. While some are not,
 * the switch beside one that is below it by which most of them come below it, too, is lowered to just below that one:
 * only its own links turn. Errors: -ENOMEM. Cost: O((tops + lowered * tops) * links).
 */
int ranking_join(struct ranking *ranking);

/* Writes the ranks into tables: those of the tree, or of ranking_from_...() if tree is NULL. A
 * switch without cables to others keeps what the tables in place say. Errors: -ENOMEM. */
int ranking_store(const struct ranking *ranking, const struct hd_tree *tree,
		  struct hd_routes *routes);

#endif
