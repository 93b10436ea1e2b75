/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns of forwarding tables: packets that climb after they have descended. */
#ifndef AR_MANAGER_TURNS_H
#define AR_MANAGER_TURNS_H

#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

struct turns_first {
	uint32_t lid;
	uint32_t link, next; /* packets descend by `link`, then climb by `next` */
	bool of_hosts; /* they go from a host to a host */
	uint32_t source, destination; /* switches at the ends of their way */
	bool needed; /* no path climbs, then descends from the one to the other */
};

/* The first turn, of hosts if they have one, else of adapters that are set aside. Errors: -ENOENT there is none,
 * -ENOTSUP the fabric has no levels, -ERANGE, -ENOMEM. Cost: O(switches * LIDs), and that of climbs_find(). */
int turns_find(const struct hd_fabric *fabric, const struct hd_routes *routes,
	       struct turns_first *out);

#endif
