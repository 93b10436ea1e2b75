/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets between subnets: through the router ports of the maps, and the routers of a relay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_testing.h"

#include <heddle/ir_router.h>

#define SUBNETS 3u
#define PREFIX UINT64_C(0xfec0000000000001)

struct scene {
	struct hd_fabric *fabrics[SUBNETS];
	struct hd_routes *routes[SUBNETS];
	struct hd_map *maps[SUBNETS];
	struct hd_interconnect *interconnect;
	struct hd_relay_tables tables;
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

static void make_scene(struct scene *scene)
{
	char text[100];

	memset(scene, 0, sizeof(*scene));
	for (uint32_t i = 0; i < SUBNETS; i++) {
		snprintf(text, sizeof(text), "subnets=%u part=%u", SUBNETS, i + 1);
		scene->fabrics[i] = generate("interconnect", text);
		scene->routes[i] = route("dmodk", scene->fabrics[i]);
	}
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

static void free_scene(struct scene *scene)
{
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
static void test_all_pairs_arrive(void **state)
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

	(void)state;
	make_scene(&scene);
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
	/* the router ports have sent */
	for (uint32_t i = 0; i < scene.interconnect->port_count; i++) {
		const struct hd_router_port *port = &scene.interconnect->ports[i];
		assert_true(figures.links[port->subnet][port->port].packets > 0);
	}
	hd_sim_free(sim);
	free_scene(&scene);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_pairs_arrive),
	    cmocka_unit_test(test_latency_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
