/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DFP on Dragonfly+, intact and damaged, against packets that are followed one by one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "cases.h"
#include "oracle_dependencies.h"

#define TRIALS CASES(60, 18)

static bool is_spine(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->node_name[sw][1] == '2';
}

static int island(const struct hd_fabric *fabric, uint32_t sw)
{
	return atoi(fabric->node_name[sw] + 3);
}

/* Where a packet is: it came by a link (HD_NONE: from a host), on a lane. */
struct place {
	uint32_t sw, link;
	unsigned lane;
};

static uint32_t table_at(const struct hd_fabric *fabric, const struct place *place)
{
	bool above = place->link != HD_NONE && is_spine(fabric, hd_isl_from(fabric, place->link));

	return above ? 0 : place->lane ? 2 : 1;
}

/* The lane on which a packet leaves by a link: it rises where one that came from above climbs. */
static unsigned lane_after(const struct hd_fabric *fabric, const struct place *place, uint32_t next)
{
	bool climbs = !is_spine(fabric, place->sw) && is_spine(fabric, fabric->isl_to[next]);

	return climbs && table_at(fabric, place) == 0 ? 1 : place->lane;
}

static bool may_leave(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		      const struct place *place, uint32_t lid, uint32_t link)
{
	uint32_t table = table_at(fabric, place);
	uint32_t group = hd_ar_plan_group(plan, place->sw, table, lid);
	uint8_t port = fabric->isl_port[link];

	if (plan->switches[place->sw].lid_port[table][lid] == port)
		return true;
	return group != HD_AR_NO_GROUP &&
	       (hd_port_set_has(&plan->switches[place->sw].groups[group].ports[0], port) ||
		hd_port_set_has(&plan->switches[place->sw].groups[group].ports[1], port));
}

struct packets {
	const struct hd_fabric *fabric;
	const struct hd_ar_plan *plan;
	uint32_t lid;
	struct oracle_dependencies graph; /* of links, on lane 0, then on lane 1 */
	bool *seen; /* by link and lane */
	unsigned longest, crossed_twice;
};

static void follow(struct packets *packets, struct place place, unsigned hops)
{
	const struct hd_fabric *fabric = packets->fabric;
	uint32_t links = fabric->isl_count;

	packets->longest = hops > packets->longest ? hops : packets->longest;
	for (uint32_t link = fabric->isl_base[place.sw]; link < fabric->isl_base[place.sw + 1];
	     link++) {
		if (!may_leave(packets->plan, fabric, &place, packets->lid, link))
			continue;
		struct place next = {fabric->isl_to[link], link, lane_after(fabric, &place, link)};
		uint32_t node = next.lane * links + link;
		if (place.link != HD_NONE)
			oracle_dependencies_collect(&packets->graph,
						    place.lane * links + place.link, node);
		packets->crossed_twice += place.link != HD_NONE && is_spine(fabric, place.sw) &&
					  is_spine(fabric, next.sw) &&
					  is_spine(fabric, hd_isl_from(fabric, place.link));
		if (packets->seen[node])
			continue;
		packets->seen[node] = true;
		follow(packets, next, hops + 1);
	}
}

static void follow_all(struct packets *packets)
{
	const struct hd_fabric *fabric = packets->fabric;
	uint8_t port;
	uint32_t sw;

	for (packets->lid = 1; packets->lid < fabric->lid_count; packets->lid++) {
		if (!hd_fabric_lid_destination(fabric, packets->lid, &sw, &port) || !port)
			continue;
		memset(packets->seen, 0, 2 * fabric->isl_count * sizeof(bool));
		for (uint32_t source = 0; source < fabric->switch_count; source++)
			if (hd_has_adapters(fabric, source))
				follow(packets, (struct place){source, HD_NONE, 0}, 0);
	}
}

static bool has_cycle(const struct oracle_dependencies *graph)
{
	for (uint32_t link = 0; link < graph->links; link++)
		if (oracle_dependencies_cycle_length(graph, link))
			return true;
	return false;
}

static struct packets packets_of(const struct hd_fabric *fabric, const struct hd_ar_plan *plan)
{
	struct packets packets = {
	    .fabric = fabric, .plan = plan, .seen = calloc(2 * fabric->isl_count + 1, 1)};

	assert_true(oracle_dependencies_init(&packets.graph, 2 * fabric->isl_count));
	follow_all(&packets);
	return packets;
}

static void packets_end(struct packets *packets)
{
	oracle_dependencies_free(&packets->graph);
	free(packets->seen);
}

/* Property: on an intact Dragonfly+ a leaf chooses among all its spines, a packet never crosses
 * twice without a descent between, and nothing closes a loop. */
static void intact(void **state)
{
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=4 leaves=3 spines=3 hosts=2 global-links=2");
	struct hd_routes *routes = route("dfp", fabric);
	struct hd_ar_request request = {
	    .fabric = fabric, .routes = routes, .algorithm = HD_AR_AUTO, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	(void)state;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	assert_int_equal(plan->algorithm, HD_AR_DFP);
	assert_int_equal(plan->table_count, 3);
	assert_int_equal(plan->proof.lanes, 2);
	struct packets packets = packets_of(fabric, plan);
	assert_false(has_cycle(&packets.graph));
	assert_int_equal(packets.crossed_twice, 0);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t lid = fabric->lid[fabric->host_port[host]];
			uint32_t last = fabric->host_switch[host];
			uint32_t group = hd_ar_plan_group(plan, sw, 1, lid);
			if (is_spine(fabric, sw) || sw == last)
				continue;
			assert_int_not_equal(group, HD_AR_NO_GROUP);
			const struct hd_ar_group *ports = &plan->switches[sw].groups[group];
			assert_int_equal(hd_port_set_count(&ports->ports[0]) +
					     hd_port_set_count(&ports->ports[1]),
					 3);
			/* within an island all paths are minimal */
			if (island(fabric, sw) == island(fabric, last))
				assert_true(hd_port_set_is_empty(&ports->ports[1]));
		}
	packets_end(&packets);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: a damaged Dragonfly+ gets a plan whose packets close no loop on either lane, or a
 * refusal. */
static void damaged_fabrics(void **state)
{
	unsigned planned = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct hd_fabric *fabric =
		    damaged(generate("dragonfly-plus",
				     "islands=3 leaves=2 spines=2 hosts=1 global-links=2"),
			    (double)(number % 4) * 4, number);
		struct hd_routes *routes = route("dfp", fabric);
		struct hd_ar_request request = {.fabric = fabric,
						.routes = routes,
						.algorithm = HD_AR_DFP,
						.mode = HD_AR_FREE,
						.threads = 1 + (unsigned)(number % 3)};
		struct hd_ar_plan *plan = NULL;
		int rc = hd_ar_plan_new(&request, &plan, NULL, NULL);
		assert_true(rc == 0 || rc == -ENOTSUP || rc == -ELOOP);
		if (!rc) {
			struct packets packets = packets_of(fabric, plan);
			assert_false(has_cycle(&packets.graph));
			packets_end(&packets);
			planned++;
		}
		hd_ar_plan_free(plan);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(planned > TRIALS * 2 / 3);
}

/* Property: aggregation nodes count as senders. The tables are taken for such of one lane, so that DFP
 * has the second for itself. */
static void aggregation_nodes_send_too(void **state)
{
	unsigned planned = 0, refused = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct hd_fabric *fabric = NULL;
		struct hd_fabric *bare =
		    damaged(generate("dragonfly-plus",
				     "islands=4 leaves=3 spines=3 hosts=1 global-links=1"),
			    (double)(number % 4) * 4, number);
		CHECK(hd_fabric_add_aggregation(bare, &fabric, &err));
		struct hd_routes *routes = route("dfp", fabric), one_lane = *routes;
		one_lane.sl = NULL;
		struct hd_ar_request request = {.fabric = fabric,
						.routes = &one_lane,
						.algorithm = HD_AR_DFP,
						.mode = HD_AR_FREE};
		struct hd_ar_plan *plan = NULL;
		int rc = hd_ar_plan_new(&request, &plan, NULL, NULL);
		refused += rc == -ELOOP;
		planned += rc == 0;
		if (!rc) {
			struct packets packets = packets_of(fabric, plan);
			assert_false(has_cycle(&packets.graph));
			packets_end(&packets);
		}
		hd_ar_plan_free(plan);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
		hd_fabric_free(bare);
	}
	print_message("%u planned, %u refused\n", planned, refused);
	assert_true(planned && refused);
}

/* Property: one switch without private tables is enough to refuse DFP, and AUTO takes another. */
static void switches_that_cannot(void **state)
{
	struct hd_fabric *fabric =
	    generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=1 global-links=1");
	struct hd_routes *routes = route("dfp", fabric);
	struct hd_ar_capability can[16];
	struct hd_ar_request request = {.fabric = fabric,
					.routes = routes,
					.capabilities = can,
					.algorithm = HD_AR_DFP,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	(void)state;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		can[sw] = hd_ar_capability_full;
	can[5].private_tables = false;
	assert_int_equal(hd_ar_plan_new(&request, &plan, NULL, NULL), -ENOTSUP);
	request.algorithm = HD_AR_AUTO;
	CHECK(hd_ar_plan_new(&request, &plan, NULL, &err));
	assert_int_equal(plan->algorithm, HD_AR_TREE);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intact),
	    cmocka_unit_test(damaged_fabrics),
	    cmocka_unit_test(aggregation_nodes_send_too),
	    cmocka_unit_test(switches_that_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
