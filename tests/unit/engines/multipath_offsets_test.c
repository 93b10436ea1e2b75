/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* multipath where there are too many cycles for path bits: each LID offset other shortest paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multipath_testing.h"

#define OFFSETS "mode=offsets deadlock=off"

/* ---- brute force ---- */

struct sharing {
	const struct hd_fabric *fabric;
	uint32_t *crossings; /* [isl_count] lower LIDs of the host that bring packets over it */
	uint32_t *hops; /* [switch_count] to the exit */
};

static void sharing_new(struct sharing *sharing, const struct hd_fabric *fabric)
{
	sharing->fabric = fabric;
	sharing->crossings = calloc(fabric->isl_count + 1, sizeof(uint32_t));
	sharing->hops = calloc(fabric->switch_count, sizeof(uint32_t));
}

static void sharing_free(struct sharing *sharing)
{
	free(sharing->crossings);
	free(sharing->hops);
}

/* Steps to the exit, by relaxing every link until nothing changes. */
static void count_hops(struct sharing *sharing, uint32_t exit)
{
	const struct hd_fabric *fabric = sharing->fabric;

	memset(sharing->hops, 0xFF, fabric->switch_count * sizeof(uint32_t));
	sharing->hops[exit] = 0;
	for (uint32_t round = 0; round < fabric->switch_count; round++)
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t far = sharing->hops[fabric->isl_to[link]];
			uint32_t *near = &sharing->hops[hd_isl_from(fabric, link)];
			if (far != HD_NONE && far + 1 < *near)
				*near = far + 1;
		}
}

/* Links that any host's packets to one LID cross. */
static void add_crossings(struct sharing *sharing, const struct hd_routes *routes, uint32_t lid)
{
	const struct hd_fabric *fabric = sharing->fabric;
	bool *crossed = calloc(fabric->isl_count + 1, sizeof(*crossed));
	uint32_t *way = calloc(fabric->switch_count, sizeof(*way));

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t hops = follow(fabric, routes, fabric->host_switch[host], lid, way);
		for (uint32_t i = 0; i < hops; i++)
			crossed[way[i]] = true;
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		sharing->crossings[link] += crossed[link];
	free(way);
	free(crossed);
}

/* Least sum of crossings over all shortest paths from `sw`, each tried in full. */
static uint32_t least_shared(const struct sharing *sharing, uint32_t sw)
{
	const struct hd_fabric *fabric = sharing->fabric;
	uint32_t least = sharing->hops[sw] ? UINT32_MAX : 0;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t far = fabric->isl_to[link];
		if (sharing->hops[far] + 1 != sharing->hops[sw])
			continue;
		uint32_t sum = sharing->crossings[link] + least_shared(sharing, far);
		least = sum < least ? sum : least;
	}
	return least;
}

static void assert_shares_least(const struct sharing *sharing, const struct hd_routes *routes,
				uint32_t lid, const char *recipe)
{
	const struct hd_fabric *fabric = sharing->fabric;
	uint32_t *way = calloc(fabric->switch_count, sizeof(*way));

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t shared = 0;
		if (sharing->hops[sw] == HD_NONE)
			continue;
		uint32_t hops = follow(fabric, routes, sw, lid, way);
		for (uint32_t i = 0; i < hops; i++)
			shared += sharing->crossings[way[i]];
		assert_int_equal(hops, sharing->hops[sw]);
		if (shared != least_shared(sharing, sw))
			fail_msg("%s: from switch %u to LID %u %u shared, least %u", recipe, sw,
				 lid, shared, least_shared(sharing, sw));
	}
	free(way);
}

/* Property: on small fabrics of every kind, from every switch, the path to base + n is shortest
 * and shares as little with the trees of base .. base + n - 1 as any shortest path, by trying
 * all of them. */
static void shares_as_little_as_can_be(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (uint64_t number = 0; number < 135; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct sharing sharing;
		if (fabric->switch_count > 40) {
			hd_fabric_free(fabric);
			continue;
		}
		fabric = with_lmc(fabric, 2);
		struct hd_routes *routes = route("multipath", OFFSETS, fabric);
		sharing_new(&sharing, fabric);
		for (uint32_t host = 0; host < fabric->host_count; host += 1 + host / 4) {
			count_hops(&sharing, fabric->host_switch[host]);
			memset(sharing.crossings, 0, fabric->isl_count * sizeof(uint32_t));
			for (uint32_t offset = 0; offset < 4; offset++) {
				uint32_t lid = host_lid(fabric, host) + offset;
				if (offset)
					assert_shares_least(&sharing, routes, lid, recipe);
				add_crossings(&sharing, routes, lid);
			}
			compared++;
		}
		sharing_free(&sharing);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(compared > 300);
}

/* ---- offsets ---- */

/* Property: base LIDs and switches have spf's entries for a fabric with LMC 0, LID for LID. */
static void base_lids_are_spfs(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 90; number++) {
		char recipe[200];
		struct hd_fabric *single = with_lmc(draw_fabric(number, recipe), 0);
		struct hd_fabric *several = with_lmc(copy_of(single), 3);
		struct hd_routes *spf = route("spf", "deadlock=off", single);
		struct hd_routes *routes = route("multipath", OFFSETS, several);
		for (uint32_t sw = 0; sw < single->switch_count; sw++)
			for (uint32_t host = 0; host < single->host_count; host++)
				assert_int_equal(
				    hd_routes_port(spf, sw, host_lid(single, host)),
				    hd_routes_port(routes, sw, host_lid(several, host)));
		hd_routes_free(routes);
		hd_routes_free(spf);
		hd_fabric_free(several);
		hd_fabric_free(single);
	}
}

/* Property: in a full fat tree of 6 x 6 x 6 the first 6 LIDs of a host come by links of their
 * own, from a leaf up and from the last spine down, wherever the tree has as many. */
static void lids_of_a_fat_tree_are_disjoint(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_lmc(generate("xgft", "children=6,6,6 parents=1,6,6"), 2);
	struct hd_routes *routes = route("multipath", "deadlock=off", fabric);
	uint32_t *ways[4];
	for (unsigned i = 0; i < 4; i++)
		ways[i] = calloc(fabric->switch_count, sizeof(uint32_t));
	assert_arrives(fabric, routes);
	for (uint32_t host = 0; host < fabric->host_count; host += 7)
		for (uint32_t from = 0; from < fabric->host_count; from += 11) {
			uint32_t hops = 0, sw = fabric->host_switch[from];
			for (unsigned i = 0; i < 4; i++)
				hops =
				    follow(fabric, routes, sw, host_lid(fabric, host) + i, ways[i]);
			for (unsigned i = 1; i < 4; i++)
				for (unsigned lower = 0; lower < i; lower++)
					for (uint32_t hop = 0; hop < hops; hop++)
						assert_int_not_equal(ways[i][hop],
								     ways[lower][hop]);
		}
	for (unsigned i = 0; i < 4; i++)
		free(ways[i]);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: ports with LMC 0, 1 and 3 beside each other are all served, each LID by shortest ways,
 * and those with LMC 3 have several. */
static void every_port_has_its_own_lmc(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_mixed_lmc(generate("torus", "dims=4,4 hosts=2"));
	struct hd_routes *routes = route("multipath", OFFSETS, fabric);
	uint32_t *way = calloc(fabric->switch_count, sizeof(*way)), several = 0;
	struct sharing sharing;
	sharing_new(&sharing, fabric);
	assert_arrives(fabric, routes);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[host]);
		count_hops(&sharing, fabric->host_switch[host]);
		assert_int_equal(lids, host % 3 == 0 ? 1 : host % 3 == 1 ? 8 : 2);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			for (uint32_t offset = 0; offset < lids; offset++)
				assert_int_equal(follow(fabric, routes, sw,
							host_lid(fabric, host) + offset, way),
						 sharing.hops[sw]);
			several += lids == 8 && distinct_ways(fabric, routes, sw, host) > 1;
		}
	}
	assert_true(several > 50);
	sharing_free(&sharing);
	free(way);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: mode=auto takes offsets on a torus and says so, and path bits on a ring. */
static void auto_chooses(void **state)
{
	(void)state;
	struct hd_fabric *torus = with_lmc(generate("torus", "dims=4,4,4 hosts=1"), 2);
	struct hd_fabric *ring = with_lmc(generate("torus", "dims=7 hosts=1"), 1);
	struct remarks remarks = {""};
	struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_routes *by_itself = route_request(
	    "multipath", "deadlock=off", &(struct hd_route_request){.fabric = torus, .log = &log});
	struct hd_routes *offsets = route("multipath", OFFSETS, torus);
	assert_true(hd_routes_equal(by_itself, offsets));
	assert_non_null(strstr(remarks.text, "129 independent cycles"));
	hd_routes_free(by_itself);
	hd_routes_free(offsets);
	by_itself = route("multipath", "deadlock=off", ring);
	for (uint32_t sw = 1; sw < 7; sw++)
		assert_int_equal(distinct_ways(ring, by_itself, 0, ring->host_base[sw]), 2);
	hd_routes_free(by_itself);
	hd_fabric_free(torus);
	hd_fabric_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares_as_little_as_can_be),
	    cmocka_unit_test(base_lids_are_spfs),
	    cmocka_unit_test(lids_of_a_fat_tree_are_disjoint),
	    cmocka_unit_test(every_port_has_its_own_lmc),
	    cmocka_unit_test(auto_chooses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
