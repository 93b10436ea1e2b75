/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The oracle that judges tables by channels says the same as the one with a matrix, and finds what is wrong. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_channels.h"
#include "oracle_maps.h"

#define ROUNDS 60u

static struct oracle_channels judge(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t *component =
	    calloc(fabric->switch_count, sizeof(*component)); /* all are connected */
	struct oracle_channels found;

	assert_non_null(component);
	found = oracle_channels_check(fabric, routes, component);
	free(component);
	return found;
}

static uint32_t below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)hd_random_below(random, bound);
}

/* Other entries and service levels, and other lanes for some pairs of ports. */
static void spoil(const struct hd_fabric *fabric, struct hd_routes *routes, uint64_t *random)
{
	for (uint32_t i = below(random, 6); i; i--) {
		const uint32_t sw = below(random, fabric->switch_count);
		const uint32_t link =
		    fabric->isl_base[sw] +
		    below(random, fabric->isl_base[sw + 1] - fabric->isl_base[sw]);
		hd_routes_row(routes, sw)[1 + below(random, fabric->lid_count - 1)] =
		    fabric->isl_port[link];
	}
	for (uint32_t i = routes->sl ? below(random, 40) : 0; i; i--)
		routes->sl[(size_t)below(random, routes->switch_count) * routes->stride +
			   below(random, routes->lid_count)] = (uint8_t)below(random, 4);
	for (uint32_t i = routes->maps ? below(random, 9) : 0; i; i--) {
		const uint32_t sw = below(random, fabric->switch_count);
		const uint32_t ports = routes->maps->ports[sw];
		routes->maps->map[hd_lane_maps_place(routes->maps, sw, below(random, ports),
						     below(random, ports))] =
		    (uint16_t)below(random, routes->maps->count);
	}
}

static void both_oracles_agree(void **unused)
{
	static const char *const engines[] = {"rings", "turns", "spf"};
	uint64_t random = 28;
	unsigned loops = 0, astray = 0;

	(void)unused;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct hd_fabric *fabric = generate("torus", round % 2 ? "dims=5,3" : "dims=6");
		struct hd_routes *routes = route(engines[round % 3], "vls=3", fabric);
		struct oracle_maps *other;
		struct oracle_channels found;

		if (round >= 6)
			spoil(fabric, routes, &random);
		found = judge(fabric, routes);
		other = oracle_maps_new(fabric, routes);
		assert_int_equal(found.loop, other->loop);
		assert_int_equal(found.lanes, other->lanes);
		if (round < 6)
			assert_false(found.loop || found.missing || found.astray);
		loops += found.loop;
		astray += found.astray > 0;
		oracle_maps_free(other);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_in_range(loops, 10, ROUNDS - 10);
	assert_in_range(astray, 10, ROUNDS - 10);
}

static void missing_entries_are_counted(void **unused)
{
	struct hd_fabric *fabric = generate("mesh", "dims=4 hosts=1");
	struct hd_routes *routes = route("spf", "", fabric);
	const uint32_t lid = fabric->lid[fabric->host_port[3]];
	struct oracle_channels found;

	(void)unused;
	hd_routes_row(routes, fabric->host_switch[3])[lid] = HD_NO_PORT;
	found = judge(fabric, routes);
	assert_int_equal(found.missing, fabric->switch_count);
	assert_int_equal(found.missing_hosts, fabric->switch_count);
	assert_int_equal(found.astray, 0);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_oracles_agree),
	    cmocka_unit_test(missing_entries_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
