/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches ranked by their distance from roots, and which links climb towards those. */
#ifndef ENGINES_RANKING_H
#define ENGINES_RANKING_H

#include "resolved_policy.h"

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
 * equals to the lower index. Parts without a root get their lowest-numbered switch. */
void ranking_from_root(struct ranking *ranking, uint32_t root);
void ranking_from_roots(struct ranking *ranking, const bool *is_root);

/* Fills centres[]. Errors: those of hd_fabric_distances(). */
int ranking_find_centres(struct ranking *ranking, struct hd_error *err);

/*
 * The root to take by itself: the centre; where there are tables in place, that of the first
 * ROOTS_TRIED centres under which a sample of them breaks the climb-then-descend rule least.
 * So a lost link that shifts the centre does not turn the whole fabric round.
 */
uint32_t ranking_steady_centre(struct ranking *ranking);

#endif
