/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An OpenSM with multicast groups, and simulated switches with multicast tables, for tests of their
 * repair. Include after <cmocka.h>, in one file of a program.
 */
#ifndef REPAIR_MULTICAST_TESTING_H
#define REPAIR_MULTICAST_TESTING_H

#include "generate_testing.h"
#include "multicast_members.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "repair_multicast.h"
#include "routing.h"
#include "simulated_port.h"
#include "writer_mft.h"

#include <complib/cl_passivelock.h>
#include <heddle/change/repair.h>
#include <heddle/engines/multicast.h>
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>

#define SWITCHES 32u
#define GROUPS 5u
#define MEMBERS 6u
#define ROWS 64u /* MLIDs of a table */
#define SPREAD 9u /* MLIDs from group to group */

typedef uint16_t table_row[IB_MCAST_POSITION_MAX + 1];

static struct world {
	osm_opensm_t osm;
	struct part_context context;
	struct writer writer;
	struct repair_shared shared;
	struct repair_start start;
	struct routing routing;
	struct hd_fabric *fabric, *damaged;
	osm_switch_t switches[SWITCHES];
	osm_mgrp_box_t boxes[GROUPS];
	osm_mgrp_t groups[GROUPS];
	osm_node_t nodes[GROUPS][MEMBERS];
	osm_physp_t ends[GROUPS][MEMBERS];
	osm_port_t ports[GROUPS][MEMBERS];
	osm_mcm_port_t members[GROUPS][MEMBERS];
	osm_mcm_alias_guid_t aliases[GROUPS][MEMBERS];
	table_row held[SWITCHES][ROWS]; /* in the switches, as they travel */
	table_row before[SWITCHES][ROWS]; /* when all was well */
	uint32_t lost; /* link */
	struct simulated_port port;
	struct hd_smp_queue *queue;
	uint32_t writes; /* that switches have taken */
	/* Called before a switch takes a block; NULL: nothing happens */
	void (*meanwhile)(uint32_t sw);
	char text[REPAIR_MULTICAST_TEXT]; /* of the last run */
} world;

/* ---- OpenSM ---- */

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
}

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	uint32_t sw = hd_fabric_find_node(world.fabric, cl_ntoh64(guid));

	(void)subn;
	return sw < world.fabric->switch_count ? &world.switches[sw] : NULL;
}

volatile unsigned int osm_exit_flag;

ib_api_status_t osm_mcast_tbl_set_block(osm_mcast_tbl_t *table, const ib_net16_t *block,
					int16_t number, uint8_t position)
{
	for (uint32_t i = 0; i < IB_MCAST_BLOCK_SIZE; i++)
		(*table->p_mask_tbl)[(uint32_t)number * IB_MCAST_BLOCK_SIZE + i][position] =
		    block[i];
	return IB_SUCCESS;
}

void repair_start_free(struct repair_start *start)
{
	(void)start;
}

static table_row *known(uint32_t sw)
{
	return (table_row *)world.switches[sw].mcast_tbl.p_mask_tbl;
}

/* ---- switches ---- */

static uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	const uint32_t first = (smp->modifier & 0x1FF) * IB_MCAST_BLOCK_SIZE;
	const uint32_t position = smp->modifier >> 28;

	(void)context;
	assert_int_equal(smp->attribute, HD_SMP_MFT);
	assert_int_equal(smp->method, HD_SMP_SET);
	if (world.meanwhile)
		world.meanwhile(node);
	for (uint32_t i = 0; i < IB_MCAST_BLOCK_SIZE; i++)
		memcpy(&world.held[node][first + i][position], smp->data + 2 * i, 2);
	memcpy(data, smp->data, HD_SMP_DATA);
	world.writes++;
	return 0;
}

/* ---- the sweep ---- */

static void set_row(table_row *rows, uint32_t group, const struct hd_port_set *ports)
{
	for (uint32_t position = 0; position <= IB_MCAST_POSITION_MAX; position++)
		rows[group * SPREAD][position] =
		    cl_hton16((uint16_t)(ports->words[position / 4] >> position % 4 * 16));
}

/* What a sweep on this fabric writes into all switches. */
static void sweep(const struct hd_fabric *fabric, table_row (*tables)[ROWS])
{
	struct hd_multicast *planner;
	struct hd_error err;

	memset(tables, 0, SWITCHES * sizeof(*tables));
	assert_int_equal(hd_multicast_new(fabric, NULL, &planner, &err), 0);
	for (uint32_t group = 0; group < GROUPS; group++) {
		struct hd_multicast_tree *tree;
		uint32_t members[MEMBERS], count = 0;
		for (uint32_t i = 0; i < MEMBERS; i++) {
			uint64_t guid = cl_ntoh64(world.nodes[group][i].node_info.node_guid);
			uint32_t node = hd_fabric_find_node(fabric, guid);
			if (node != HD_NONE)
				members[count++] = hd_port_index(fabric, node, 1);
		}
		assert_int_equal(hd_multicast_plan(
				     planner, &(struct hd_multicast_group){members, count, HD_NONE},
				     &tree, &err),
				 0);
		for (uint32_t i = 0; i < tree->branch_count; i++)
			set_row(tables[hd_fabric_find_node(
				    world.fabric, fabric->node_guid[tree->branches[i].sw])],
				group, &tree->branches[i].ports);
		hd_multicast_add(planner, tree);
		free(tree);
	}
	hd_multicast_free(planner);
}

/* All is well again, as before the loss. */
static void reset(void)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++) {
		memcpy(world.held[sw], world.before[sw], sizeof(world.held[sw]));
		memcpy(known(sw), world.before[sw], sizeof(world.before[sw]));
		world.port.nodes[sw].silent = 0;
		hd_smp_queue_forgive(world.queue, sw);
	}
	world.writes = 0;
	world.meanwhile = NULL;
	world.writer.turn = 1;
}

/* ---- the world ---- */

static void join(uint32_t group, uint32_t i)
{
	const struct hd_fabric *fabric = world.fabric;
	const uint32_t host = (group * 5 + i * 7) % fabric->host_count;
	osm_node_t *node = &world.nodes[group][i];
	osm_mcm_port_t *member = &world.members[group][i];

	node->node_info.node_guid =
	    cl_hton64(fabric->node_guid[fabric->port_node[fabric->host_port[host]]]);
	world.ends[group][i].port_num = 1;
	world.ports[group][i].p_node = node;
	world.ports[group][i].p_physp = &world.ends[group][i];
	world.ports[group][i].guid = node->node_info.node_guid;
	member->port = &world.ports[group][i];
	cl_qmap_insert(&world.groups[group].mcm_port_tbl, node->node_info.node_guid,
		       &member->map_item);
	world.aliases[group][i].p_base_mcm_port = member;
	world.aliases[group][i].scope_state = IB_JOIN_STATE_FULL;
	cl_qmap_insert(&world.groups[group].mcm_alias_port_tbl, node->node_info.node_guid,
		       &world.aliases[group][i].map_item);
}

static void make_group(uint32_t group)
{
	osm_mgrp_t *made = &world.groups[group];
	osm_mgrp_box_t *box = &world.boxes[group];

	cl_qmap_init(&made->mcm_port_tbl);
	cl_qmap_init(&made->mcm_alias_port_tbl);
	for (uint32_t i = 0; i < MEMBERS; i++)
		join(group, i);
	cl_qlist_init(&box->mgrp_list);
	cl_qlist_insert_tail(&box->mgrp_list, &made->list_item);
	world.osm.subn.mboxes[group * SPREAD] = box;
}

static void make_switch(uint32_t sw)
{
	world.switches[sw].switch_info.mcast_cap = cl_hton16(1024);
	world.switches[sw].mcast_tbl =
	    (osm_mcast_tbl_t){.max_position = IB_MCAST_POSITION_MAX,
			      .max_block = 31,
			      .mft_depth = ROWS,
			      .p_mask_tbl = calloc(ROWS, sizeof(table_row))};
	const struct hd_smp_address address = simulated_address(sw);
	hd_smp_queue_aim(world.queue, sw, &address);
}

/* Loses a cable between switches that the most groups use. */
static void lose_cable(void)
{
	const struct hd_fabric *fabric = world.fabric;
	uint32_t busiest = 0, most = 0;
	struct hd_error err;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t port = fabric->isl_port[link], groups = 0;
		for (uint32_t group = 0; group < GROUPS; group++)
			groups += cl_ntoh16(world.before[hd_isl_from(fabric, link)][group * SPREAD]
							[port / 16]) >>
				      port % 16 &
				  1;
		busiest = groups > most ? link : busiest;
		most = groups > most ? groups : most;
	}
	const struct hd_fabric_change loss = {
	    .lost = true,
	    .cable = true,
	    .index =
		hd_port_index(fabric, hd_isl_from(fabric, busiest), fabric->isl_port[busiest])};
	assert_true(most > 0);
	world.lost = busiest;
	assert_int_equal(hd_fabric_without(fabric, &loss, 1,
					   fabric->port_node[fabric->host_port[0]], &world.damaged,
					   &err),
			 0);
}

static void start_world(void)
{
	const struct hd_smp_limits limits = {
	    .window = 8, .each = 4, .timeout_ms = 4, .retries = 1, .errors = 1};

	world.fabric = generate("torus", "dims=4,4 hosts=2");
	assert_true(world.fabric->switch_count <= SWITCHES);
	world.context = (struct part_context){.osm = &world.osm, .writer = &world.writer};
	writer_init(&world.writer, &world.osm);
	world.osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	world.osm.subn.max_mcast_lid_ho = IB_LID_MCAST_END_HO;
	cl_plock_init(&world.osm.lock);
	repair_shared_init(&world.shared, &world.context);
	world.routing.fabric = world.fabric;
	world.start = (struct repair_start){.routing = &world.routing, .multicast = true};
	assert_true(simulated_port_start(&world.port, world.fabric->switch_count, 1));
	world.port.answer = answer;
	world.queue = hd_smp_queue_new(&world.port.port, &limits, world.fabric->switch_count);
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		make_switch(sw);
	for (uint32_t group = 0; group < GROUPS; group++)
		make_group(group);
	sweep(world.fabric, world.before);
	lose_cable();
	reset();
}

static void end_world(void)
{
	for (uint32_t sw = 0; sw < world.fabric->switch_count; sw++)
		free(world.switches[sw].mcast_tbl.p_mask_tbl);
	hd_smp_queue_free(world.queue);
	simulated_port_end(&world.port);
	repair_shared_release(&world.shared);
	writer_release(&world.writer);
	cl_plock_destroy(&world.osm.lock);
	hd_fabric_free(world.fabric);
	hd_fabric_free(world.damaged);
}

static void run_repair(void)
{
	repair_multicast_run(&(struct repair_multicast){.shared = &world.shared,
							.turn = 1,
							.start = &world.start,
							.damaged = world.damaged,
							.queue = world.queue},
			     world.text);
}

#endif
