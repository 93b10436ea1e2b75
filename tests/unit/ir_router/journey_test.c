/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk across subnets: all pairs, transit, and each kind of failure. */
#include "ir_testing.h"

#define ROUTER(i) (UINT64_C(0x400000) + 256 * (i))

static void assert_all_arrive(struct scene *scene, uint64_t pairs, uint64_t foreign,
			      uint32_t routers)
{
	struct hd_journey_report report;

	CHECK(hd_walk_all(scene->walker, &report, &err));
	assert_int_equal(report.pairs, pairs);
	assert_int_equal(report.foreign, foreign);
	assert_int_equal(report.by_end[HD_JOURNEY_ARRIVED], pairs);
	assert_int_equal(report.cycle_length, 0);
	assert_int_equal(report.max_routers, routers);
	hd_journey_report_release(&report);
}

/* Property: with 6 subnets, all pairs arrive over one router, without a loop and a credit loop. */
static void six_subnets(void **state)
{
	(void)state;
	for (int isfr = 0; isfr < 2; isfr++) {
		struct scene scene;
		scene_generate(&scene, 6, "");
		scene_route(&scene, "dmodk", isfr);
		assert_all_arrive(&scene, 432 * 431, 6 * 72 * 360, 1);
		scene_release(&scene);
	}
}

/* Property: in each subnet the addresses of the packet are those of that subnet, and in the last
 * one the DLID is the destination's. */
static void addresses(void **state)
{
	struct scene scene;
	struct hd_journey journey;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_route(&scene, "dmodk", false);
	hd_walk(scene.walker, 0, 5, 1, 40, &journey);
	assert_int_equal(journey.leg_count, 2);
	const struct hd_journey_leg *near = &journey.legs[0], *far = &journey.legs[1];
	const struct hd_router_port *in = &scene.interconnect->ports[near->ingress];
	const struct hd_router_port *out = &scene.interconnect->ports[far->egress];
	assert_int_equal(near->subnet, 0);
	assert_int_equal(near->slid, scene.fabrics[0]->lid[scene.fabrics[0]->host_port[5]]);
	assert_int_equal(near->dlid, in->lid);
	assert_int_equal(in->router, out->router);
	assert_int_equal(far->subnet, 1);
	assert_int_equal(far->slid, out->lid);
	assert_int_equal(far->dlid, scene.fabrics[1]->lid[scene.fabrics[1]->host_port[40]]);
	assert_int_equal(near->switches + far->switches, journey.switch_count);
	assert_int_equal(journey.link_count, journey.switch_count); /* + 2 of the router - 2 ends */
	scene_release(&scene);
}

/* A - B - C: routers 0 to 2 join A and B, the others B and C. */
static void make_transit(struct scene *scene)
{
	scene_generate(scene, 3, "leaves=4 hosts=3 middles=3 uplinks=1 routers=6 sideways=0");
	for (uint32_t router = 0; router < 6; router++)
		scene_damage(scene, router < 3 ? 2 : 0, ROUTER(router), 0);
}

/* Property: packets from A to C cross B and two routers; all pairs arrive. */
static void transit(void **state)
{
	struct scene scene;
	struct hd_journey journey;

	(void)state;
	make_transit(&scene);
	scene_route(&scene, "dmodk", false);
	assert_int_equal(scene.interconnect->distance[0 * 3 + 2], 2);
	assert_all_arrive(&scene, 36 * 35, 36 * 24, 2);
	hd_walk(scene.walker, 0, 1, 2, 7, &journey);
	assert_int_equal(journey.end, HD_JOURNEY_ARRIVED);
	assert_int_equal(journey.leg_count, 3);
	assert_int_equal(journey.legs[1].subnet, 1);
	/* the second router hashes the LID by which the first one sent */
	assert_int_equal(journey.legs[1].slid,
			 scene.interconnect->ports[journey.legs[1].egress].lid);
	assert_int_equal(journey.legs[1].dlid,
			 scene.interconnect->ports[journey.legs[1].ingress].lid);
	scene_release(&scene);
}

/* Property: the packets of A to the hosts of C use all ports of B's next routers. */
static void transit_is_spread(void **state)
{
	struct scene scene;
	struct hd_journey_report report;
	uint32_t used = 0;

	(void)state;
	make_transit(&scene);
	scene_route(&scene, "dmodk", false);
	CHECK(hd_walk_all(scene.walker, &report, &err));
	const struct hd_fabric *joined = hd_walker_joined(scene.walker);
	for (uint32_t i = 0; i < scene.interconnect->port_count; i++) {
		const struct hd_router_port *port = &scene.interconnect->ports[i];
		uint32_t router =
		    hd_fabric_find_node(joined, scene.interconnect->router_guid[port->router]);
		uint32_t link = hd_fabric_find_isl(joined, router, port->number);
		used += report.flows[joined->isl_reverse[link]] > 0;
	}
	assert_int_equal(scene.interconnect->port_count, 6 * 2 * 3);
	assert_true(used >= 33);
	hd_journey_report_release(&report);
	scene_release(&scene);
}

/* ---- the report of all pairs ---- */

static bool is_adapter(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA;
}

static void add_walk(const struct scene *scene, const struct hd_journey_fault *pair,
		     struct hd_journey_report *sum)
{
	struct hd_journey journey;

	hd_walk(scene->walker, pair->from, pair->source, pair->to, pair->destination, &journey);
	sum->pairs++;
	sum->foreign += pair->from != pair->to;
	sum->by_end[journey.end]++;
	if (journey.end != HD_JOURNEY_ARRIVED) {
		if (sum->fault_count < HD_JOURNEY_FAULTS) {
			sum->faults[sum->fault_count] = *pair;
			sum->faults[sum->fault_count++].end = journey.end;
		}
		return;
	}
	assert_int_equal(journey.switches[0],
			 scene->fabrics[pair->from]->host_switch[pair->source]);
	for (uint32_t i = 0; i < journey.link_count; i++)
		sum->flows[journey.links[i]]++;
	if (journey.leg_count > sum->max_routers + 1)
		sum->max_routers = journey.leg_count - 1;
	if (journey.switch_count > sum->max_switches)
		sum->max_switches = journey.switch_count;
}

/* One pair after the other: each channel adapter sends to each other one. */
static void add_walks(const struct scene *scene, struct hd_journey_report *sum)
{
	for (uint32_t from = 0; from < scene->count; from++)
		for (uint32_t to = 0; to < scene->count; to++)
			for (uint32_t a = 0; a < scene->fabrics[from]->host_count; a++)
				for (uint32_t b = 0; b < scene->fabrics[to]->host_count; b++)
					if (is_adapter(scene->fabrics[from], a) &&
					    is_adapter(scene->fabrics[to], b) &&
					    (from != to || a != b))
						add_walk(
						    scene,
						    &(struct hd_journey_fault){from, a, to, b, 0},
						    sum);
}

static void check_report(const struct scene *scene)
{
	uint32_t links = hd_walker_joined(scene->walker)->isl_count;
	struct hd_journey_report report, sum = {.flows = calloc(links, sizeof(uint64_t))};

	add_walks(scene, &sum);
	CHECK(hd_walk_all(scene->walker, &report, &err));
	assert_int_equal(report.pairs, sum.pairs);
	assert_int_equal(report.foreign, sum.foreign);
	assert_memory_equal(report.by_end, sum.by_end, sizeof(sum.by_end));
	assert_int_equal(report.max_routers, sum.max_routers);
	assert_int_equal(report.max_switches, sum.max_switches);
	assert_memory_equal(report.flows, sum.flows, links * sizeof(*sum.flows));
	assert_int_equal(report.fault_count, sum.fault_count);
	for (uint32_t i = 0; i < sum.fault_count; i++) {
		assert_int_equal(report.faults[i].from, sum.faults[i].from);
		assert_int_equal(report.faults[i].source, sum.faults[i].source);
		assert_int_equal(report.faults[i].to, sum.faults[i].to);
		assert_int_equal(report.faults[i].destination, sum.faults[i].destination);
		assert_int_equal(report.faults[i].end, sum.faults[i].end);
	}
	hd_journey_report_release(&report);
	free(sum.flows);
}

/* Property: the report counts what walks of single pairs do: flows of each link, the longest path, and the first
 * faults: those of few senders, or of more pairs than it keeps. */
static void report_of_all_pairs(void **state)
{
	struct scene scene;

	(void)state;
	make_transit(&scene);
	scene_route(&scene, "dmodk", false);
	check_report(&scene);
	const struct hd_fabric *fabric = scene.fabrics[1];
	uint32_t lid = fabric->lid[fabric->host_port[7]];
	hd_routes_row(scene.routes[1], fabric->host_switch[1])[lid] = HD_NO_PORT;
	check_report(&scene);
	hd_routes_row(scene.routes[1], fabric->host_switch[7])[lid] = HD_NO_PORT;
	check_report(&scene);
	scene_release(&scene);
}

/* ---- failures ---- */

static enum hd_journey_end end_of(struct scene *scene, const struct hd_relay *relay)
{
	struct hd_journey journey;
	struct hd_walker *walker = NULL;

	CHECK(hd_walker_new(scene->interconnect, relay, &walker, &err));
	hd_walk(walker, 0, 1, 1, 7, &journey);
	hd_walker_free(walker);
	return journey.end;
}

static bool drop(void *context, const struct hd_relay_packet *packet,
		 struct hd_relay_choice *choice)
{
	(void)context;
	(void)packet;
	(void)choice;
	return false;
}

/* Sends the packet back to where it came from. */
static bool reflect(void *context, const struct hd_relay_packet *packet,
		    struct hd_relay_choice *choice)
{
	*choice = (struct hd_relay_choice){packet->ingress, packet->dlid};
	(void)context;
	return true;
}

static void replace_map(struct scene *scene, const char *content)
{
	struct hd_text text = {.bytes = content, .length = strlen(content), .name = "x.map"};

	hd_map_free(scene->maps[0]);
	scene->maps[0] = NULL;
	CHECK(hd_map_parse(&text, &scene->maps[0], &err));
	scene_join(scene);
	scene->tables = (struct hd_relay_tables){scene->interconnect, scene->plan};
}

/* Property: each kind of failure has a name of its own. */
static void failures(void **state)
{
	struct scene scene;
	struct hd_relay dropping = {"drop", drop, NULL}, reflecting = {"reflect", reflect, NULL};

	(void)state;
	scene_generate(&scene, 2, "");
	scene_route(&scene, "dmodk", false);
	struct hd_relay plain = hd_relay_issr(&scene.tables);
	assert_int_equal(end_of(&scene, &dropping), HD_JOURNEY_DROPPED);
	assert_int_equal(end_of(&scene, &reflecting), HD_JOURNEY_ROUTER_LOOP);
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_ARRIVED);

	const struct hd_fabric *fabric = scene.fabrics[1];
	uint32_t lid = fabric->lid[fabric->host_port[7]], leaf = fabric->host_switch[7];
	uint8_t *entry = hd_routes_row(scene.routes[1], leaf) + lid, before = *entry;
	*entry = HD_NO_PORT;
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_NO_ROUTE);
	*entry = before == 1 ? 2 : 1; /* another host */
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_DEAD_END);
	*entry = 0;
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_DEAD_END);
	*entry = 13; /* back up */
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_LOOP);
	*entry = before;

	replace_map(&scene, "fec0:0:0:9::1 0x400001\n");
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_NO_LINE);
	replace_map(&scene, "* 0x999999\n");
	assert_int_equal(end_of(&scene, &plain), HD_JOURNEY_NO_LINE);
	scene_release(&scene);
}

/* Property: what does not fit together is refused, with the reason. */
static void refusals(void **state)
{
	struct hd_fabric *one = generate("interconnect", "subnets=2 part=1");
	struct hd_fabric *two = generate("interconnect", "subnets=2 part=2");
	struct hd_subnet list[2] = {{PREFIX, "a", one, NULL, NULL}, {PREFIX, "b", two, NULL, NULL}};
	struct hd_interconnect *interconnect = NULL;
	struct hd_walker *walker = NULL;
	struct hd_relay relay = {"drop", drop, NULL};
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_interconnect_new(list, 2, &interconnect, &err), -EINVAL);
	assert_non_null(strstr(err.text, "both have the subnet prefix"));
	list[1].prefix = UINT64_C(0xfe80000000000000);
	assert_int_equal(hd_interconnect_new(list, 2, &interconnect, &err), -EINVAL);
	assert_non_null(strstr(err.text, "link-local"));
	list[1] = (struct hd_subnet){PREFIX + 1, "b", one, NULL, NULL};
	assert_int_equal(hd_interconnect_new(list, 2, &interconnect, &err), -EINVAL);
	assert_non_null(strstr(err.text, "that is no router"));
	list[1].fabric = two;
	assert_int_equal(hd_interconnect_new(list, 2, &interconnect, &err), 0);
	assert_int_equal(hd_walker_new(interconnect, &relay, &walker, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no forwarding tables"));
	hd_interconnect_free(interconnect);
	hd_fabric_free(one);
	hd_fabric_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(six_subnets),
	    cmocka_unit_test(addresses),
	    cmocka_unit_test(transit),
	    cmocka_unit_test(transit_is_spread),
	    cmocka_unit_test(failures),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(report_of_all_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
