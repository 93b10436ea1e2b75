/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers and writers of service levels share, and the levels as they are gathered
 * from files: SLs of (source switch, LID), and where each SL goes.
 */
#ifndef FABRIC_SERVICE_LEVELS_H
#define FABRIC_SERVICE_LEVELS_H

#include "service_level_text.h"

#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

/* Where a map from SLs to VLs stands: a pair of ports, or a whole file. */
struct service_place {
	uint32_t sw; /* HD_NONE: all switches */
	uint32_t in, out;
	unsigned line;
};

/* Zero-initialise before use. */
struct service_levels {
	uint8_t *sl; /* [switch_count * stride], SERVICE_UNSET; NULL: no level was said */
	bool *of_host; /* [lid_count] */
	uint64_t *said; /* one bit for each (adapter port, LID) of a PSL file */
	uint64_t *map_said; /* one bit for each (switch port, port it came by) of an SLVL file */
	bool has_map;
	uint8_t map[SERVICE_LEVELS];
	struct service_place map_place;
	/* For each SL what contradicts the map; "": nothing. No fault unless the SL is in use. */
	char clash[SERVICE_LEVELS][HD_ERROR_TEXT];
};

#define SERVICE_UNSET 0xFF

/* Marks what a file has said, one bit for each; whether it was marked before. */
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
 * Gives what was gathered to the tables: SLs, where there are any, and the map (the lane of its
 * number for each SL where none was said). Pairs without an SL are on SL 0, with a remark.
 * Errors: -EINVAL an SL in use that has no lane or several.
 */
int service_levels_end(struct service_levels *levels, const struct hd_fabric *fabric,
		       struct hd_routes *routes, const struct hd_log *log, struct hd_error *err);

#endif
