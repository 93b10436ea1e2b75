/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Channel dependencies of forwarding tables, the slow way: an oracle for proofs. */
#ifndef SLOW_WAITS_TESTING_H
#define SLOW_WAITS_TESTING_H

#include <heddle/fabric/routes.h>
#include <heddle/fabric/walk.h>
#include <stdbool.h>
#include <stdlib.h>

/* Adds what packets to a LID depend on: waits[isl_count * isl_count]. */
static inline void slow_waits_add(const struct hd_fabric *fabric, const struct hd_routes *routes,
				  uint32_t lid, bool *waits)
{
	uint32_t *path = calloc(fabric->switch_count + 1, sizeof(*path)), count;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!hd_has_adapters(fabric, sw))
			continue;
		hd_routes_walk(fabric, routes, sw, lid, path, &count);
		for (uint32_t i = 0; i + 2 < count; i++) {
			uint32_t link = hd_fabric_find_isl(fabric, path[i],
							   hd_routes_port(routes, path[i], lid));
			uint32_t next = hd_fabric_find_isl(
			    fabric, path[i + 1], hd_routes_port(routes, path[i + 1], lid));
			waits[(size_t)link * fabric->isl_count + next] = true;
		}
	}
	free(path);
}

/* Takes away links that wait for none, again and again. What is left is on cycles or before them. */
static inline bool slow_waits_loop(const struct hd_fabric *fabric, const bool *waits)
{
	const uint32_t links = fabric->isl_count;
	bool *gone = calloc(links, sizeof(*gone)), any = true;
	uint32_t left = links;

	while (any) {
		any = false;
		for (uint32_t link = 0; link < links; link++) {
			bool waiting = false;
			for (uint32_t next = 0; !waiting && next < links; next++)
				waiting = !gone[next] && waits[(size_t)link * links + next];
			if (gone[link] || waiting)
				continue;
			gone[link] = any = true;
			left--;
		}
	}
	free(gone);
	return left > 0;
}

#endif
