/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Estimates of who sends to whom, the same traffic by other tables, and bottlenecks. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "cases.h"
#include "testing.h"

#include "random_tables.h"

#include <heddle/analysis/estimate.h>

#define FABRICS CASES(40, 12)
#define HOPS 64

/* A fabric, tables, and counters that known traffic has left. */
struct world {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_counters *counters;
	struct hd_measured *measured;
	double *sent; /* [host_count * host_count] bytes */
	uint64_t random;
};

static uint32_t host_up(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->isl_count + host;
}

static uint32_t host_down(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->isl_count + fabric->host_count + host;
}

/* The links between switches from a host to a LID; -1: it does not arrive. */
static int path_of(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t source,
		   uint32_t host, uint32_t lid, uint32_t *links)
{
	uint32_t sw = fabric->host_switch[source];

	for (int hops = 0; hops < HOPS; hops++) {
		uint8_t port = hd_routes_port(routes, sw, lid);
		if (sw == fabric->host_switch[host] && port == fabric->host_switch_port[host])
			return hops;
		uint32_t link = hd_fabric_find_isl(fabric, sw, port);
		if (link == HD_NONE)
			return -1;
		links[hops] = link;
		sw = fabric->isl_to[link];
	}
	return -1;
}

static void count(struct world *world, uint32_t link, double bytes)
{
	uint32_t port = hd_congestion_link_port(world->fabric, link);
	struct hd_port_counters *row = &world->counters->ports[port];

	row->known |= HD_COUNTER_BIT(HD_XMIT_DATA) | HD_COUNTER_BIT(HD_XMIT_WAIT);
	row->value[HD_XMIT_DATA] += (uint64_t)(bytes / 4);
}

/* Some hosts send to one or two others, to their base LIDs. */
static struct world world_of(uint64_t seed, unsigned lmc)
{
	struct world world = {.random = seed};
	struct hd_error err = {""};
	struct hd_fabric *fabric = random_fabric(&world.random);
	uint32_t links[HOPS];

	CHECK(hd_fabric_assign_lids(fabric, lmc, &world.fabric, &err));
	hd_fabric_free(fabric);
	fabric = world.fabric;
	world.routes = random_tables(fabric, &world.random, false);
	world.counters = hd_counters_new(fabric);
	world.counters->seconds = 1;
	world.counters->wait_tick = 1e-9;
	world.sent = calloc((size_t)fabric->host_count * fabric->host_count, sizeof(double));
	for (uint32_t link = 0; link < fabric->isl_count + 2 * fabric->host_count; link++)
		count(&world, link, 0);
	for (uint32_t source = 0; source < fabric->host_count; source++)
		for (unsigned i = 0; i < 2; i++) {
			uint32_t host =
			    (uint32_t)hd_random_below(&world.random, fabric->host_count);
			int hops = path_of(fabric, world.routes, source, host,
					   fabric->lid[fabric->host_port[host]], links);
			double bytes = 4.0 * (double)hd_random_below(&world.random, 1 << 28);
			if (host == source || hops < 0 || !hd_random_below(&world.random, 3))
				continue;
			world.sent[source * fabric->host_count + host] += bytes;
			count(&world, host_up(fabric, source), bytes);
			count(&world, host_down(fabric, host), bytes);
			for (int hop = 0; hop < hops; hop++)
				count(&world, links[hop], bytes);
		}
	CHECK(hd_measured_new(fabric, world.counters, &world.measured, &err));
	return world;
}

static void world_end(struct world *world)
{
	hd_measured_free(world->measured);
	hd_counters_free(world->counters);
	hd_routes_free(world->routes);
	hd_fabric_free(world->fabric);
	free(world->sent);
}

/* NULL: nothing was sent. */
static struct hd_estimate *estimate_of(const struct world *world,
				       const struct hd_allocation *allocation)
{
	const struct hd_estimate_request request = {
	    .measured = world->measured, .routes = world->routes, .allocation = allocation};
	struct hd_estimate *estimate = NULL;
	struct hd_error err = {""};
	int rc = hd_estimate_new(&request, &estimate, &err);

	if (rc != -ENODATA)
		CHECK(rc);
	return estimate;
}

/* Property: the loads of the estimate are those of its entries on their paths, counted one by one, and links have nearly
 * the bytes that were measured. */
static void explains_links(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < FABRICS; seed++) {
		struct world world = world_of(seed, seed % 3 == 2);
		struct hd_estimate *estimate = estimate_of(&world, NULL);
		const struct hd_fabric *fabric = world.fabric;
		double *loads = calloc(world.measured->link_count, sizeof(double));
		uint32_t links[HOPS];
		for (uint32_t i = 0; estimate && i < estimate->cell_count; i++) {
			const struct hd_estimate_cell *cell = &estimate->cells[i];
			uint32_t source = fabric->host_base[estimate->sources[cell->source].sw];
			uint32_t lid =
			    fabric->lid[fabric->host_port[cell->host]] + cell->lid_offset;
			int hops = path_of(fabric, world.routes, source, cell->host, lid, links);
			assert_int_equal(hops, cell->hops);
			assert_memory_equal(links, estimate->links + cell->path,
					    (size_t)hops * sizeof(*links));
			for (int hop = 0; hop < hops; hop++)
				loads[links[hop]] += cell->bytes;
			loads[host_down(fabric, cell->host)] += cell->bytes;
			assert_true(cell->bytes >= 0);
		}
		for (uint32_t link = 0; estimate && link < world.measured->link_count; link++)
			if (link < fabric->isl_count || link >= host_down(fabric, 0))
				assert_true(fabs(loads[link] - estimate->link_bytes[link]) <=
					    1e-6 * estimate->bytes);
		assert_true(!estimate || estimate->explained > 0.9);
		assert_true(!estimate || estimate->explained >= estimate->explained_first - 1e-3);
		free(loads);
		hd_estimate_free(estimate);
		world_end(&world);
	}
}

/* The bytes of an entry for a LID of its host, which may have another number of LIDs in the other fabric. */
static double part_of(const struct hd_estimate *estimate, const struct hd_estimate_cell *cell,
		      const struct hd_fabric *fabric, uint32_t offset)
{
	const struct hd_fabric *measured = estimate->measured->fabric;
	uint32_t port = fabric->host_port[cell->host];

	if (measured->lmc[port] == fabric->lmc[port])
		return cell->lid_offset == offset ? cell->bytes : 0;
	return cell->bytes / (1u << fabric->lmc[port]);
}

/* Property: by other tables, with other LIDs, links carry what a walk of each entry adds up; of all entries, or of those
 * that cross a link. */
static void projects(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < FABRICS; seed++) {
		struct world world = world_of(seed, seed % 2);
		struct hd_estimate *estimate = estimate_of(&world, NULL);
		struct hd_fabric *fabric = NULL;
		struct hd_estimate_load load;
		struct hd_error err = {""};
		uint32_t links[HOPS], only = HD_NONE;
		double lost = 0;
		if (seed % 3 == 0 && world.fabric->isl_count)
			only = (uint32_t)hd_random_below(&world.random, world.fabric->isl_count);
		CHECK(hd_fabric_assign_lids(world.fabric, seed % 4 / 2, &fabric, &err));
		struct hd_routes *routes = random_tables(fabric, &world.random, seed % 5 == 0);
		double *loads = calloc(world.measured->link_count, sizeof(double));
		for (uint32_t i = 0; estimate && i < estimate->cell_count; i++) {
			const struct hd_estimate_cell *cell = &estimate->cells[i];
			uint32_t source = fabric->host_base[estimate->sources[cell->source].sw];
			uint32_t port = fabric->host_port[cell->host];
			for (uint32_t offset = 0; offset < 1u << fabric->lmc[port]; offset++) {
				double bytes = part_of(estimate, cell, fabric, offset);
				if (only != HD_NONE && !hd_estimate_crosses(estimate, cell, only))
					continue;
				int hops = path_of(fabric, routes, source, cell->host,
						   fabric->lid[port] + offset, links);
				lost += hops < 0 ? bytes : 0;
				for (int hop = 0; hop < hops; hop++)
					loads[links[hop]] += bytes;
			}
		}
		const struct hd_estimate_projection projection = {
		    .fabric = fabric, .routes = routes, .link = only};
		if (estimate) {
			CHECK(hd_estimate_project(estimate, &projection, &load, &err));
			for (uint32_t link = 0; link < fabric->isl_count; link++)
				assert_true(fabs(loads[link] - load.link_bytes[link]) <=
					    1e-6 * estimate->bytes);
			assert_true(fabs(load.lost - lost) <= 1e-6 * estimate->bytes);
			hd_estimate_load_release(&load);
		}
		free(loads);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
		hd_estimate_free(estimate);
		world_end(&world);
	}
}

/* ---- adaptive routing ---- */

/* Groups of all ports on shortest paths, or for some entries none. */
struct groups {
	struct hd_spread spread;
	struct hd_spread_switch *switches;
	struct hd_spread_group *groups; /* [switch * lid_count + lid] */
	uint16_t *numbers;
};

static struct groups groups_of(const struct hd_fabric *fabric, uint64_t *random)
{
	const size_t lids = fabric->lid_count, switches = fabric->switch_count;
	struct groups groups = {.switches = calloc(switches, sizeof(*groups.switches)),
				.groups = calloc(switches * lids, sizeof(*groups.groups)),
				.numbers = calloc(switches * lids, sizeof(*groups.numbers))};
	uint8_t *hops = malloc(switches * switches);
	struct hd_error err = {""};

	CHECK(hd_fabric_distances(fabric, 1, hops, &err));
	for (uint32_t sw = 0; sw < switches; sw++) {
		struct hd_spread_switch *one = &groups.switches[sw];
		*one = (struct hd_spread_switch){.group_count = (uint32_t)lids,
						 .groups = groups.groups + sw * lids};
		one->group[0] = groups.numbers + sw * lids;
		for (uint32_t lid = 0; lid < lids; lid++) {
			uint32_t last;
			uint8_t exit;
			struct hd_spread_group *group = &groups.groups[sw * lids + lid];
			groups.numbers[sw * lids + lid] = HD_SPREAD_NO_GROUP;
			if (!hd_fabric_lid_destination(fabric, lid, &last, &exit) || sw == last ||
			    !hd_random_below(random, 4))
				continue;
			for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
				if (hops[last * switches + fabric->isl_to[i]] + 1 ==
				    hops[last * switches + sw])
					hd_port_set_add(&group->all, fabric->isl_port[i]);
			if (hd_random_below(random, 2))
				group->first = group->all;
			groups.numbers[sw * lids + lid] = (uint16_t)lid;
		}
	}
	free(hops);
	groups.spread = (struct hd_spread){.tables = 1, .switches = groups.switches};
	return groups;
}

/* Divides bytes at a switch evenly, and follows each part. */
static void follow(const struct hd_fabric *fabric, const struct hd_routes *routes,
		   const struct groups *groups, uint32_t sw, uint32_t host, uint32_t lid,
		   double bytes, double *loads)
{
	uint16_t number = groups->numbers[(size_t)sw * fabric->lid_count + lid];
	const struct hd_spread_group *group = &groups->groups[(size_t)sw * fabric->lid_count + lid];
	uint32_t ways = 0;

	if (sw == fabric->host_switch[host])
		return;
	if (number == HD_SPREAD_NO_GROUP) {
		uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		loads[link] += bytes;
		follow(fabric, routes, groups, fabric->isl_to[link], host, lid, bytes, loads);
		return;
	}
	for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++)
		ways += hd_port_set_has(&group->all, fabric->isl_port[i]);
	for (uint32_t i = fabric->isl_base[sw]; i < fabric->isl_base[sw + 1]; i++) {
		if (!hd_port_set_has(&group->all, fabric->isl_port[i]))
			continue;
		loads[i] += bytes / ways;
		follow(fabric, routes, groups, fabric->isl_to[i], host, lid, bytes / ways, loads);
	}
}

/* Property: with groups, links carry what following each part alone adds up. */
static void projects_with_groups(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < FABRICS / 2; seed++) {
		struct world world = world_of(seed, 0);
		struct hd_estimate *estimate = estimate_of(&world, NULL);
		const struct hd_fabric *fabric = world.fabric;
		struct groups groups = groups_of(fabric, &world.random);
		double *loads = calloc(world.measured->link_count, sizeof(double));
		struct hd_estimate_load load;
		struct hd_error err = {""};
		for (uint32_t i = 0; estimate && i < estimate->cell_count; i++) {
			const struct hd_estimate_cell *cell = &estimate->cells[i];
			follow(fabric, world.routes, &groups, estimate->sources[cell->source].sw,
			       cell->host, fabric->lid[fabric->host_port[cell->host]], cell->bytes,
			       loads);
		}
		const struct hd_estimate_projection projection = {.fabric = fabric,
								  .routes = world.routes,
								  .spread = &groups.spread,
								  .link = HD_NONE};
		if (estimate) {
			CHECK(hd_estimate_project(estimate, &projection, &load, &err));
			for (uint32_t link = 0; link < fabric->isl_count; link++)
				assert_true(fabs(loads[link] - load.link_bytes[link]) <=
					    1e-6 * estimate->bytes);
			assert_true(load.lost <= 1e-6 * estimate->bytes);
			hd_estimate_load_release(&load);
		}
		free(loads);
		free(groups.switches);
		free(groups.groups);
		free(groups.numbers);
		hd_estimate_free(estimate);
		world_end(&world);
	}
}

/* ---- users, jobs, bottlenecks ---- */

/* Property: the routes over a link are those that a walk of all pairs finds, and the flows have its estimated bytes. */
static void finds_users(void **state)
{
	(void)state;
	struct world world = world_of(5, 0);
	struct hd_estimate *estimate = estimate_of(&world, NULL);
	const struct hd_fabric *fabric = world.fabric;
	struct hd_error err = {""};
	uint32_t links[HOPS];

	assert_non_null(estimate);
	for (uint32_t link = 0; link < world.measured->link_count; link++) {
		struct hd_estimate_users users;
		uint64_t routes = 0;
		double bytes = 0;
		for (uint32_t source = 0; source < fabric->host_count; source++)
			for (uint32_t host = 0; host < fabric->host_count; host++) {
				int hops = path_of(fabric, world.routes, source, host,
						   fabric->lid[fabric->host_port[host]], links);
				bool uses = link == host_up(fabric, source) ||
					    link == host_down(fabric, host);
				for (int hop = 0; hop < hops; hop++)
					uses |= links[hop] == link;
				routes += uses && hops >= 0 && source != host;
			}
		CHECK(hd_estimate_find_users(estimate, world.routes, NULL, link, 1000000, &users,
					     &err));
		for (uint32_t i = 0; i < users.flow_count; i++)
			bytes += users.flows[i].bytes;
		assert_true(users.routes == routes);
		assert_true(fabs(users.bytes - estimate->link_bytes[link]) <=
			    1e-6 * estimate->bytes);
		assert_true(fabs(bytes - users.bytes) <= 1e-6 * estimate->bytes);
		hd_estimate_users_release(&users);
	}
	hd_estimate_free(estimate);
	world_end(&world);
}

/* Property: hosts of two jobs never send to each other. */
static void keeps_jobs_apart(void **state)
{
	(void)state;
	struct world world = world_of(7, 0);
	uint32_t jobs[4096];
	struct hd_allocation allocation = {.job_count = 2, .host_job = jobs};

	for (uint32_t host = 0; host < world.fabric->host_count; host++)
		jobs[host] = host % 5 == 0 ? HD_NONE : host % 2;
	struct hd_estimate *estimate = estimate_of(&world, &allocation);
	assert_non_null(estimate);
	for (uint32_t i = 0; i < estimate->cell_count; i++) {
		uint32_t from = estimate->sources[estimate->cells[i].source].job,
			 to = jobs[estimate->cells[i].host];
		assert_true(from == to || from == HD_NONE || to == HD_NONE);
	}
	hd_estimate_free(estimate);
	world_end(&world);
}

/* Property: where two hosts send to one, its cable is the bottleneck, and where it does not take packets, it is slow. */
static void names_a_cable(void **state)
{
	(void)state;
	struct hd_error err = {""};
	for (unsigned slow = 0; slow < 2; slow++) {
		struct hd_fabric *plain = generate("xgft", "children=4,2 parents=1,1"),
				 *fabric = NULL;
		CHECK(hd_fabric_assign_lids(plain, 0, &fabric, &err));
		uint64_t random = 1;
		struct world world = {.fabric = fabric,
				      .routes = random_tables(fabric, &random, false)};
		struct hd_bottleneck list[3];
		world.counters = hd_counters_new(fabric);
		world.counters->seconds = 1;
		world.counters->wait_tick = 1;
		for (uint32_t link = 0; link < fabric->isl_count + 2 * fabric->host_count; link++)
			count(&world, link, 0);
		const double full = hd_port_rate(fabric, fabric->host_port[0]) * 1e9 / 8;
		count(&world, host_up(fabric, 1), full / 4);
		count(&world, host_up(fabric, 2), full / 4);
		count(&world, host_down(fabric, 0), full / 2);
		CHECK(hd_measured_new(fabric, world.counters, &world.measured, &err));
		world.measured->links[host_up(fabric, 1)].wait = 0.75;
		world.measured->links[host_up(fabric, 2)].wait = 0.75;
		world.measured->links[host_down(fabric, 0)].wait = slow ? 0.5 : 0;
		world.measured->links[host_down(fabric, 0)].share = slow ? 0.5 : 1;
		struct hd_estimate *estimate = estimate_of(&world, NULL);
		assert_true(hd_bottlenecks_find(world.measured, estimate, list, 3) >= 1);
		assert_int_equal(list[0].link, host_down(fabric, 0));
		assert_true(list[0].slow_host == slow && fabs(list[0].hosts - 1.5) < 0.1);
		assert_true(hd_bottlenecks_find(world.measured, NULL, list, 3) >= 1);
		assert_int_equal(list[0].link, host_down(fabric, 0));
		hd_estimate_free(estimate);
		world_end(&world);
		hd_fabric_free(plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(explains_links),	    cmocka_unit_test(projects),
	    cmocka_unit_test(projects_with_groups), cmocka_unit_test(finds_users),
	    cmocka_unit_test(keeps_jobs_apart),	    cmocka_unit_test(names_a_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
