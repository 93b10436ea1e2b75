/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of adaptive routing share. Include after <cmocka.h>. */
#ifndef AR_TESTING_H
#define AR_TESTING_H

#include "generated.h"
#include "variants.h"

#include <heddle/ar_manager.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		struct hd_error err = {""};                                                        \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, err.text);                                       \
	} while (0)

static inline struct hd_fabric *generate(const char *kind, const char *settings)
{
	struct hd_fabric *fabric = NULL;

	CHECK(generated_fabric(kind, settings, &fabric, &err));
	return fabric;
}

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

static inline int below(uint64_t *random, int bound)
{
	return (int)hd_random_below(random, (uint64_t)bound);
}

/* Small enough for the oracle. */
static inline struct hd_fabric *random_fabric(uint64_t *random)
{
	struct hd_fabric *fabric;
	char settings[128];

	switch (below(random, 5)) {
	case 0:
		snprintf(settings, sizeof(settings), "children=%d,%d,2 parents=1,2,%d",
			 1 + below(random, 3), 2 + below(random, 2), 1 + below(random, 2));
		fabric = generate("xgft", settings);
		break;
	case 1:
		snprintf(settings, sizeof(settings), "children=%d,%d parents=1,%d parallel=1,%d",
			 1 + below(random, 3), 2 + below(random, 3), 1 + below(random, 3),
			 1 + below(random, 3));
		fabric = generate("xgft", settings);
		break;
	case 2:
		snprintf(settings, sizeof(settings), "dims=%d,%d hosts=%d parallel=%d",
			 2 + below(random, 3), 2 + below(random, 3), 1 + below(random, 2),
			 1 + below(random, 2));
		fabric = generate("torus", settings);
		break;
	case 3:
		snprintf(settings, sizeof(settings),
			 "islands=3 leaves=2 spines=2 hosts=%d global-links=%d",
			 1 + below(random, 2), 1 + below(random, 2));
		fabric = generate("dragonfly-plus", settings);
		break;
	default:
		snprintf(settings, sizeof(settings), "switches=%d radix=8 hosts=2 seed=%d",
			 4 + below(random, 6), below(random, 100000));
		fabric = generate("irregular", settings);
	}
	if (!below(random, 2))
		fabric = damaged(fabric, 12, hd_random_next(random));
	if (!below(random, 4)) {
		struct hd_fabric *more = NULL;
		CHECK(hd_fabric_assign_lids(fabric, 1, &more, &err));
		hd_fabric_free(fabric);
		fabric = more;
	}
	return fabric;
}

/* Any shortest paths; some entries lead elsewhere, and some nowhere, where `bad` is set. With
 * lanes > 1 each path is on a lane of its own choice. */
static inline struct hd_routes *random_routes(const struct hd_fabric *fabric, uint64_t *random,
					      bool bad, int lanes)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t switches = fabric->switch_count;
	uint8_t *hops = malloc((size_t)switches * switches), last_port;

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	for (uint32_t lid = 1, last; lid < fabric->lid_count; lid++) {
		if (!hd_fabric_lid_destination(fabric, lid, &last, &last_port))
			continue;
		const uint8_t *row = hops + (size_t)last * switches;
		for (uint32_t sw = 0; sw < switches; sw++) {
			uint8_t *entry = &hd_routes_row(routes, sw)[lid];
			uint32_t seen = 0;
			if (sw == last)
				*entry = last_port;
			for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
				if (row[sw] != 0xFF && row[fabric->isl_to[i]] + 1 == row[sw] &&
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

static inline bool same_group(const struct hd_ar_plan *a, const struct hd_ar_plan *b, uint32_t sw,
			      uint32_t table, uint32_t lid)
{
	uint32_t left = hd_ar_plan_group(a, sw, table, lid);
	uint32_t right = hd_ar_plan_group(b, sw, table, lid);

	if (left == HD_AR_NO_GROUP || right == HD_AR_NO_GROUP)
		return left == right;
	return hd_ar_group_equal(&a->switches[sw].groups[left], &b->switches[sw].groups[right]);
}

/* Both plans of one fabric have the same entries; `numbers`: under the same numbers. */
static inline void assert_same_plan(const struct hd_ar_plan *a, const struct hd_ar_plan *b,
				    bool numbers)
{
	assert_int_equal(a->switch_count, b->switch_count);
	assert_int_equal(a->lid_count, b->lid_count);
	assert_int_equal(a->table_count, b->table_count);
	assert_int_equal(a->algorithm, b->algorithm);
	assert_int_equal(a->adaptive, b->adaptive);
	for (uint32_t sw = 0; sw < a->switch_count; sw++)
		for (uint32_t table = 0; table < a->table_count; table++)
			for (uint32_t lid = 0; lid < a->lid_count; lid++) {
				assert_true(same_group(a, b, sw, table, lid));
				assert_int_equal(a->switches[sw].lid_port[table][lid],
						 b->switches[sw].lid_port[table][lid]);
				if (numbers)
					assert_int_equal(hd_ar_plan_group(a, sw, table, lid),
							 hd_ar_plan_group(b, sw, table, lid));
			}
}

#endif
