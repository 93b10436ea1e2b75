/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dependencies of tables whose lanes depend on ports (heddle/fabric/lane_maps.h): one graph over the channels of all
 * lanes. */
#ifndef FABRIC_CHECK_MAPS_H
#define FABRIC_CHECK_MAPS_H

#include "check_tree.h"

struct check_maps {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t lanes; /* channels of a link */
	struct hd_fabric channels; /* hd_channels_view() */
	struct hd_dependencies graph; /* of the channels */
	uint16_t used; /* lanes with traffic */
	/* ---- scratch: the traffic of one tree that leaves a switch ---- */
	uint16_t *levels; /* [switch_count] its service levels */
	uint16_t (*on)[HD_LANE_LEVELS]; /* [switch_count] the lanes of each */
};

/* An empty graph. Errors: -ENOMEM. Memory: lanes^2 * links * radix bits. */
int check_maps_init(struct check_maps *maps, const struct hd_fabric *fabric,
		    const struct hd_routes *routes, struct hd_arena *arena);

/* Adds the traffic of one tree that arrives. Cost: switches * levels. */
void check_maps_add(struct check_maps *maps, const struct check_tree *tree, uint32_t lid,
		    bool switch_traffic);

/* Adds everything that `other` has. */
void check_maps_merge(struct check_maps *maps, const struct check_maps *other);

/* Searches for a cycle. *length is its number of links, 0 without a cycle; links and their lanes go to links[isl_count *
 * lanes] and on[] of the same length. Errors: -ENOMEM. */
int check_maps_find_cycle(const struct check_maps *maps, uint32_t *links, uint8_t *on,
			  uint32_t *length);

struct hd_certificate;

/* hd_certificate_rank() for all lanes: ranks of channels. Cost: lanes^2 * links * radix. */
int certificate_rank_channels(struct hd_certificate *certificate, const struct check_maps *maps,
			      const uint16_t *carries, struct hd_error *err);

#endif
