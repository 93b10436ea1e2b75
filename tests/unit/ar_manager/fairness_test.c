/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ingress ports for each egress port, from the tables of generated fabrics. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_testing.h"

static struct hd_ar_fairness *fairness_of(const struct hd_fabric *fabric,
					  const struct hd_routes *routes,
					  enum hd_ar_algorithm algorithm)
{
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = algorithm, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_fairness *fairness = NULL;

	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	CHECK(hd_ar_fairness_new(fabric, routes, plan, &fairness, &err));
	hd_ar_plan_free(plan);
	return fairness;
}

static void same(const struct hd_ar_ingress *ingress, uint32_t total, uint32_t up, uint32_t down)
{
	assert_int_equal(hd_ar_ingress_total(ingress), total);
	assert_int_equal(ingress->above, up);
	assert_int_equal(ingress->below, down);
	assert_int_equal(ingress->beside, 0);
}

/* Property: table II for K = 2 .. 20, from the tables of dmodk: the ingress ports of each egress
 * port of a tree of 2K leaves with K hosts and K up ports each. */
static void table_two(void **state)
{
	(void)state;
	for (uint32_t k = 2; k <= 20; k++) {
		char settings[64];
		unsigned up = 0, spine = 0, down = 0;
		snprintf(settings, sizeof(settings), "children=%u,%u parents=1,%u", k, 2 * k, k);
		struct hd_fabric *fabric = generate("xgft", settings);
		struct hd_routes *routes = route("dmodk", fabric);
		struct hd_ar_fairness *fairness = fairness_of(fabric, routes, HD_AR_TREE);
		for (uint32_t i = 0; i < fairness->port_count; i++) {
			const struct hd_ar_fairness_port *port = &fairness->ports[i];
			bool leaf = fairness->level[port->sw] == 0;
			assert_int_equal(port->to_host, leaf && port->direction == HD_AR_DOWN);
			if (leaf && port->direction == HD_AR_UP) {
				same(&port->deterministic, k, 0, k);
				same(&port->adaptive, k, 0, k);
				assert_false(port->parking_lot || port->reverse_parking_lot);
				up++;
			} else if (leaf) {
				same(&port->deterministic, k, 1, k - 1);
				same(&port->adaptive, 2 * k - 1, k, k - 1);
				assert_true(port->parking_lot && port->reverse_parking_lot);
				down++;
			} else {
				same(&port->deterministic, 2 * k - 1, 0, 2 * k - 1);
				same(&port->adaptive, 2 * k - 1, 0, 2 * k - 1);
				assert_false(port->parking_lot || port->reverse_parking_lot);
				spine++;
			}
		}
		assert_int_equal(up, 2 * k * k);
		assert_int_equal(down, 2 * k * k);
		assert_int_equal(spine, 2 * k * k);
		hd_ar_fairness_free(fairness);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Property: in a chain of switches the links compete with local hosts, and with one link between
 * neighbours adaptive routing changes nothing. */
static void chain(void **state)
{
	struct hd_fabric *fabric = generate("mesh", "dims=4 hosts=1");
	struct hd_routes *routes = route("updown", fabric);
	struct hd_ar_fairness *fairness = fairness_of(fabric, routes, HD_AR_LAG);
	unsigned at_risk = 0;

	(void)state;
	for (uint32_t i = 0; i < fairness->port_count; i++) {
		const struct hd_ar_fairness_port *port = &fairness->ports[i];
		assert_memory_equal(&port->deterministic, &port->adaptive, sizeof(port->adaptive));
		assert_false(port->reverse_parking_lot);
		at_risk += port->parking_lot;
	}
	/* the four links from an inner switch onwards */
	assert_int_equal(at_risk, 4);
	hd_ar_fairness_free(fairness);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(table_two),
	    cmocka_unit_test(chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
