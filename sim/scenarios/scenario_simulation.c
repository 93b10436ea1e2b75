/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_simulation.h"

#include <heddle/engines/multicast.h>
#include <heddle/fabric/mfts.h>

#include <stdlib.h>
#include <string.h>

/* Hops between two questions whether to go on: some milliseconds. */
#define FEW_HOPS 50000u
#define MANY_HOPS 400000u
#define FIRST_SLICE HD_SIM_MICROSECOND

struct planning {
	struct scenario_simulation *simulation;
	uint32_t subnet, first; /* of the endpoints in the subnet */
	struct hd_multicast *multicast;
	struct hd_mfts *mfts;
	uint32_t room;
};

static uint32_t port_of(const struct planning *planning, uint32_t endpoint)
{
	const struct hd_fabric *fabric =
	    planning->simulation->network.subnets[planning->subnet].fabric;

	return fabric->host_port[endpoint - planning->first];
}

static int by_switch(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static int add_tree(struct planning *planning, const struct hd_multicast_tree *tree, uint16_t mlid,
		    struct hd_error *err)
{
	struct hd_mfts *mfts = planning->mfts;
	uint32_t count = mfts->count + tree->branch_count;
	struct hd_mft_entry *entries =
	    realloc(mfts->entries, ((size_t)count + 1) * sizeof(*entries));

	if (!entries)
		return hd_error_no_memory(err);
	mfts->entries = entries;
	for (uint32_t i = 0; i < tree->branch_count; i++)
		entries[mfts->count + i] =
		    (struct hd_mft_entry){mlid, tree->branches[i].sw, tree->branches[i].ports};
	qsort(entries + mfts->count, tree->branch_count, sizeof(*entries), by_switch);
	mfts->count = count;
	hd_multicast_add(planning->multicast, tree);
	return 0;
}

static int plan_group(struct planning *planning, const struct hd_traffic_group *group,
		      struct hd_error *err)
{
	uint32_t *members = calloc((size_t)group->member_count + 1, sizeof(*members));
	struct hd_multicast_tree *tree = NULL;

	if (!members)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < group->member_count; i++)
		members[i] = port_of(planning, group->members[i]);
	const struct hd_multicast_group wanted = {members, group->member_count,
						  port_of(planning, group->source)};
	int rc = hd_multicast_plan(planning->multicast, &wanted, &tree, err);
	if (!rc)
		rc = add_tree(planning, tree, group->mlid, err);
	free(tree);
	free(members);
	return rc;
}

/* Groups stay within one subnet: the only one. */
static int plan_groups(struct scenario_simulation *simulation, struct hd_error *err)
{
	uint32_t count = 0;
	const struct hd_traffic_group *groups = hd_traffic_groups(simulation->traffic, &count);
	struct planning planning = {.simulation = simulation};

	if (!count)
		return 0;
	planning.mfts = calloc(1, sizeof(*planning.mfts));
	simulation->mfts[0] = planning.mfts;
	int rc = planning.mfts ? hd_multicast_new(simulation->network.subnets[0].fabric, NULL,
						  &planning.multicast, err)
			       : hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = plan_group(&planning, &groups[i], err);
	hd_multicast_free(planning.multicast);
	simulation->subnets[0].mfts = planning.mfts;
	return rc;
}

static int copy_network(struct scenario_simulation *simulation, struct hd_error *err)
{
	const struct hd_sim_network *shared = &simulation->point->network->sim;
	uint32_t count = shared->subnet_count;

	simulation->subnets = calloc(count, sizeof(*simulation->subnets));
	simulation->mfts = calloc(count, sizeof(*simulation->mfts));
	if (!simulation->subnets || !simulation->mfts)
		return hd_error_no_memory(err);
	memcpy(simulation->subnets, shared->subnets, count * sizeof(*simulation->subnets));
	simulation->network = *shared;
	simulation->network.subnets = simulation->subnets;
	if (count > 1)
		return 0;
	simulation->tables = hd_routes_copy(shared->subnets[0].routes);
	simulation->subnets[0].routes = simulation->tables;
	return simulation->tables ? 0 : hd_error_no_memory(err);
}

int scenario_simulation_open(struct scenario_simulation *simulation,
			     const struct scenario_point *point, uint64_t seed,
			     struct hd_error *err)
{
	*simulation = (struct scenario_simulation){.point = point, .settings = point->run.settings};
	simulation->settings.seed = seed;
	int rc = copy_network(simulation, err);
	simulation->scene = (struct hd_traffic_scene){&simulation->network, &simulation->settings,
						      simulation->tables};
	if (!rc)
		rc = hd_traffic_new(&simulation->scene, point->traffics, point->traffic_count,
				    &simulation->traffic, err);
	if (!rc)
		rc = plan_groups(simulation, err);
	if (rc)
		return rc;
	simulation->settings.class_count = hd_traffic_class_count(simulation->traffic);
	simulation->settings.flow_count = hd_traffic_flow_count(simulation->traffic);
	const struct hd_sim_workload workload = hd_traffic_workload(simulation->traffic);
	return hd_sim_new(&simulation->network, &simulation->settings, &workload, &simulation->sim,
			  err);
}

void scenario_simulation_close(struct scenario_simulation *simulation)
{
	uint32_t count = simulation->network.subnet_count;

	hd_sim_free(simulation->sim);
	hd_traffic_free(simulation->traffic);
	for (uint32_t i = 0; simulation->mfts && i < count; i++)
		hd_mfts_free(simulation->mfts[i]);
	free(simulation->mfts);
	hd_routes_free(simulation->tables);
	free(simulation->subnets);
}

static bool ask(struct scenario_simulation *simulation, uint32_t run,
		const struct hd_scenario_watch *watch, const struct hd_sim_figures *figures)
{
	double share = hd_traffic_progress(simulation->traffic);
	uint64_t now = hd_sim_now(simulation->sim), until = simulation->point->run.duration;

	/* Finite traffic says how much is done: the rest will take as long in proportion. */
	if (until == HD_SIM_NEVER && share > 0)
		until = (uint64_t)((double)now / share);
	const struct hd_scenario_progress progress = {now, until, figures->in_flight,
						      figures->hops};
	return !watch || !watch->progress || watch->progress(watch->context, run, &progress);
}

int scenario_simulation_run(struct scenario_simulation *simulation, uint32_t run,
			    const struct hd_scenario_watch *watch, struct hd_error *err)
{
	uint64_t until = simulation->point->run.duration, slice = FIRST_SLICE, hops = 0;
	struct hd_sim_figures figures;

	if (until == HD_SIM_NEVER && !hd_traffic_ends(simulation->traffic))
		return hd_error_set(err, -EINVAL,
				    "this run would never end: set duration in [run], or stop in "
				    "each [traffic ...]");
	for (;;) {
		uint64_t now = hd_sim_now(simulation->sim);
		uint64_t next = until - now > slice ? now + slice : until;
		int rc = hd_sim_run(simulation->sim, next, &simulation->end, err);
		if (!rc)
			rc = hd_traffic_result(simulation->traffic, err);
		if (rc)
			return rc;
		if (simulation->end != HD_SIM_UNTIL || next == until)
			return 0;
		hd_sim_figures(simulation->sim, &figures);
		if (!ask(simulation, run, watch, &figures)) {
			simulation->partial = true;
			return 0;
		}
		if (figures.hops - hops < FEW_HOPS && slice < UINT64_MAX / 4)
			slice *= 2;
		else if (figures.hops - hops > MANY_HOPS)
			slice /= 2;
		hops = figures.hops;
	}
}
