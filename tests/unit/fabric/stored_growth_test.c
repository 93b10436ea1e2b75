/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stored tables of a fabric that gains and loses cables: two switches with three cables and four hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stored_testing.h"

static struct hd_fabric *three_cables(void)
{
	return generate("torus", "dims=2 hosts=2 parallel=3");
}

/* Entries for the hosts of the other switch, by its links in turn; `links` says by which. */
static struct hd_routes *tables_by(const struct hd_fabric *fabric, const uint32_t *links,
				   uint32_t count)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	uint32_t turn = 0;

	assert_non_null(routes);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			uint32_t exit;
			uint8_t port;

			if (!hd_fabric_lid_destination(fabric, lid, &exit, &port))
				continue;
			if (exit != sw)
				port =
				    fabric->isl_port[fabric->isl_base[sw] + links[turn++ % count]];
			hd_routes_row(routes, sw)[lid] = port;
		}
	return routes;
}

static struct hd_fabric *without_cable(const struct hd_fabric *fabric, uint32_t link)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_fabric *fewer = NULL;

	hd_builder_unlink(builder, hd_isl_from(fabric, link), fabric->isl_port[link]);
	assert_int_equal(hd_builder_build(builder, &fewer, NULL), 0);
	hd_builder_free(builder);
	return fewer;
}

static void add(struct hd_stored_tables *stored, const struct hd_fabric *fabric,
		const struct hd_routes *routes, bool grows)
{
	bool grown;

	assert_int_equal(hd_stored_tables_add(stored, fabric, routes, &grown, NULL), 0);
	assert_int_equal(grown, grows);
}

/* Property: entries follow those in force when these use a link that no stored entry uses, and once only. */
static void follows_growth(void **state)
{
	const uint32_t two[] = {0, 1}, all[] = {2, 0, 1};
	struct hd_fabric *fabric = three_cables();
	struct hd_routes *before = tables_by(fabric, two, 2), *after = tables_by(fabric, all, 3);
	struct hd_stored_tables *stored = hd_stored_tables_new();

	(void)state;
	add(stored, fabric, before, true);
	add(stored, fabric, after, true);
	assert_int_equal(hd_routes_count_changes(stored->routes, after), 0);
	add(stored, fabric, after, false);
	add(stored, fabric, before, false); /* nothing new in these */
	assert_int_equal(hd_routes_count_changes(stored->routes, after), 0);
	hd_stored_tables_free(stored);
	hd_routes_free(before);
	hd_routes_free(after);
	hd_fabric_free(fabric);
}

/* Property: where as much is missing as is new, the stored tables stay, though those in force go round the loss by a link
 * that was idle. */
static void losses_change_nothing(void **state)
{
	const uint32_t two[] = {0, 1}, left[] = {0, 1};
	struct hd_fabric *fabric = three_cables(), *fewer = without_cable(fabric, 0);
	struct hd_routes *before = tables_by(fabric, two, 2), *round = tables_by(fewer, left, 2);
	struct hd_stored_tables *stored = hd_stored_tables_new();

	(void)state;
	add(stored, fabric, before, true);
	add(stored, fewer, round, false);
	assert_int_equal(hd_routes_count_changes(stored->routes, before), 0);
	hd_stored_tables_free(stored);
	hd_routes_free(before);
	hd_routes_free(round);
	hd_fabric_free(fabric);
	hd_fabric_free(fewer);
}

/* The first host of each switch is at the other one. */
static struct hd_fabric *swapped_hosts(const struct hd_fabric *fabric)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_fabric *swapped = NULL;
	const uint32_t host[] = {fabric->host_base[0], fabric->host_base[1]};

	for (unsigned i = 0; i < 2; i++)
		hd_builder_unlink(builder, fabric->host_switch[host[i]],
				  fabric->host_switch_port[host[i]]);
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t port = fabric->host_port[host[i]], other = host[!i];

		assert_int_equal(
		    hd_builder_link(builder, fabric->port_node[port], hd_port_number(fabric, port),
				    fabric->host_switch[other], fabric->host_switch_port[other], 0,
				    HD_SPEED_UNKNOWN, NULL),
		    0);
	}
	assert_int_equal(hd_builder_build(builder, &swapped, NULL), 0);
	hd_builder_free(builder);
	return swapped;
}

/* Property: the entries for hosts that were moved are those in force, at all switches. */
static void moved_hosts_are_new(void **state)
{
	const uint32_t two[] = {0, 1};
	struct hd_fabric *fabric = three_cables(), *moved = swapped_hosts(fabric);
	struct hd_routes *before = tables_by(fabric, two, 2), *after = tables_by(moved, two, 2),
			 *got;
	struct hd_stored_tables *stored = hd_stored_tables_new();

	(void)state;
	add(stored, fabric, before, true);
	add(stored, moved, after, true);
	assert_int_equal(hd_stored_tables_get(stored, moved, &got, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t lid = moved->lid[moved->host_port[moved->host_base[i]]];

		for (uint32_t sw = 0; sw < moved->switch_count; sw++)
			assert_int_equal(hd_routes_port(got, sw, lid),
					 hd_routes_port(after, sw, lid));
	}
	hd_routes_free(got);
	hd_stored_tables_free(stored);
	hd_routes_free(before);
	hd_routes_free(after);
	hd_fabric_free(fabric);
	hd_fabric_free(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(follows_growth),
	    cmocka_unit_test(losses_change_nothing),
	    cmocka_unit_test(moved_hosts_are_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
