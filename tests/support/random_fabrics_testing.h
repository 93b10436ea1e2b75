/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Small random fabrics, and tables of them. For tests that have the engines. Include after <cmocka.h>. */
#ifndef RANDOM_FABRICS_TESTING_H
#define RANDOM_FABRICS_TESTING_H

#include "check_call_testing.h"
#include "generate_testing.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <stdio.h>
#include <stdlib.h>

static inline struct hd_fabric *damaged(struct hd_fabric *fabric, double percent, uint64_t seed)
{
	struct hd_fabric *less = NULL;

	CHECK(hd_fabric_remove_links(fabric, percent, seed, &less, &err));
	hd_fabric_free(fabric);
	return less;
}

static inline struct hd_routes *route(const char *engine, const struct hd_fabric *fabric)
{
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;

	CHECK(hd_engine_route(hd_engine_find(engine), &request, &routes, &err));
	return routes;
}

static inline uint32_t below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)hd_random_below(random, bound);
}

static inline struct hd_fabric *random_kind(uint64_t *random)
{
	char settings[128];

	switch (below(random, 5)) {
	case 0:
		snprintf(settings, sizeof(settings), "children=%u,%u,2 parents=1,2,%u",
			 1 + below(random, 3), 2 + below(random, 2), 1 + below(random, 2));
		return generate("xgft", settings);
	case 1:
		snprintf(settings, sizeof(settings), "children=%u,%u parents=1,%u parallel=1,%u",
			 1 + below(random, 3), 2 + below(random, 3), 1 + below(random, 3),
			 1 + below(random, 3));
		return generate("xgft", settings);
	case 2:
		snprintf(settings, sizeof(settings), "dims=%u,%u hosts=%u parallel=%u",
			 2 + below(random, 3), 2 + below(random, 3), 1 + below(random, 2),
			 1 + below(random, 2));
		return generate("torus", settings);
	case 3:
		snprintf(settings, sizeof(settings),
			 "islands=3 leaves=2 spines=2 hosts=%u global-links=%u",
			 1 + below(random, 2), 1 + below(random, 2));
		return generate("dragonfly-plus", settings);
	default:
		snprintf(settings, sizeof(settings), "switches=%u radix=8 hosts=2 seed=%u",
			 4 + below(random, 6), below(random, 100000));
		return generate("irregular", settings);
	}
}

/* Small, perhaps damaged, and perhaps with 1 << lmc LIDs for each host. */
static inline struct hd_fabric *random_fabric(uint64_t *random, uint8_t lmc)
{
	struct hd_fabric *fabric = random_kind(random), *changed = NULL;

	if (!below(random, 2))
		fabric = damaged(fabric, 12, hd_random_next(random));
	if (!below(random, 4)) {
		CHECK(hd_fabric_assign_lids(fabric, lmc, &changed, &err));
		hd_fabric_free(fabric);
		fabric = changed;
	}
	return fabric;
}

/* Any shortest paths, which may close credit loops. With `bad` some entries lead elsewhere, and some
 * nowhere. With lanes > 1 each path is on a lane of its own choice. */
static inline struct hd_routes *random_routes(const struct hd_fabric *fabric, uint64_t *random,
					      bool bad, uint32_t lanes)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t switches = fabric->switch_count;
	uint8_t *hops = malloc((size_t)switches * switches), last_port;

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	for (uint32_t lid = 1, last; lid < fabric->lid_count; lid++) {
		if (!hd_fabric_lid_destination(fabric, lid, &last, &last_port))
			continue;
		const uint8_t *row_of = hops + (size_t)last * switches;
		for (uint32_t sw = 0; sw < switches; sw++) {
			uint8_t *entry = &hd_routes_row(routes, sw)[lid];
			uint32_t seen = 0;
			if (sw == last)
				*entry = last_port;
			for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
				if (row_of[sw] != 0xFF &&
				    row_of[fabric->isl_to[i]] + 1 == row_of[sw] &&
				    !hd_random_below(random, ++seen))
					*entry = fabric->isl_port[i];
			if (bad && !below(random, 60))
				*entry =
				    below(random, 2) ? HD_NO_PORT : (uint8_t)(1 + below(random, 8));
		}
	}
	free(hops);
	if (lanes <= 1)
		return routes;
	routes->sl = calloc(switches, routes->stride);
	for (size_t i = 0; i < (size_t)switches * routes->stride; i++)
		routes->sl[i] = (uint8_t)below(random, lanes);
	for (uint8_t sl = 0; sl < 16; sl++)
		routes->sl2vl[sl] = sl;
	return routes;
}

#endif
