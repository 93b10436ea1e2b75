/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Credit loops of tables whose lanes depend on ports, slow and obvious: the path from each host to each LID is walked
 * hop by hop with its service level, the lane of each hop is looked up in the SL2VL table of the switch, and a search
 * from each (port, lane) looks for a way back.
 */
#ifndef ORACLE_MAPS_H
#define ORACLE_MAPS_H

#include <heddle/fabric.h>

struct oracle_maps {
	const struct hd_fabric *fabric;
	uint16_t lanes; /* in use on links between switches, one bit each */
	bool loop;
	bool *depends; /* [port_count * 16][port_count * 16] */
};

struct oracle_maps *oracle_maps_new(const struct hd_fabric *fabric, const struct hd_routes *routes);
void oracle_maps_free(struct oracle_maps *oracle);

/* Whether some packet holds the one channel while it waits for the other. */
bool oracle_maps_depends(const struct oracle_maps *oracle, uint32_t port, unsigned lane,
			 uint32_t next, unsigned next_lane);

#endif
