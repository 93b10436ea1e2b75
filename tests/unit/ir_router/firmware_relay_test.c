/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routers that run the firmware choose as the closed forms of ISSR and ISFR do: the hash, and after
 * queries the port to the switch that D-mod-K names.
 */
#include "firmware_router.h"
#include "ir_testing.h"

#include <heddle/base/random.h>
#include <heddle/fabric/regular_tree.h>

#define ROUTER(i) (UINT64_C(0x400000) + 256 * (i))

static struct hd_relay_firmware *firmware_of(const struct scene *scene, bool isfr,
					     enum hd_relay_hash hash)
{
	struct hd_relay_firmware *firmware = NULL;

	CHECK(hd_relay_firmware_new(scene->interconnect, isfr ? scene->plan : NULL, hash, &firmware,
				    &err));
	return firmware;
}

static bool is_adapter(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA;
}

static struct hd_relay_packet packet_to(const struct scene *scene, uint32_t ingress,
					uint32_t subnet, uint32_t host, uint16_t slid)
{
	const struct hd_fabric *fabric = scene->fabrics[subnet];
	uint32_t port = fabric->host_port[host];

	return (struct hd_relay_packet){.ingress = ingress,
					.slid = slid,
					.dlid = scene->interconnect->ports[ingress].lid,
					.destination = {PREFIX + subnet, fabric->port_guid[port]},
					.subnet = subnet,
					.host = host,
					.lid = fabric->lid[port]};
}

/* What two relays do with a packet to each host of another subnet, from each router port, with random
 * SLIDs. Returns how many of them differ. */
static uint32_t count_differences(const struct scene *scene, const struct hd_relay *a,
				  const struct hd_relay *b, uint32_t *compared)
{
	uint64_t random = 5;
	uint32_t differ = 0;

	*compared = 0;
	for (uint32_t i = 0; i < scene->interconnect->port_count; i++)
		for (uint32_t s = 0; s < scene->count; s++)
			for (uint32_t h = 0; h < scene->fabrics[s]->host_count; h++) {
				uint16_t slid = (uint16_t)(1 + hd_random_below(&random, 2000));
				struct hd_relay_packet packet = packet_to(scene, i, s, h, slid);
				struct hd_relay_choice first = {0}, second = {0};
				if (s == scene->interconnect->ports[i].subnet ||
				    !is_adapter(scene->fabrics[s], h))
					continue;
				assert_true(a->choose(a->context, &packet, &first));
				assert_true(b->choose(b->context, &packet, &second));
				differ +=
				    first.egress != second.egress || first.dlid != second.dlid;
				++*compared;
			}
	return differ;
}

/* Property: for all packets the firmware chooses the closed form's port and LID. */
static void compare(uint32_t subnets, const char *settings, bool isfr)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	struct hd_relay fast, slow;
	uint32_t compared;

	scene_generate(&scene, subnets, settings);
	scene_route(&scene, "dmodk", isfr);
	firmware = firmware_of(&scene, isfr, HD_RELAY_HASH_PAIR);
	fast = hd_relay_firmware(firmware);
	slow = isfr ? hd_relay_isfr(&scene.tables) : hd_relay_issr(&scene.tables);
	assert_int_equal(count_differences(&scene, &fast, &slow, &compared), 0);
	assert_true(compared > 500);
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

static void closed_forms(void **state)
{
	(void)state;
	for (int isfr = 0; isfr < 2; isfr++) {
		compare(2, "", isfr);
		compare(3, "", isfr);
		compare(6, "", isfr);
		compare(3, "leaves=4 hosts=3 middles=3 uplinks=1 routers=6 sideways=0", isfr);
	}
}

/* The port that queries confirm for each host is that of the plan, where it has one. */
static void assert_confirmed(const struct scene *scene, const struct hd_relay_firmware *firmware,
			     uint32_t *confirmed)
{
	*confirmed = 0;
	for (uint32_t r = 0; r < scene->interconnect->router_count; r++)
		for (uint32_t s = 0; s < scene->count; s++)
			for (uint32_t h = 0; h < scene->fabrics[s]->host_count; h++) {
				uint32_t port;
				if (!is_adapter(scene->fabrics[s], h))
					continue;
				port = hd_relay_firmware_confirmed(firmware, r, s, h);
				assert_int_equal(port, hd_isfr_egress(scene->plan, r, s, h));
				*confirmed += port != HD_NONE;
			}
}

static void drop_labels(struct scene *scene)
{
	for (uint32_t s = 0; s < scene->count; s++) {
		assert_non_null(scene->routes[s]->labels);
		hd_tree_labels_release(scene->routes[s]->labels);
		scene->routes[s]->labels = NULL;
	}
}

/* Property: queries confirm all that the plan names. Without labels of the tree, as tables from files are,
 * they do so, too. Without a plan they confirm nothing. */
static void queries_confirm_the_plan(void **state)
{
	(void)state;
	for (int labels = 0; labels < 2; labels++) {
		struct scene scene;
		struct hd_relay_firmware *firmware;
		uint32_t confirmed;
		scene_generate(&scene, 3, "");
		scene_route(&scene, "dmodk", true);
		if (!labels)
			drop_labels(&scene);
		firmware = firmware_of(&scene, true, HD_RELAY_HASH_PAIR);
		assert_confirmed(&scene, firmware, &confirmed);
		assert_int_equal(confirmed, 12 * 3 * 72);
		hd_relay_firmware_free(firmware);
		firmware = firmware_of(&scene, false, HD_RELAY_HASH_PAIR);
		assert_int_equal(hd_relay_firmware_confirmed(firmware, 0, 1, 5), HD_NONE);
		hd_relay_firmware_free(firmware);
		scene_release(&scene);
	}
}

/*
 * Property: a subnet manager counts hosts from the first one of its own subnet, as its tables do. The plan of all
 * subnets counts on from subnet to subnet. It names other top switches where the hosts before a subnet are no multiple
 * of its top switches: then the queries confirm what it would name if each subnet began at 0.
 */
static void subnets_count_for_themselves(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	uint32_t confirmed, others = 0;

	(void)state;
	scene_generate(&scene, 3, "leaves=4 hosts=3 middles=5 uplinks=1 routers=6 sideways=0");
	scene_route(&scene, "dmodk", true);
	firmware = firmware_of(&scene, true, HD_RELAY_HASH_PAIR);
	for (uint32_t h = 0; h < 12; h++)
		others += hd_relay_firmware_confirmed(firmware, 0, 1, h) !=
			  hd_isfr_egress(scene.plan, 0, 1, h);
	assert_int_equal(others, 12);
	for (uint32_t s = 0; s < 3; s++)
		scene.plan->subnets[s].base = 0;
	assert_confirmed(&scene, firmware, &confirmed);
	assert_int_equal(confirmed, 6 * 3 * 12);
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

/* Property: with a cable between a router and a top switch missing, both fall back to the same hash. */
static void missing_cable_of_a_router(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	struct hd_relay fast, slow;
	uint32_t compared, confirmed;

	(void)state;
	scene_generate(&scene, 3, "");
	scene_damage(&scene, 1, ROUTER(3), 8);
	scene_route(&scene, "dmodk", true);
	assert_int_equal(scene.interconnect->port_count, 3 * 72 - 1);
	firmware = firmware_of(&scene, true, HD_RELAY_HASH_PAIR);
	assert_confirmed(&scene, firmware, &confirmed);
	assert_int_equal(confirmed, 12 * 3 * 72 - 12);
	fast = hd_relay_firmware(firmware);
	slow = hd_relay_isfr(&scene.tables);
	assert_int_equal(count_differences(&scene, &fast, &slow, &compared), 0);
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

/* Property: a host whose top switch has no entry down for it gets the hash, since packets would not go down. The
 * closed form does not read tables, and keeps the port. The router's port of the switch is one that leads down at
 * leaves. */
static void entries_that_lead_up(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	struct hd_isfr_path path;

	(void)state;
	for (int labels = 0; labels < 2; labels++) {
		scene_generate(&scene, 2,
			       "leaves=2 hosts=6 middles=2 uplinks=1 routers=2 sideways=0");
		scene_route(&scene, "dmodk", true);
		assert_int_equal(hd_isfr_path(scene.plan, 0, 1, 7, &path), HD_ISFR_USED);
		const struct hd_fabric *fabric = scene.fabrics[1];
		hd_routes_row(scene.routes[1], path.top)[fabric->lid[fabric->host_port[7]]] =
		    scene.interconnect->ports[path.egress].sw_port;
		if (!labels)
			drop_labels(&scene);
		firmware = firmware_of(&scene, true, HD_RELAY_HASH_PAIR);
		for (uint32_t r = 0; r < scene.interconnect->router_count; r++) {
			assert_int_equal(hd_relay_firmware_confirmed(firmware, r, 1, 7), HD_NONE);
			assert_true(hd_relay_firmware_confirmed(firmware, r, 1, 8) != HD_NONE);
		}
		hd_relay_firmware_free(firmware);
		scene_release(&scene);
	}
}

/* Property: the firmware orders ports by GUID; what comes out are the right ports, if their numbers descend. */
static void guids_that_descend(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	uint32_t confirmed;

	(void)state;
	scene_generate(&scene, 2, "leaves=4 hosts=3 middles=3 uplinks=1 routers=6 sideways=0");
	scene_route(&scene, "dmodk", true);
	for (uint32_t i = 0; i < scene.interconnect->port_count; i++)
		scene.interconnect->ports[i].guid = 0x500000 - i;
	firmware = firmware_of(&scene, true, HD_RELAY_HASH_PAIR);
	assert_confirmed(&scene, firmware, &confirmed);
	assert_int_equal(confirmed, 6 * 2 * 12);
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

static uint32_t egress_of(const struct scene *scene, struct hd_relay_firmware *firmware,
			  uint32_t host, uint16_t slid)
{
	struct hd_relay_packet packet = packet_to(scene, 0, 1, host, slid);
	struct hd_relay relay = hd_relay_firmware(firmware);
	struct hd_relay_choice choice;

	assert_true(relay.choose(relay.context, &packet, &choice));
	return choice.egress;
}

/* Property: with the hash of the sum, pairs of LIDs with the same sum share a port; with that of the pair they use
 * all six. */
static void both_hashes(void **state)
{
	struct scene scene;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_route(&scene, "dmodk", false);
	for (int sum = 0; sum < 2; sum++) {
		const struct hd_fabric *fabric = scene.fabrics[1];
		struct hd_relay_firmware *firmware =
		    firmware_of(&scene, false, sum ? HD_RELAY_HASH_SUM : HD_RELAY_HASH_PAIR);
		uint32_t used = 0;
		for (uint32_t h = 0; h < fabric->host_count; h++)
			if (is_adapter(fabric, h))
				used |=
				    1u << egress_of(&scene, firmware, h,
						    (uint16_t)(2000 -
							       fabric->lid[fabric->host_port[h]])) %
					      32;
		assert_int_equal(__builtin_popcount(used), sum ? 1 : 6);
		hd_relay_firmware_free(firmware);
	}
	scene_release(&scene);
}

/* The port in the middle to which router 0 sends a packet for a host beyond it is the one that the map there names. */
static void check_next_ports(const struct scene *scene, struct hd_relay_firmware *firmware)
{
	struct hd_relay relay = hd_relay_firmware(firmware);
	uint32_t first;

	assert_true(hd_interconnect_ports(scene->interconnect, 0, 0, &first) > 0);
	for (uint32_t h = 0; h < scene->fabrics[2]->host_count; h++) {
		struct hd_relay_packet packet = packet_to(scene, first, 2, h, 17);
		struct hd_relay_choice choice;
		struct hd_map_answer answer;
		if (!is_adapter(scene->fabrics[2], h))
			continue;
		assert_true(hd_map_resolve(scene->maps[1], &packet.destination, NULL, &answer));
		assert_true(relay.choose(relay.context, &packet, &choice));
		uint32_t next = hd_interconnect_find_port(scene->interconnect, 1, answer.port_guid);
		assert_int_equal(choice.dlid, scene->interconnect->ports[next].lid);
		assert_int_equal(scene->interconnect->ports[choice.egress].router, 0);
		assert_int_equal(scene->interconnect->ports[choice.egress].subnet, 1);
	}
}

/* Property: all pairs of three subnets in a row arrive; those that cross the middle one by what routers have
 * told each other of prefixes, and by its map. */
static void transit(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	struct hd_relay relay;
	struct hd_journey_report report;

	(void)state;
	scene_generate(&scene, 3, "leaves=4 hosts=3 middles=3 uplinks=1 routers=6 sideways=0");
	for (uint32_t router = 0; router < 6; router++)
		scene_damage(&scene, router < 3 ? 2 : 0, ROUTER(router), 0);
	scene_route(&scene, "dmodk", false);
	firmware = firmware_of(&scene, false, HD_RELAY_HASH_PAIR);
	check_next_ports(&scene, firmware);
	relay = hd_relay_firmware(firmware);
	hd_walker_free(scene.walker);
	scene.walker = NULL;
	CHECK(hd_walker_new(scene.interconnect, &relay, &scene.walker, &err));
	CHECK(hd_walk_all(scene.walker, &report, &err));
	assert_int_equal(report.by_end[HD_JOURNEY_ARRIVED], 36 * 35);
	assert_int_equal(report.max_routers, 2);
	hd_journey_report_release(&report);
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

/* Property: a packet to a host that nobody has announced, to a router, or back into its own subnet, is dropped. */
static void dropped_packets(void **state)
{
	struct scene scene;
	struct hd_relay_firmware *firmware;
	struct hd_relay relay;
	struct hd_relay_choice choice;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_route(&scene, "dmodk", false);
	firmware = firmware_of(&scene, false, HD_RELAY_HASH_PAIR);
	relay = hd_relay_firmware(firmware);
	struct hd_relay_packet packet = packet_to(&scene, 0, 1, 3, 17);
	assert_true(relay.choose(relay.context, &packet, &choice));
	packet.destination.guid++;
	assert_false(relay.choose(relay.context, &packet, &choice));
	for (uint32_t i = 0; i < scene.interconnect->port_count; i++) {
		if (scene.interconnect->ports[i].subnet != 1)
			continue;
		packet.destination.guid = scene.interconnect->ports[i].guid;
		assert_false(relay.choose(relay.context, &packet, &choice));
	}
	packet = packet_to(&scene, 0, 0, 3, 17);
	assert_false(relay.choose(relay.context, &packet, &choice));
	packet = packet_to(&scene, 0, 1, 3, 17);
	packet.destination.prefix = PREFIX + 77;
	assert_false(relay.choose(relay.context, &packet, &choice));
	hd_relay_firmware_free(firmware);
	scene_release(&scene);
}

/* Property: a router with more subnets, ports or prefixes than the firmware has room for is refused. */
static void room(void **state)
{
	const struct firmware_room most = {64, 254, 9, 9, 65535, false};
	struct firmware_switches switches = {0};
	struct firmware_router *router = NULL;
	struct firmware_room tried[] = {most, most, most, most, most};

	(void)state;
	CHECK(firmware_router_new(&most, &switches, &router, &err));
	firmware_router_free(router);
	tried[0].subnets++;
	tried[1].ports++;
	tried[2].prefixes++;
	tried[3].subnets = 0;
	tried[4].ports = 0;
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++)
		assert_int_equal(firmware_router_new(&tried[i], &switches, &router, NULL), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(closed_forms),
	    cmocka_unit_test(queries_confirm_the_plan),
	    cmocka_unit_test(subnets_count_for_themselves),
	    cmocka_unit_test(missing_cable_of_a_router),
	    cmocka_unit_test(entries_that_lead_up),
	    cmocka_unit_test(guids_that_descend),
	    cmocka_unit_test(both_hashes),
	    cmocka_unit_test(transit),
	    cmocka_unit_test(dropped_packets),
	    cmocka_unit_test(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
