/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a sweep leaves out that passed cables before they died. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "routing.h"
#include "stale.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/change/repair.h>
#include <heddle/fabric/aside.h>

#define TREE "children=3,3 parents=1,3"
#define LOSSES_MOST 6u

/* Only their fabrics matter. */
static struct routing *routing_of(struct hd_fabric *fabric)
{
	struct routing *routing = calloc(1, sizeof(*routing));

	atomic_init(&routing->holders, 1);
	routing->fabric = fabric;
	return routing;
}

/* OpenSM, a sweep, and repairs. */
struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct hd_fabric *intact; /* of the published routing when the sweep begins */
};

/* As part_sweep_begins() and the end of a sweep do it. */
static void end_sweep(struct part_context *context)
{
	routing_release(context->begun);
	context->begun = NULL;
}

static void begin_sweep(struct part_context *context)
{
	struct routing *published = context->published;

	end_sweep(context);
	if (published)
		context->begun = routing_hold(published->origin ? published->origin : published);
}

static void start_with(struct world *world, struct hd_fabric *fabric)
{
	*world = (struct world){.intact = fabric};
	cl_plock_init(&world->osm.lock);
	world->context =
	    (struct part_context){.osm = &world->osm, .published = routing_of(world->intact)};
	begin_sweep(&world->context);
}

static void start(struct world *world, const char *kind, const char *settings)
{
	start_with(world, generate(kind, settings));
}

static void end(struct world *world)
{
	end_sweep(&world->context);
	routing_release(world->context.published);
	cl_plock_destroy(&world->osm.lock);
}

static struct hd_fabric *without(const struct hd_fabric *fabric,
				 const struct hd_fabric_change *losses, uint32_t count)
{
	struct hd_fabric *left = NULL;

	assert_int_equal(hd_fabric_without(fabric, losses, count, HD_NONE, &left, NULL), 0);
	return left;
}

/* A repair of all that is lost by now, unless OpenSM sees no switch any more. */
static void repair(struct world *world, const struct hd_fabric_change *losses, uint32_t count)
{
	const uint32_t own = world->intact->port_node[world->intact->host_port[0]];
	struct hd_fabric *left;

	if (!hd_fabric_without(world->intact, losses, count, own, &left, NULL))
		part_replace(&world->context, routing_of(left));
}

/* A switch without hosts, and its cables. */
static struct hd_fabric_change spine_of(const struct hd_fabric *fabric)
{
	struct hd_fabric_change loss = {.lost = true};

	while (fabric->isl_base[loss.index + 1] - fabric->isl_base[loss.index] <
	       hd_node_ports(fabric, loss.index))
		loss.index++;
	return loss;
}

/* A cable of a switch to another switch. */
static struct hd_fabric_change uplink(const struct hd_fabric *fabric, uint32_t sw, uint32_t number)
{
	return (struct hd_fabric_change){
	    .lost = true,
	    .cable = true,
	    .index = hd_port_index(fabric, sw, fabric->isl_port[fabric->isl_base[sw] + number])};
}

static int leave_out(const struct world *world, const struct hd_fabric *found,
		     struct stale_rest *rest)
{
	struct hd_error err;

	*rest = (struct stale_rest){NULL, 0, 0};
	return stale_leave_out(&world->context, found, rest, &err);
}

/* The tables of the sweep are those of the fabric that the repair has asked, and no other. */
static void test_a_sweep_leaves_out_what_a_repair_found(void **state)
{
	struct stale_rest rest;
	struct hd_fabric *wanted;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change losses[] = {uplink(world.intact, 0, 0),
						  uplink(world.intact, 1, 1)};
	repair(&world, losses, 1);
	repair(&world, losses, 2);
	assert_int_equal(leave_out(&world, world.intact, &rest), 0);
	assert_int_equal(rest.cables, 2);
	assert_int_equal(rest.switches, 0);
	wanted = without(world.intact, losses, 2);
	assert_true(same_fabric(rest.fabric, wanted));
	hd_fabric_free(wanted);
	hd_fabric_free(rest.fabric);
	end(&world);
}

static void test_there_is_nothing_to_leave_out(void **state)
{
	struct stale_rest rest;
	struct hd_fabric *found;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change loss = uplink(world.intact, 0, 0);
	/* no repair */
	assert_int_equal(leave_out(&world, world.intact, &rest), -ENODATA);
	/* the sweep has seen the loss */
	repair(&world, &loss, 1);
	found = without(world.intact, &loss, 1);
	assert_int_equal(leave_out(&world, found, &rest), -ENODATA);
	hd_fabric_free(found);
	/* the repair was before the sweep: the cable is back */
	found = without(world.intact, NULL, 0);
	begin_sweep(&world.context);
	assert_int_equal(leave_out(&world, found, &rest), -ENODATA);
	/* there is no sweep: OpenSM does the command `reroute` */
	end_sweep(&world.context);
	assert_int_equal(leave_out(&world, found, &rest), -ENODATA);
	/* the tables are not Heddle's any more */
	begin_sweep(&world.context);
	part_replace(&world.context, NULL);
	assert_int_equal(leave_out(&world, found, &rest), -ENODATA);
	/* nor were they when the sweep began */
	begin_sweep(&world.context);
	assert_null(world.context.begun);
	assert_int_equal(leave_out(&world, found, &rest), -ENODATA);
	hd_fabric_free(found);
	end(&world);
}

/* Other keys are other tables of the same fabric. */
static void test_keys_make_no_difference(void **state)
{
	struct stale_rest rest;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change loss = uplink(world.intact, 0, 0);
	struct hd_routes *no_tables = NULL;
	part_replace(&world.context, routing_with_keys(world.context.published, no_tables));
	begin_sweep(&world.context);
	assert_ptr_equal(world.context.begun->origin, NULL);
	part_replace(&world.context, routing_with_keys(world.context.published, no_tables));
	assert_int_equal(leave_out(&world, world.intact, &rest), -ENODATA);
	struct hd_fabric *found = without(world.intact, NULL, 0);
	repair(&world, &loss, 1);
	assert_int_equal(leave_out(&world, found, &rest), 0);
	assert_int_equal(rest.cables, 1);
	hd_fabric_free(rest.fabric);
	hd_fabric_free(found);
	end(&world);
}

/* Its cables go with it, and what has no cable otherwise stays. */
static void test_a_lost_switch_without_hosts_is_left_out(void **state)
{
	struct stale_rest rest;
	struct hd_fabric *wanted;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change loss = spine_of(world.intact);
	repair(&world, &loss, 1);
	assert_int_equal(leave_out(&world, world.intact, &rest), 0);
	assert_int_equal(rest.switches, 1);
	assert_int_equal(rest.cables, 0);
	wanted = without(world.intact, &loss, 1);
	assert_true(same_fabric(rest.fabric, wanted));
	hd_fabric_free(wanted);
	hd_fabric_free(rest.fabric);
	end(&world);
}

/* An aggregation node is a part of its switch. It goes with a spine, and stays with a leaf. */
static void test_aggregation_nodes_go_with_their_switch(void **state)
{
	struct stale_rest rest;
	struct hd_fabric *plain = generate("xgft", TREE), *fabric;
	struct hd_fabric_change losses[2] = {spine_of(plain), {.lost = true}};
	struct world world;

	(void)state;
	assert_int_equal(hd_fabric_add_aggregation(plain, &fabric, NULL), 0);
	hd_fabric_free(plain);
	start_with(&world, fabric);
	losses[1].index = world.intact->host_switch[world.intact->host_count - 1];
	repair(&world, losses, 2);
	assert_int_equal(leave_out(&world, world.intact, &rest), 0);
	assert_int_equal(rest.switches, 1);
	assert_int_equal(rest.fabric->switch_count, world.intact->switch_count - 1);
	assert_int_equal(rest.fabric->node_count, world.intact->node_count - 2);
	assert_int_equal(rest.fabric->host_count, world.intact->host_count);
	assert_int_equal(rest.fabric->aside_count, world.intact->aside_count - 1);
	hd_fabric_free(rest.fabric);
	end(&world);
}

/* OpenSM sends nothing to a switch that is left out, and writes the tables of the others. */
static void test_tables_of_a_lost_switch_stay(void **state)
{
	uint8_t lft[2][64] = {{1}, {2}}, new_lft[2][64] = {{3}, {4}};
	osm_node_t nodes[2] = {0};
	osm_switch_t switches[2];
	struct stale_rest rest;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change loss = spine_of(world.intact);
	cl_qmap_init(&world.osm.subn.sw_guid_tbl);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t guid = world.intact->node_guid[i ? loss.index : 0];
		nodes[i].node_info.node_guid = cl_hton64(guid);
		switches[i] = (osm_switch_t){
		    .p_node = &nodes[i], .lft = lft[i], .new_lft = new_lft[i], .lft_size = 64};
		cl_qmap_insert(&world.osm.subn.sw_guid_tbl, cl_hton64(guid), &switches[i].map_item);
	}
	repair(&world, &loss, 1);
	assert_int_equal(leave_out(&world, world.intact, &rest), 0);
	stale_keep_tables(&world.context, rest.fabric);
	assert_int_equal(new_lft[0][0], 3);
	assert_int_equal(new_lft[1][0], 2);
	hd_fabric_free(rest.fabric);
	end(&world);
}

/* Hosts keep their cables, and their switches stay, even if repairs took them for lost. */
static void test_hosts_and_their_switches_stay(void **state)
{
	struct stale_rest rest;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const uint32_t host = world.intact->host_port[world.intact->host_count - 1];
	const uint32_t other = world.intact->host_port[world.intact->host_count / 2];
	const struct hd_fabric_change losses[] = {
	    {.lost = true, .cable = true, .index = host},
	    {.lost = true, .index = world.intact->port_node[world.intact->peer[other]]}};
	repair(&world, losses, 2);
	assert_int_equal(leave_out(&world, world.intact, &rest), -ENODATA);
	end(&world);
}

/* The sweep has not found the other cables of a switch: the one that a repair took for lost may be back. */
static void test_a_last_cable_stays(void **state)
{
	struct stale_rest rest;
	struct hd_fabric *found;
	struct world world;

	(void)state;
	start(&world, "xgft", TREE);
	const struct hd_fabric_change losses[] = {
	    uplink(world.intact, 0, 0), uplink(world.intact, 0, 1), uplink(world.intact, 0, 2)};
	repair(&world, losses, 1);
	found = without(world.intact, losses + 1, 1);
	assert_int_equal(leave_out(&world, found, &rest), 0);
	hd_fabric_free(rest.fabric);
	hd_fabric_free(found);
	found = without(world.intact, losses + 1, 2);
	assert_int_equal(leave_out(&world, found, &rest), -ENETUNREACH);
	hd_fabric_free(found);
	end(&world);
}

/* ---- random fabrics ---- */

static void mark(const struct hd_fabric *fabric, uint32_t from, bool *seen)
{
	seen[from] = true;
	for (uint32_t port = fabric->port_base[from]; port < fabric->port_base[from + 1]; port++) {
		const uint32_t peer = fabric->peer[port];
		const uint32_t next = peer == HD_NONE ? from : fabric->port_node[peer];
		if (seen[next])
			continue;
		seen[next] = true;
		if (hd_is_switch(fabric, next))
			mark(fabric, next, seen);
	}
}

/* Every node that is left reaches the same of them as before, and all hosts are left. */
static void check_reach(const struct hd_fabric *found, const struct hd_fabric *left)
{
	bool *before = malloc(found->node_count), *after = malloc(left->node_count);

	assert_int_equal(left->host_count, found->host_count);
	for (uint32_t node = 0; node < left->node_count; node++) {
		memset(before, 0, found->node_count);
		memset(after, 0, left->node_count);
		mark(found, hd_fabric_find_node(found, left->node_guid[node]), before);
		mark(left, node, after);
		for (uint32_t to = 0; to < left->node_count; to++)
			assert_int_equal(before[hd_fabric_find_node(found, left->node_guid[to])],
					 after[to]);
	}
	free(before);
	free(after);
}

static uint32_t draw(const struct hd_fabric *fabric, struct hd_fabric_change *losses,
		     uint32_t least, uint64_t *random)
{
	const uint32_t count = least + (uint32_t)hd_random_below(random, LOSSES_MOST + 1 - least);

	for (uint32_t i = 0; i < count; i++) {
		losses[i] = (struct hd_fabric_change){.lost = true,
						      .cable = hd_random_below(random, 4) > 0};
		losses[i].index = (uint32_t)hd_random_below(
		    random, losses[i].cable ? fabric->port_count : fabric->switch_count - 1);
	}
	return count;
}

/* Nobody is cut off, whatever repairs found and whatever the sweep has seen. */
static void test_nobody_is_cut_off(void **state)
{
	static const char *const fabrics[][2] = {{"xgft", "children=3,3 parents=1,2"},
						 {"irregular", "switches=12 radix=6 seed=3"},
						 {"torus", "dims=3,3 hosts=1"}};
	unsigned left_out = 0, kept = 0, switches = 0;
	uint64_t random = 7;

	(void)state;
	for (unsigned i = 0; i < 3 * 300; i++) {
		struct hd_fabric_change losses[LOSSES_MOST], others[LOSSES_MOST];
		struct stale_rest rest;
		struct hd_fabric *found;
		struct world world;
		start(&world, fabrics[i % 3][0], fabrics[i % 3][1]);
		repair(&world, losses, draw(world.intact, losses, 1, &random));
		found = without(world.intact, others, draw(world.intact, others, 0, &random));
		int rc = leave_out(&world, found, &rest);
		if (!rc) {
			assert_true(rest.cables + rest.switches > 0);
			switches += rest.switches;
			check_reach(found, rest.fabric);
			hd_fabric_free(rest.fabric);
		}
		left_out += !rc;
		kept += rc == -ENETUNREACH;
		hd_fabric_free(found);
		end(&world);
	}
	print_message("left out %u times, of these %u switches; kept %u times\n", left_out,
		      switches, kept);
	assert_true(left_out > 100 && switches > 10 && kept > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_sweep_leaves_out_what_a_repair_found),
	    cmocka_unit_test(test_there_is_nothing_to_leave_out),
	    cmocka_unit_test(test_keys_make_no_difference),
	    cmocka_unit_test(test_a_lost_switch_without_hosts_is_left_out),
	    cmocka_unit_test(test_aggregation_nodes_go_with_their_switch),
	    cmocka_unit_test(test_tables_of_a_lost_switch_stay),
	    cmocka_unit_test(test_hosts_and_their_switches_stay),
	    cmocka_unit_test(test_a_last_cable_stays),
	    cmocka_unit_test(test_nobody_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
