/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load_estimate.h"
#include "dag.h"

#include <errno.h>

struct estimate {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	uint32_t *sample; /* destination switches */
	uint32_t count;
	double *load; /* [isl_count] */
	double *weight; /* [switch_count] hosts at or behind a switch, scratch */
};

static uint32_t hosts_on(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw + 1] - fabric->host_base[sw];
}

static void draw_sample(struct estimate *estimate)
{
	const struct hd_fabric *fabric = estimate->fabric;
	uint32_t leaves = 0, seen = 0, most = LOAD_ESTIMATE_STEPS / (fabric->isl_count + 1);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		leaves += hosts_on(fabric, sw) > 0;
	if (most < LOAD_ESTIMATE_LEAST)
		most = LOAD_ESTIMATE_LEAST;
	uint32_t step = (leaves + most - 1) / most;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hosts_on(fabric, sw) && seen++ % step == 0)
			estimate->sample[estimate->count++] = sw;
}

static int begin(struct estimate *estimate, const struct hd_fabric *fabric)
{
	struct hd_arena *arena = &estimate->arena;

	*estimate = (struct estimate){.fabric = fabric};
	estimate->sample = hd_arena_alloc(arena, fabric->switch_count, sizeof(uint32_t));
	estimate->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(double));
	estimate->weight = hd_arena_alloc(arena, fabric->switch_count, sizeof(double));
	if (hd_arena_check(arena))
		return -ENOMEM;
	draw_sample(estimate);
	return 0;
}

static double end(struct estimate *estimate)
{
	double largest = 0;

	for (uint32_t link = 0; link < estimate->fabric->isl_count; link++)
		if (estimate->load[link] > largest)
			largest = estimate->load[link];
	hd_arena_release(&estimate->arena);
	return largest;
}

/* ---- paths ---- */

/* From the farthest switch inwards, each passes on what it has and got, evenly. */
static void spread(struct estimate *estimate, const struct dag *dag)
{
	const struct hd_fabric *fabric = estimate->fabric;
	uint32_t receivers = hosts_on(fabric, dag->destination);

	for (uint32_t i = 0; i < dag->reached; i++)
		estimate->weight[dag->order[i]] = hosts_on(fabric, dag->order[i]);
	for (uint32_t i = dag->reached; i-- > 1;) {
		uint32_t sw = dag->order[i], base = fabric->isl_base[sw];
		double share = estimate->weight[sw] / dag->count[sw];
		for (uint32_t at = 0; at < dag->count[sw]; at++) {
			uint32_t link = base + dag->number[base + at];
			estimate->load[link] += share * receivers;
			estimate->weight[fabric->isl_to[link]] += share;
		}
	}
}

int load_estimate_paths(const struct hd_fabric *fabric, const uint8_t *up, double *largest)
{
	struct estimate estimate;
	const struct dag_paths paths = {.fabric = fabric, .up = up}; /* each is searched alone */
	struct dag dag;

	if (begin(&estimate, fabric) || dag_allocate(&dag, fabric, &estimate.arena)) {
		hd_arena_release(&estimate.arena);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < estimate.count; i++) {
		dag_build(&dag, &paths, estimate.sample[i]);
		spread(&estimate, &dag);
	}
	*largest = end(&estimate);
	return 0;
}

/* ---- tables ---- */

/* Follows the entries from every switch with hosts. */
static void follow(struct estimate *estimate, const struct hd_routes *routes, uint32_t host)
{
	const struct hd_fabric *fabric = estimate->fabric;
	uint32_t lid = fabric->lid[fabric->host_port[host]];

	for (uint32_t source = 0; lid && source < fabric->switch_count; source++) {
		uint32_t sw = source, hosts = hosts_on(fabric, source);
		for (uint32_t steps = 0; hosts && steps < fabric->switch_count; steps++) {
			uint32_t link =
			    hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
			if (link == HD_NONE)
				break;
			estimate->load[link] += hosts;
			sw = fabric->isl_to[link];
		}
	}
}

int load_estimate_tables(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 double *largest)
{
	struct estimate estimate;

	if (begin(&estimate, fabric)) {
		hd_arena_release(&estimate.arena);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < estimate.count; i++) {
		uint32_t sw = estimate.sample[i];
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			follow(&estimate, routes, host);
	}
	*largest = end(&estimate);
	return 0;
}
