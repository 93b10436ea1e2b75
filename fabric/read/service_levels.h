/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers and writers of service levels share: the levels that were gathered from files.
 * They are the SL of each (source switch, LID), and the lane of each SL.
 */
#ifndef FABRIC_SERVICE_LEVELS_H
#define FABRIC_SERVICE_LEVELS_H

#include "service_level_text.h"

#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/* Where a map from SLs to VLs comes from: a pair of ports, or a complete file. */
struct service_place {
	uint32_t sw; /* HD_NONE: all switches */
	uint32_t in, out;
	unsigned line;
};

/* Zero-initialise before use. */
struct service_levels {
	uint8_t *sl; /* [switch_count * stride], or SERVICE_UNSET; NULL: no file has SLs */
	bool *of_host; /* [lid_count] */
	uint64_t *said; /* one bit for each (adapter port, LID) of a PSL file */
	uint64_t *map_said; /* one bit for each (switch port, port it came by) of an SLVL file */
	bool has_map;
	uint8_t map[SERVICE_LEVELS];
	struct service_place map_place;
	/* For each SL, a contradiction between maps, or "". It is an error only if the SL is in
	 * use. */
	char clash[SERVICE_LEVELS][HD_ERROR_TEXT];
};

#define SERVICE_UNSET 0xFF

/* Sets a bit for something that a file has given. Returns whether the bit was set before. */
static inline bool service_levels_mark(uint64_t *said, size_t bit)
{
	uint64_t *word = &said[bit / 64], mask = UINT64_C(1) << bit % 64;
	bool before = *word & mask;

	*word |= mask;
	return before;
}

/* Makes room for SLs. 0 or -ENOMEM. */
int service_levels_begin(struct service_levels *levels, const struct hd_fabric *fabric,
			 const struct hd_routes *routes, struct hd_error *err);

void service_levels_release(struct service_levels *levels);

/* The VLs of SL 0 to 15 at a place. */
void service_levels_map(struct service_levels *levels, const struct hd_fabric *fabric,
			const uint8_t vls[SERVICE_LEVELS], const struct service_place *place,
			const char *file);

/*
 * Gives the tables the SLs and the map that were gathered. Without a map, each SL goes to the lane
 * of its number. Pairs without an SL are on SL 0, with a remark. Errors: -EINVAL an SL in use has
 * no lane or several.
 */
int service_levels_end(struct service_levels *levels, const struct hd_fabric *fabric,
		       struct hd_routes *routes, const struct hd_log *log, struct hd_error *err);

#endif
