/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets between subnets: through the router ports of the maps, and the routers of a relay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_state.h"
#include "sim_testing.h"

#include <errno.h>
#include <heddle/ir_router.h>

#define SUBNETS 3u
#define PREFIX UINT64_C(0xfec0000000000001)

struct scene {
	struct hd_fabric *fabrics[SUBNETS];
	struct hd_routes *routes[SUBNETS];
	struct hd_map *maps[SUBNETS];
	struct hd_interconnect *interconnect;
	struct hd_relay_tables tables;
	struct hd_relay_firmware *firmware; /* NULL: the closed form */
	struct hd_relay relay;
	struct hd_sim_subnet subnets[SUBNETS];
	struct hd_sim_network network;
};

static void join(struct scene *scene)
{
	struct hd_subnet list[SUBNETS];

	for (uint32_t i = 0; i < SUBNETS; i++)
		list[i] = (struct hd_subnet){PREFIX + i, "subnet", scene->fabrics[i],
					     scene->routes[i], scene->maps[i]};
	hd_interconnect_free(scene->interconnect);
	scene->interconnect = NULL;
	CHECK(hd_interconnect_new(list, SUBNETS, &scene->interconnect, &err));
}

/* Maps, routers and the network, when fabrics and tables are there. */
static void finish_scene(struct scene *scene)
{
	join(scene);
	for (uint32_t i = 0; i < SUBNETS; i++)
		CHECK(hd_issr_map(scene->interconnect, i, NULL, &scene->maps[i], NULL, &err));
	join(scene);
	scene->tables = (struct hd_relay_tables){scene->interconnect, NULL};
	scene->relay = hd_relay_issr(&scene->tables);
	for (uint32_t i = 0; i < SUBNETS; i++)
		scene->subnets[i] =
		    (struct hd_sim_subnet){.fabric = scene->fabrics[i], .routes = scene->routes[i]};
	scene->network =
	    (struct hd_sim_network){scene->subnets, SUBNETS, scene->interconnect, &scene->relay};
}

static void make_scene(struct scene *scene)
{
	char text[100];

	memset(scene, 0, sizeof(*scene));
	for (uint32_t i = 0; i < SUBNETS; i++) {
		snprintf(text, sizeof(text), "subnets=%u part=%u", SUBNETS, i + 1);
		scene->fabrics[i] = generate("interconnect", text);
		scene->routes[i] = route("dmodk", scene->fabrics[i]);
	}
	finish_scene(scene);
}

/* The routers run the firmware, with ISFR. */
static void take_firmware(struct scene *scene)
{
	struct hd_isfr_plan *plan = NULL;

	CHECK(hd_isfr_plan_new(scene->interconnect, &plan, &err));
	CHECK(hd_relay_firmware_new(scene->interconnect, plan, HD_RELAY_HASH_PAIR, &scene->firmware,
				    &err));
	hd_isfr_plan_free(plan);
	scene->relay = hd_relay_firmware(scene->firmware);
}

static void free_scene(struct scene *scene)
{
	hd_relay_firmware_free(scene->firmware);
	hd_interconnect_free(scene->interconnect);
	for (uint32_t i = 0; i < SUBNETS; i++) {
		hd_map_free(scene->maps[i]);
		hd_routes_free(scene->routes[i]);
		hd_fabric_free(scene->fabrics[i]);
	}
}

struct pairs {
	struct scene *scene;
	uint32_t sent, delivered, refused;
};

static bool is_router(const struct scene *scene, uint32_t subnet, uint32_t host)
{
	const struct hd_fabric *fabric = scene->fabrics[subnet];

	return fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_ROUTER;
}

/* From each host to each host of all subnets. */
static int start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct pairs *pairs = context;
	uint32_t count = hd_sim_endpoint_count(sim);

	for (uint32_t from = 0; from < count; from++)
		for (uint32_t to = 0; to < count; to++) {
			struct hd_sim_message message = {.source = from,
							 .destination = to,
							 .bytes = 3000,
							 .flow = HD_NONE,
							 .sl = HD_SIM_SL_OF_ROUTES,
							 .lane = HD_SIM_LANE_OF_SL};
			if (hd_sim_check_message(sim, &message, err)) {
				pairs->refused++;
				assert_int_not_equal(hd_sim_send(sim, &message), 0);
				continue;
			}
			assert_int_equal(hd_sim_send(sim, &message), 0);
			pairs->sent++;
		}
	return 0;
}

static void delivered(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
		      const struct hd_sim_times *times, uint32_t endpoint)
{
	(void)sim;
	(void)times;
	assert_int_equal(endpoint, message->destination);
	((struct pairs *)context)->delivered++;
}

/* All pairs of hosts, of one subnet or two; router ports are no source and no destination. */
static void all_pairs_arrive(bool firmware)
{
	struct scene scene;
	struct pairs pairs = {.scene = &scene};
	struct hd_sim_workload workload = {
	    .start = start, .delivered = delivered, .context = &pairs};
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_sim_figures figures;
	struct hd_sim *sim = NULL;
	uint32_t hosts = 0, endpoints = 0;
	enum hd_sim_end end;

	make_scene(&scene);
	if (firmware)
		take_firmware(&scene);
	for (uint32_t s = 0; s < SUBNETS; s++)
		for (uint32_t host = 0; host < scene.fabrics[s]->host_count; host++, endpoints++)
			hosts += !is_router(&scene, s, host);
	CHECK(hd_sim_new(&scene.network, &settings, &workload, &sim, &err));
	assert_int_equal(hd_sim_endpoint_count(sim), endpoints);
	for (uint64_t time = 0; time < 50; time++) {
		CHECK(hd_sim_run(sim, time * HD_SIM_MICROSECOND, &end, &err));
		CHECK(hd_sim_check(sim, &err));
	}
	CHECK(hd_sim_run(sim, HD_SIM_NEVER, &end, &err));
	CHECK(hd_sim_check(sim, &err));
	assert_int_equal(end, HD_SIM_IDLE);
	hd_sim_figures(sim, &figures);
	assert_int_equal(pairs.sent, hosts * hosts);
	assert_int_equal(pairs.delivered, pairs.sent);
	assert_int_equal(pairs.refused, endpoints * endpoints - hosts * hosts);
	assert_int_equal(figures.dropped, 0);
	/* with ISSR all router ports have sent */
	for (uint32_t i = 0; !firmware && i < scene.interconnect->port_count; i++) {
		const struct hd_router_port *port = &scene.interconnect->ports[i];
		assert_true(figures.links[port->subnet][port->port].packets > 0);
	}
	hd_sim_free(sim);
	free_scene(&scene);
}

static void test_all_pairs_arrive(void **state)
{
	(void)state;
	all_pairs_arrive(false);
	all_pairs_arrive(true);
}

/* A packet on an idle path: each cable and each switch or router adds its latency. */
static void test_latency_adds_up(void **state)
{
	struct scene scene;
	struct traffic traffic;
	struct flow flow = {.pace = ONE,
			    .message = {.bytes = 2048,
					.flow = HD_NONE,
					.sl = HD_SIM_SL_OF_ROUTES,
					.lane = HD_SIM_LANE_OF_SL}};
	uint64_t random;
	struct hd_sim_workload workload = {.start = traffic_start, .context = &traffic};
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_sim_figures figures;
	struct hd_sim *sim = NULL;
	enum hd_sim_end end;

	(void)state;
	make_scene(&scene);
	settings.forced_rate = 40 * GIGABIT;
	flow.to = scene.fabrics[0]->host_count;
	while (is_router(&scene, 1, flow.to - scene.fabrics[0]->host_count))
		flow.to++;
	traffic = (struct traffic){.flows = &flow, .count = 1, .random = &random};
	CHECK(hd_sim_new(&scene.network, &settings, &workload, &sim, &err));
	CHECK(hd_sim_run(sim, HD_SIM_NEVER, &end, &err));
	hd_sim_figures(sim, &figures);
	assert_int_equal(figures.classes[0].messages_delivered, 1);
	assert_int_equal(figures.classes[0].message.least,
			 figures.hops * settings.link_latency +
			     (figures.hops - 1) * settings.switch_latency +
			     (2048 + settings.header) * UINT64_C(200));
	hd_sim_free(sim);
	free_scene(&scene);
}

/* ---- lanes ---- */

struct lanes {
	uint8_t near, far; /* of the first packet: in the source's subnet, and behind the router */
	uint8_t sl;
};

/* Looks at the only packet, until it has come, by the room's own eyes. */
static void look_at_lanes(struct hd_sim *sim, struct lanes *lanes)
{
	enum hd_sim_end end = HD_SIM_UNTIL;

	*lanes = (struct lanes){255, 255, 255};
	for (uint64_t time = 0; end == HD_SIM_UNTIL; time += 10 * NANOSECOND) {
		CHECK(hd_sim_run(sim, time, &end, &err));
		if (!sim->packet_count || sim->packets[0].message == HD_NONE)
			continue;
		const struct sim_packet *packet = &sim->packets[0];
		if (sim->nodes[sim->ports[packet->at].node].kind == SIM_ROUTER)
			continue;
		lanes->sl = packet->sl;
		if (packet->dlid == sim->messages[packet->message].dlid)
			lanes->near = packet->lane_in;
		else
			lanes->far = packet->lane_in;
	}
	assert_int_equal(end, HD_SIM_IDLE);
}

/* A packet from the first host of subnet 0 to one of subnet 1. */
static struct lanes lanes_of(struct scene *scene, const struct hd_sim_settings *settings,
			     uint8_t sl, uint8_t lane)
{
	uint64_t random;
	struct flow flow = {.pace = ONE,
			    .message = {.bytes = 200, .flow = HD_NONE, .sl = sl, .lane = lane}};
	struct traffic traffic = {.flows = &flow, .count = 1, .random = &random};
	struct hd_sim_workload workload = {.start = traffic_start, .context = &traffic};
	struct hd_sim *sim = NULL;
	struct lanes lanes;

	flow.to = scene->fabrics[0]->host_count;
	while (is_router(scene, 1, flow.to - scene->fabrics[0]->host_count))
		flow.to++;
	CHECK(hd_sim_new(&scene->network, settings, &workload, &sim, &err));
	look_at_lanes(sim, &lanes);
	hd_sim_free(sim);
	return lanes;
}

static void check_lanes(struct lanes is, uint8_t sl, uint8_t near, uint8_t far)
{
	assert_int_equal(is.sl, sl);
	assert_int_equal(is.near, near);
	assert_int_equal(is.far, far);
}

/* The lane is that which the tables of each subnet give the service level, or its remainder, or the one
 * that the message names: and the latter stays the same behind the router. */
static void test_lanes_on_both_sides(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct scene scene;

	(void)state;
	make_scene(&scene);
	settings.lanes = 3;
	for (uint8_t sl = 0; sl < 16; sl++) {
		scene.routes[0]->sl2vl[sl] = (uint8_t)(sl * 2 % 3);
		scene.routes[1]->sl2vl[sl] = (uint8_t)((sl + 1) % 3);
	}
	for (uint8_t sl = 0; sl < 16; sl++) {
		settings.sl_is_vl = false;
		check_lanes(lanes_of(&scene, &settings, sl, HD_SIM_LANE_OF_SL), sl,
			    scene.routes[0]->sl2vl[sl], scene.routes[1]->sl2vl[sl]);
		check_lanes(lanes_of(&scene, &settings, sl, 2), sl, 2, 2);
		check_lanes(lanes_of(&scene, &settings, sl, 15), sl, 3, 3);
		settings.sl_is_vl = true;
		check_lanes(lanes_of(&scene, &settings, sl, HD_SIM_LANE_OF_SL), sl, sl % 3, sl % 3);
	}
	scene.routes[1]->sl2vl[2] = 15;
	settings.sl_is_vl = false;
	check_lanes(lanes_of(&scene, &settings, 2, HD_SIM_LANE_OF_SL), 2, 1, 3);
	free_scene(&scene);
}

/* A message for a lane that ports do not have is refused. In a later subnet its packets are dropped. */
static void test_lanes_that_ports_do_not_have(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct pairs pairs = {0};
	struct hd_sim_message message = {.bytes = 1, .flow = HD_NONE, .sl = 5};
	struct hd_sim_workload workload = {.start = start, .context = &pairs};
	struct hd_sim_figures figures;
	struct scene scene;
	struct hd_sim *sim = NULL;
	enum hd_sim_end end;

	(void)state;
	make_scene(&scene);
	settings.lanes = 2;
	scene.routes[1]->sl2vl[5] = 2;
	CHECK(hd_sim_new(&scene.network, &settings, &workload, &sim, &err));
	message.destination = scene.fabrics[0]->host_count;
	while (is_router(&scene, 1, message.destination - scene.fabrics[0]->host_count))
		message.destination++;
	message.lane = 2;
	assert_int_equal(hd_sim_send(sim, &message), -EINVAL);
	message.lane = HD_SIM_LANE_OF_SL;
	assert_int_equal(hd_sim_check_message(sim, &message, NULL), -EHOSTUNREACH);
	assert_int_equal(hd_sim_send(sim, &message), 0);
	sim->started = true;
	CHECK(hd_sim_run(sim, HD_SIM_NEVER, &end, &err));
	hd_sim_figures(sim, &figures);
	assert_int_equal(figures.dropped_route, 1);
	hd_sim_free(sim);
	free_scene(&scene);
}

/* ---- what does not fit ---- */

static int refuse(const struct scene *scene)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_sim_workload workload = {.start = start};
	struct hd_sim *sim = NULL;
	int rc = hd_sim_new(&scene->network, &settings, &workload, &sim, NULL);

	assert_int_equal(!rc, sim != NULL);
	hd_sim_free(sim);
	return rc;
}

/* Each subnet is checked, the last one, too. */
static void test_bad_subnets_are_refused(void **state)
{
	struct scene scene;
	const struct hd_fabric *fabric;

	(void)state;
	make_scene(&scene);
	assert_int_equal(refuse(&scene), 0);
	for (uint32_t s = 0; s < SUBNETS; s++) {
		struct hd_routes *routes = scene.routes[s];
		scene.subnets[s].routes = NULL;
		assert_int_equal(refuse(&scene), -EINVAL);
		scene.subnets[s].routes = routes;
		routes->switch_count--;
		assert_int_equal(refuse(&scene), -EINVAL);
		routes->switch_count++;
		routes->lid_count++;
		assert_int_equal(refuse(&scene), -EINVAL);
		routes->lid_count--;
		routes->sl2vl[0] = 1;
		assert_int_equal(refuse(&scene), -ERANGE);
		routes->sl2vl[0] = 0;
	}
	fabric = scene.subnets[1].fabric;
	scene.subnets[1] = scene.subnets[2];
	assert_int_equal(refuse(&scene), -EINVAL);
	scene.subnets[1] = (struct hd_sim_subnet){.fabric = fabric, .routes = scene.routes[1]};
	scene.interconnect->subnets[2].map = NULL;
	assert_int_equal(refuse(&scene), -EINVAL);
	free_scene(&scene);
}

/* Of one subnet alone, without an interconnect, ports that lead to routers have no cable. */
static void test_routers_of_one_subnet(void **state)
{
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct hd_sim_message message = {.destination = 1, .bytes = 1, .flow = HD_NONE};
	struct hd_sim_workload workload = {.start = start};
	const struct hd_router_port *port;
	const struct hd_fabric *fabric;
	struct hd_error why;
	struct scene scene;
	struct hd_sim *sim = NULL;

	(void)state;
	make_scene(&scene);
	fabric = scene.fabrics[0];
	port = &scene.interconnect->ports[0];
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (sw != fabric->host_switch[1] && sw != fabric->host_switch[40])
			hd_routes_row(scene.routes[0], sw)[fabric->lid[fabric->host_port[1]]] =
			    port->sw_port;
	message.source = 40;
	scene.network = (struct hd_sim_network){.subnets = scene.subnets, .subnet_count = 1};
	CHECK(hd_sim_new(&scene.network, &settings, &workload, &sim, &err));
	assert_int_equal(hd_sim_check_message(sim, &message, &why), -EHOSTUNREACH);
	assert_non_null(strstr(why.text, "a port without a cable"));
	hd_sim_free(sim);
	free_scene(&scene);
}

/* A subnet with a host and a router, which is known there with `ports` ports, the last of them cabled. */
static struct hd_fabric *part_of(uint32_t part, uint32_t ports)
{
	struct drawing drawing = {.builder = hd_builder_new(), .switches = part, .hosts = part};
	struct hd_node_spec router = {.type = HD_ROUTER, .guid = 0x400000, .port_count = ports};
	uint32_t sw = draw_switch(&drawing, 2), node;

	draw_host(&drawing, sw, 1, HD_SPEED_UNKNOWN);
	CHECK(hd_builder_add_node(drawing.builder, &router, &node, &err));
	CHECK(hd_builder_set_port_guid(drawing.builder, node, ports, 0x400000 + ports, &err));
	CHECK(hd_builder_link(drawing.builder, node, ports, sw, 2, 0, HD_SPEED_UNKNOWN, &err));
	return drawn(&drawing);
}

/* Subnets may know different ports of a router. */
static void test_ports_of_routers(void **state)
{
	const uint32_t ports[SUBNETS] = {3, 4, 2};
	struct hd_sim_settings settings = hd_sim_settings_default();
	struct scene scene;
	struct pairs pairs = {.scene = &scene};
	struct hd_sim_workload workload = {
	    .start = start, .delivered = delivered, .context = &pairs};
	struct hd_sim *sim = NULL;
	enum hd_sim_end end;

	(void)state;
	memset(&scene, 0, sizeof(scene));
	for (uint32_t i = 0; i < SUBNETS; i++) {
		scene.fabrics[i] = part_of(i, ports[i]);
		scene.routes[i] = route("spf", scene.fabrics[i]);
	}
	finish_scene(&scene);
	settings.lanes = 8; /* of spf */
	CHECK(hd_sim_new(&scene.network, &settings, &workload, &sim, &err));
	CHECK(hd_sim_run(sim, HD_SIM_NEVER, &end, &err));
	CHECK(hd_sim_check(sim, &err));
	assert_int_equal(pairs.sent, SUBNETS * SUBNETS);
	assert_int_equal(pairs.delivered, pairs.sent);
	hd_sim_free(sim);
	free_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_pairs_arrive),
	    cmocka_unit_test(test_latency_adds_up),
	    cmocka_unit_test(test_lanes_on_both_sides),
	    cmocka_unit_test(test_lanes_that_ports_do_not_have),
	    cmocka_unit_test(test_bad_subnets_are_refused),
	    cmocka_unit_test(test_routers_of_one_subnet),
	    cmocka_unit_test(test_ports_of_routers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
