/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A ring of three switches: the usable lanes, what limits them, and which ports are late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opensm_headers.h"
#include "virtual_lanes.h"

#define SWITCHES 3
#define PORTS 3 /* 1 to the switch before, 2 to the one after */
#define CODE_8_LANES 4
#define CODE_15_LANES 5

struct ring {
	struct osm_opensm *osm;
	osm_switch_t switches[SWITCHES];
	osm_node_t *nodes[SWITCHES];
	char names[SWITCHES][4];
};

static osm_physp_t *port_of(struct ring *ring, unsigned sw, unsigned number)
{
	return &ring->nodes[sw % SWITCHES]->physp_table[number];
}

/* The fields that a walk over a map needs; items are in the order of insertion. */
static void append(cl_qmap_t *map, cl_map_item_t *item, uint64_t key)
{
	cl_list_item_t *nil = &map->nil.pool_item.list_item;
	cl_list_item_t *entry = &item->pool_item.list_item;

	if (!nil->p_next)
		nil->p_next = nil->p_prev = nil;
	entry->p_next = nil;
	entry->p_prev = nil->p_prev;
	nil->p_prev->p_next = entry;
	nil->p_prev = entry;
	item->key = key;
}

static void make_switch(struct ring *ring, unsigned sw)
{
	osm_node_t *node = calloc(1, sizeof(*node) + PORTS * sizeof(osm_physp_t));

	assert_non_null(node);
	ring->nodes[sw] = node;
	ring->switches[sw].p_node = node;
	node->sw = &ring->switches[sw];
	node->physp_tbl_size = PORTS;
	ring->names[sw][0] = (char)('A' + sw);
	node->print_desc = ring->names[sw];
	for (uint8_t number = 0; number < PORTS; number++) {
		osm_physp_t *port = &node->physp_table[number];

		port->port_guid = cl_hton64(sw + 1);
		port->port_num = number;
		port->p_node = node;
		ib_port_info_set_port_state(&port->port_info, IB_LINK_ACTIVE);
	}
	node->physp_table[0].port_info.capability_mask = IB_PORT_CAP_HAS_SL_MAP;
	append(&ring->osm->subn.node_guid_tbl, &node->map_item, sw + 1);
	append(&ring->osm->subn.sw_guid_tbl, &ring->switches[sw].map_item, sw + 1);
}

static void set_lanes(osm_physp_t *port, unsigned rc)
{
	port->port_info.vl_cap = (uint8_t)(rc << 4);
	ib_port_info_set_op_vls(&port->port_info, (uint8_t)rc);
	port->port_info.vl_arb_low_cap = 32;
}

static int set_up(void **state)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	assert_non_null(ring);
	ring->osm = calloc(1, sizeof(*ring->osm));
	assert_non_null(ring->osm);
	ring->osm->subn.opt.qos = TRUE;
	ring->osm->subn.opt.max_op_vls = CODE_15_LANES;
	for (unsigned sw = 0; sw < SWITCHES; sw++)
		make_switch(ring, sw);
	for (unsigned sw = 0; sw < SWITCHES; sw++) {
		osm_physp_t *here = port_of(ring, sw, 2), *there = port_of(ring, sw + 1, 1);

		here->p_remote_physp = there;
		there->p_remote_physp = here;
		set_lanes(here, CODE_15_LANES);
		set_lanes(there, CODE_15_LANES);
	}
	*state = ring;
	return 0;
}

static int tear_down(void **state)
{
	struct ring *ring = *state;

	for (unsigned sw = 0; sw < SWITCHES; sw++)
		free(ring->nodes[sw]);
	free(ring->osm);
	free(ring);
	return 0;
}

static void expect(struct ring *ring, unsigned count, const char *reason)
{
	struct virtual_lanes lanes;

	virtual_lanes_find(ring->osm, &lanes);
	assert_int_equal(lanes.count, count);
	assert_string_equal(lanes.reason, reason);
}

static void all_there_are(void **state)
{
	expect(*state, 15, "");
}

static void the_settings_allow_no_more(void **state)
{
	struct ring *ring = *state;

	ring->osm->subn.opt.max_op_vls = 3;
	expect(ring, 4, "max_op_vls 3 in opensm.conf allows no more");
	ring->osm->subn.opt.qos = FALSE;
	expect(ring, 1, "opensm.conf has `qos FALSE`, so OpenSM sets up no lanes; set `qos TRUE`");
}

/* If all links have the same lanes, the reason names no link. Otherwise it counts those with
 * fewest. */
static void links_have_no_more(void **state)
{
	struct ring *ring = *state;

	set_lanes(port_of(ring, 1, 2), 2);
	expect(ring, 2,
	       "1 of 3 links between switches have no more, for example from 'B' port 2 to 'C' "
	       "port 1");
	set_lanes(port_of(ring, 1, 1), 2);
	expect(ring, 2,
	       "2 of 3 links between switches have no more, for example from 'A' port 2 to 'B' "
	       "port 1");
	set_lanes(port_of(ring, 0, 1), 2);
	expect(ring, 2, "none of the 3 links between switches has more");
}

/* The arbitration tables of both ends limit the lanes. */
static void tables_have_no_more(void **state)
{
	struct ring *ring = *state;

	port_of(ring, 2, 2)->port_info.vl_arb_low_cap = 4;
	expect(ring, 4,
	       "1 of 3 links between switches have no more, for example from 'A' port 1 to 'C' "
	       "port 2");
}

static void a_switch_without_maps(void **state)
{
	struct ring *ring = *state;

	port_of(ring, 1, 0)->port_info.capability_mask = 0;
	expect(ring, 1, "switch 'B' cannot map service levels to lanes");
}

/* A port is late if it has fewer lanes than needed, and fewer than it will have. */
static void late_ports(void **state)
{
	struct ring *ring = *state;
	struct late_ports late;

	ib_port_info_set_op_vls(&port_of(ring, 2, 1)->port_info, CODE_8_LANES);
	ib_port_info_set_op_vls(&port_of(ring, 0, 2)->port_info, 1);
	ib_port_info_set_op_vls(&port_of(ring, 0, 1)->port_info, 1);
	set_lanes(port_of(ring, 2, 2), 1);
	assert_true(virtual_lanes_late(ring->osm, 8, &late));
	assert_int_equal(late.count, 1);
	assert_int_equal(late.items[0].node, 1);
	assert_int_equal(late.items[0].number, 2);
	late_ports_release(&late);
	assert_true(virtual_lanes_late(ring->osm, 9, &late));
	assert_int_equal(late.count, 2);
	late_ports_release(&late);
	assert_true(virtual_lanes_late(ring->osm, 1, &late));
	assert_int_equal(late.count, 0);
	late_ports_release(&late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(all_there_are, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_settings_allow_no_more, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(links_have_no_more, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(tables_have_no_more, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_switch_without_maps, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(late_ports, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
