/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adapters that are set aside, and hosts above the leaves: routed after all others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engines_testing.h"
#include <heddle/fabric/aside.h>

static struct hd_fabric *generated(const char *kind, const char *settings)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (generated_fabric(kind, settings, &fabric, &err))
		fail_msg("%s", err.text);
	return fabric;
}

/* The fabric with one more port on some switches, and a host with a LID there. */
static struct hd_fabric *with_hosts_on(struct hd_fabric *fabric, const char *const *names,
				       unsigned count, uint64_t *guids)
{
	struct hd_builder *builder = hd_builder_new();
	struct hd_fabric *changed = NULL;
	struct hd_error err = {""};
	uint32_t handle;

	for (uint32_t node = 0; node < fabric->node_count; node++) {
		struct hd_node_spec spec = {.type = (enum hd_node_type)fabric->node_type[node],
					    .guid = fabric->node_guid[node],
					    .port_count = hd_node_ports(fabric, node) +
							  hd_is_switch(fabric, node),
					    .name = fabric->node_name[node]};
		assert_int_equal(hd_builder_add_node(builder, &spec, &handle, &err), 0);
	}
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer != HD_NONE && port < peer)
			assert_int_equal(
			    hd_builder_link(builder, fabric->port_node[port],
					    hd_port_number(fabric, port), fabric->port_node[peer],
					    hd_port_number(fabric, peer), 4, HD_SPEED_EDR, &err),
			    0);
	}
	for (unsigned i = 0; i < count; i++) {
		struct hd_node_spec spec = {
		    .type = HD_CA, .guid = 0x900000 + i, .port_count = 1, .name = "storage"};
		uint32_t sw = 0;
		while (strcmp(fabric->node_name[sw], names[i]) != 0)
			sw++;
		guids[i] = spec.guid;
		assert_int_equal(hd_builder_add_node(builder, &spec, &handle, &err), 0);
		assert_int_equal(hd_builder_link(builder, sw, hd_node_ports(fabric, sw) + 1, handle,
						 1, 4, HD_SPEED_EDR, &err),
				 0);
	}
	hd_builder_assign_lids(builder, 0);
	if (hd_builder_build(builder, &changed, &err))
		fail_msg("%s", err.text);
	hd_builder_free(builder);
	hd_fabric_free(fabric);
	return changed;
}

#define TREE "children=4,4,3 parents=1,2,2"

/* With aggregation nodes the entries for hosts and switches are those without, for the engine never
 * sees them; and everything is reached without credit loops on one lane. */
static void other_entries_do_not_depend_on_aggregation_nodes(void **state)
{
	(void)state;
	static const char *const engines[] = {"dmodk", "updown", "spf", "multipath"};
	for (unsigned i = 0; i < 4; i++) {
		struct hd_fabric *plain = generated("xgft", TREE);
		struct hd_fabric *fabric = with_aggregation(generated("xgft", TREE));
		struct hd_routes *before = route(engines[i], "", plain);
		struct hd_routes *routes = route(engines[i], "", fabric);
		assert_int_equal(fabric->aside_count, fabric->switch_count);
		assert_int_equal(fabric->host_count, plain->host_count);
		assert_clean(fabric, routes);
		for (uint32_t sw = 0; sw < plain->switch_count; sw++)
			assert_memory_equal(hd_routes_row(before, sw) + 1,
					    hd_routes_row(routes, sw) + 1, plain->lid_count - 1);
		hd_routes_free(before);
		hd_routes_free(routes);
		hd_fabric_free(plain);
		hd_fabric_free(fabric);
	}
}

/* Tables with aggregation nodes come out unchanged when they are in place. */
static void tables_in_place_stay(void **state)
{
	(void)state;
	static const char *const engines[] = {"dmodk", "updown", "spf"};
	for (unsigned i = 0; i < 3; i++) {
		struct hd_fabric *fabric = with_aggregation(generated("xgft", TREE));
		struct hd_routes *routes = route(engines[i], "", fabric);
		struct hd_routes *again = route_after(engines[i], "", fabric, routes);
		assert_true(hd_routes_equal(routes, again));
		hd_routes_free(routes);
		hd_routes_free(again);
		hd_fabric_free(fabric);
	}
}

/* Storage on spines and tops: dmodk routes it without a policy file. */
static void dmodk_routes_hosts_above_the_leaves(void **state)
{
	(void)state;
	static const char *const names[] = {"S2_0_0", "S2_1_1", "S3_0_0", "S3_1_1"};
	uint64_t guids[4];
	struct hd_fabric *fabric = with_hosts_on(generated("xgft", TREE), names, 4, guids);
	struct hd_routes *routes = route("dmodk", "", fabric);
	struct hd_check_report *report = check(fabric, routes);
	assert_true(hd_check_clean(report));
	assert_int_equal(report->lanes, 1);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* What aggregation_guid_file lists is set aside: dmodk sees the bare tree, and the entries of the
 * tree are those without these adapters. */
static void listed_adapters_are_set_aside(void **state)
{
	(void)state;
	static const char *const names[] = {"S2_0_0", "S3_1_1"};
	uint64_t guids[2];
	struct hd_fabric *plain = generated("xgft", TREE);
	struct hd_fabric *fabric = with_hosts_on(generated("xgft", TREE), names, 2, guids);
	struct hd_policy policy = {.aggregation_guids = guids, .aggregation_count = 2};
	struct hd_routes *before = route("dmodk", "", plain);
	struct hd_routes *routes = route_policy("dmodk", "", fabric, &policy);
	assert_clean(fabric, routes);
	for (uint32_t host = 0; host < plain->host_count; host++) {
		uint32_t port = hd_fabric_find_port(
		    fabric, plain->node_guid[plain->port_node[plain->host_port[host]]]);
		uint32_t lid = fabric->lid[port], old = plain->lid[plain->host_port[host]];
		for (uint32_t sw = 0; sw < plain->switch_count; sw++)
			assert_int_equal(hd_routes_port(before, sw, old),
					 hd_routes_port(routes, sw, lid));
	}
	hd_routes_free(before);
	hd_routes_free(routes);
	hd_fabric_free(plain);
	hd_fabric_free(fabric);
}

/* Whether the path from a switch to the LID's switch is whole. */
static bool arrives(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
		    uint32_t lid)
{
	uint32_t to, link = 0;
	uint8_t port;

	if (!hd_fabric_lid_destination(fabric, lid, &to, &port))
		return false;
	for (uint32_t steps = 0; sw != to && steps < fabric->switch_count; steps++) {
		link = link_taken(fabric, routes, sw, lid);
		if (link == HD_NONE)
			return false;
		sw = fabric->isl_to[link];
	}
	return sw == to;
}

/* Entries of switches with hosts, for hosts and switches, that moved though their path was whole. */
static uint64_t moved_without_need(const struct hd_fabric *fabric, const struct hd_routes *before,
				   const struct hd_routes *after)
{
	uint64_t moved = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
			moved +=
			    fabric->host_base[sw] < fabric->host_base[sw + 1] &&
			    !fabric->aside[fabric->lid_owner[lid]] &&
			    hd_routes_port(before, sw, lid) != hd_routes_port(after, sw, lid) &&
			    arrives(fabric, before, sw, lid);
	return moved;
}

static void assert_rests(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct remarks said = {""};
	const struct hd_log log = {remark, &said};
	struct hd_route_request request = {
	    .fabric = fabric, .previous = routes, .baseline = routes, .log = &log};
	struct hd_routes *again = route_request("spf", "vls=1", &request);

	assert_true(hd_routes_equal(routes, again));
	assert_null(strstr(said.text, "aggregation"));
	hd_routes_free(again);
}

/* The fabric loses a cable. False: paths between hosts then need more lanes, or have to make room. */
static bool lose_cable(const struct hd_fabric *fabric, uint32_t link,
		       const struct hd_routes *routes)
{
	struct hd_fabric *less = without_link(copy_of(fabric), link);
	struct remarks said = {""};
	const struct hd_log log = {remark, &said};
	struct hd_route_request request = {
	    .fabric = less, .previous = routes, .baseline = routes, .log = &log};
	struct hd_routes *after = route_request("spf", "vls=1", &request);
	bool strict = !strstr(said.text, "share paths") && !strstr(said.text, "in the way");

	assert_clean(less, after);
	assert_null(strstr(said.text, "afresh"));
	if (strict) {
		assert_int_equal(moved_without_need(less, routes, after), 0);
		assert_true(hd_routes_count_changes(routes, after) * 20 <
			    (uint64_t)less->switch_count * less->lid_count);
		assert_rests(less, after);
	}
	hd_routes_free(after);
	hd_fabric_free(less);
	return strict;
}

/* On one lane all nodes have paths, if need be those of a tree, and that costs little: after the loss
 * of a cable few entries move, and none without need between hosts; the next sweep changes nothing
 * and is silent. */
static void one_lane_is_enough(void **state)
{
	(void)state;
	for (unsigned percent = 5; percent <= 15; percent += 5) {
		struct hd_fabric *fabric = with_links_removed(
		    with_aggregation(generated("xgft", "children=4,4,4 parents=1,4,4")), percent,
		    1);
		struct hd_routes *routes = route("spf", "vls=1", fabric);
		unsigned strict = 0;

		assert_clean(fabric, routes);
		for (uint32_t link = 0; link < fabric->isl_count; link += 24)
			strict += lose_cable(fabric, link, routes);
		assert_true(strict > 2);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
}

/* Entries for hosts at switches with hosts that are not those of the fabric without aggregation nodes. */
static uint64_t host_entries_unlike(const struct hd_fabric *twin, const struct hd_routes *without,
				    const struct hd_routes *routes)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < twin->switch_count; sw++)
		for (uint32_t host = 0; hd_has_hosts(twin, sw) && host < twin->host_count; host++)
			count += hd_routes_port(without, sw, host_lid(twin, host)) !=
				 hd_routes_port(routes, sw, host_lid(twin, host));
	return count;
}

/* A quarter of a tree's cables are missing, so that paths between hosts are in the way of the trees that
 * are tried. They move, the log says so, and all are served without credit loops. */
static void hosts_make_room(void **state)
{
	(void)state;
	struct hd_fabric *twin =
	    with_links_removed(generated("xgft", "children=4,4,4 parents=1,4,4"), 25, 1);
	struct hd_fabric *fabric = with_aggregation(copy_of(twin));
	struct hd_routes *without = route("spf", "vls=1", twin);
	struct remarks said = {""};
	const struct hd_log log = {remark, &said};
	const struct hd_route_request request = {.fabric = fabric, .log = &log};
	struct hd_routes *routes = route_request("spf", "vls=1", &request);
	assert_true(host_entries_unlike(twin, without, routes) > 0);
	assert_clean(fabric, routes);
	assert_non_null(strstr(said.text, "in the way of aggregation"));
	hd_routes_free(routes);
	hd_routes_free(without);
	hd_fabric_free(fabric);
	hd_fabric_free(twin);
}

/* Device number or system image GUID makes an aggregation node; a name does not. */
static void facts_decide_not_names(void **state)
{
	(void)state;
	static const struct {
		uint64_t system;
		uint32_t vendor;
		uint16_t device;
		bool aside;
	} cases[] = {{0, 0x2c9, 0xcf09, true}, {0, 0, 0xcf09, true},	   {7, 0, 0, true},
		     {7, 0x2c9, 0x1003, true}, {0, 0x119f, 0xcf09, false}, {8, 0, 0, false},
		     {0, 0, 0, false}};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_builder *builder = hd_builder_new();
		struct hd_fabric *fabric = NULL;
		uint32_t sw, adapter;
		const struct hd_node_spec box = {
		    .type = HD_SWITCH, .guid = 5, .system_guid = 7, .port_count = 2};
		const struct hd_node_spec spec = {.type = HD_CA,
						  .guid = 6,
						  .system_guid = cases[i].system,
						  .vendor_id = cases[i].vendor,
						  .device_id = cases[i].device,
						  .port_count = 1,
						  .name = "Aggregation Node"};
		assert_int_equal(hd_builder_add_node(builder, &box, &sw, NULL), 0);
		assert_int_equal(hd_builder_add_node(builder, &spec, &adapter, NULL), 0);
		assert_int_equal(hd_builder_link(builder, sw, 2, adapter, 1, 4, HD_SPEED_EDR, NULL),
				 0);
		assert_int_equal(hd_builder_build(builder, &fabric, NULL), 0);
		assert_int_equal(fabric->aside_count, cases[i].aside);
		assert_int_equal(fabric->host_count, !cases[i].aside);
		hd_builder_free(builder);
		hd_fabric_free(fabric);
	}
}

static struct hd_fabric *without_hosts_at(struct hd_fabric *old, const char *name)
{
	struct hd_builder *builder = hd_builder_from(old);
	uint32_t sw = 0;

	while (strcmp(old->node_name[sw], name) != 0)
		sw++;
	for (uint32_t host = 0; host < old->host_count; host++)
		if (old->host_switch[host] == sw)
			hd_builder_unlink(builder, sw, old->host_switch_port[host]);
	return rebuilt(builder, old);
}

/* With io_guid_file an engine leaves out paths to hosts from a leaf that has lost its own. Its aggregation
 * node gets them all the same. */
static void a_leaf_without_hosts_reaches_them_all(void **state)
{
	(void)state;
	static const char *const engines[] = {"dmodk", "updown"};
	uint64_t io = 0x100001;
	struct hd_policy policy = {.io_guids = &io, .io_count = 1};
	struct hd_fabric *fabric = with_aggregation(
	    without_hosts_at(generated("xgft", "children=2,2,2 parents=1,2,2"), "S1_0_1"));
	for (unsigned i = 0; i < 2; i++) {
		struct hd_routes *routes = route_policy(engines[i], "vls=1", fabric, &policy);
		assert_clean(fabric, routes);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

/* A file that an engine does not use keeps no path between hosts where it is. */
static void files_that_are_not_used_change_nothing(void **state)
{
	(void)state;
	struct hd_fabric *fabric = with_aggregation(
	    with_links_removed(generated("xgft", "children=4,4,4 parents=1,4,4"), 20, 3));
	uint64_t root = fabric->node_guid[fabric->switch_count - 1];
	const struct hd_policy policy = {.root_guids = &root, .root_count = 1};
	struct hd_routes *without = route("spf", "vls=1", fabric);
	struct hd_routes *with = route_policy("spf", "vls=1", fabric, &policy);
	assert_true(hd_routes_equal(without, with));
	hd_routes_free(without);
	hd_routes_free(with);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(other_entries_do_not_depend_on_aggregation_nodes),
	    cmocka_unit_test(tables_in_place_stay),
	    cmocka_unit_test(dmodk_routes_hosts_above_the_leaves),
	    cmocka_unit_test(listed_adapters_are_set_aside),
	    cmocka_unit_test(one_lane_is_enough),
	    cmocka_unit_test(hosts_make_room),
	    cmocka_unit_test(facts_decide_not_names),
	    cmocka_unit_test(a_leaf_without_hosts_reaches_them_all),
	    cmocka_unit_test(files_that_are_not_used_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
