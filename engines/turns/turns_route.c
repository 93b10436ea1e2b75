/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * turns: short paths on any fabric, with the lanes that there are. Shortest paths are routed first, as spf does, to find
 * out which turns from link to link carry most. Then each lane gets a set of turns without a cycle, the heaviest first
 * (turn_sets.h), and the tree of each destination grows by turns of these sets (turn_tree.h). A path goes by a lane whose
 * set has all of its turns; it is longer than the shortest one only where no lane has those.
 *
 * With tables in place, the sets have their turns. A tree returns to its baseline if that is whole and its turns are in the
 * sets; else it stays, or grows again if it has lost a link.
 */
#include "all_engines.h"
#include "balance.h"
#include "conflicts.h"
#include "engine_options.h"
#include "parallel_links.h"
#include "tree_rows.h"
#include "turn_rounds.h"

#include <errno.h>
#include <stdlib.h>

static const struct hd_option options[] = {
    TURN_ROUNDS_OPTION,
    LANE_OPTIONS,
};

struct job {
	const struct hd_route_request *request;
	const struct hd_fabric *fabric;
	struct resolved_policy policy;
	struct hd_arena arena;
	struct dag_paths paths;
	struct destinations list;
	uint8_t *chosen; /* [list.count * switch_count] */
	uint8_t *home; /* the same of the baseline; NULL: the request has none */
	struct turn_sets sets;
	struct turn_trees trees;
	uint64_t *flows; /* [switch_count] of the tree at hand */
};

static uint8_t *tree_of(const struct job *job, uint32_t destination)
{
	return job->chosen + (size_t)destination * job->fabric->switch_count;
}

static bool is_to_host(const struct job *job, uint32_t destination)
{
	return job->list.items[destination].host != HD_NONE;
}

/* ---- shortest paths ---- */

static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	(void)err;
	dag_build(dag, context, destination->sw);
	return 0;
}

/* Entries of tables. Those for destinations in other components lead nowhere. */
static void load_trees(struct job *job, const struct hd_routes *routes, uint8_t *trees)
{
	const uint32_t *root = job->sets.root, switches = job->fabric->switch_count;

	tree_rows_read(job->fabric, &job->list, routes, trees);
	for (uint32_t d = 0; d < job->list.count; d++)
		for (uint32_t sw = 0; sw < switches; sw++)
			if (root[sw] != root[job->list.items[d].sw])
				trees[(size_t)d * switches + sw] = LINK_NUMBER_NONE;
}

static int route_shortest(struct job *job, unsigned passes, struct hd_error *err)
{
	struct hd_route_request fresh = *job->request;
	const struct balance_plan plan = {.request = &fresh,
					  .policy = &job->policy,
					  .passes = passes,
					  .by = BALANCE_BY_CONFLICTS,
					  .build = build,
					  .context = &job->paths,
					  .paths = &job->paths};
	struct hd_routes *routes = NULL;

	fresh.previous = fresh.baseline = NULL;
	int rc = balance_route(&plan, &routes, err);
	if (!rc)
		tree_rows_read(job->fabric, &job->list, routes, job->chosen);
	hd_routes_free(routes);
	return rc;
}

/* ---- sets of turns ---- */

#define WITHOUT_LANE 128u /* times that a path weighs more if it is in no lane so far */

/* Adds the hosts that send over each turn of the tree at hand. Returns how many paths are in no lane. */
static uint64_t weigh_tree(struct job *job, const uint8_t *tree, uint64_t *weight)
{
	const struct turn_trees *trees = &job->trees;
	const struct hd_fabric *fabric = job->fabric;
	uint64_t without = 0;

	for (uint32_t i = 0; i < trees->reached; i++) {
		const uint32_t sw = trees->order[i],
			       hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];

		without += hosts && !trees->lanes[sw];
		job->flows[sw] = trees->lanes[sw] ? hosts : hosts * (uint64_t)WITHOUT_LANE;
	}
	for (uint32_t i = trees->reached; i-- > 1;) {
		const uint32_t sw = trees->order[i];
		const uint32_t link = fabric->isl_base[sw] + tree[sw], to = fabric->isl_to[link];

		if (to != trees->destination)
			weight[turns_find(&job->sets.turns, link,
					  fabric->isl_base[to] + tree[to])] += job->flows[sw];
		job->flows[to] += job->flows[sw];
	}
	return without;
}

/* The same for all trees. */
static uint64_t weigh(struct job *job, uint64_t *weight)
{
	uint64_t without = 0;

	memset(weight, 0, job->sets.turns.count * sizeof(*weight));
	for (uint32_t d = 0; d < job->list.count; d++) {
		const uint8_t *tree = tree_of(job, d);

		if (!is_to_host(job, d) ||
		    !turn_trees_follow(&job->trees, job->list.items[d].sw, tree))
			continue;
		turn_trees_find_lanes(&job->trees, tree);
		without += weigh_tree(job, tree, weight);
	}
	return without;
}

/* As many lanes as shortest paths need, or as there are. */
static int choose_sets(struct job *job, unsigned lanes, struct hd_error *err)
{
	struct turn_sets *sets = &job->sets;
	uint64_t *weight = hd_arena_alloc(&job->arena, sets->turns.count, sizeof(*weight));
	int rc = 0;

	if (!weight)
		return hd_error_no_memory(err);
	while (!rc && weigh(job, weight) && sets->lane_count < lanes)
		rc = turn_sets_add(sets, weight, &job->request->go_on, &job->arena);
	if (!rc && !sets->lane_count) /* no path has a turn */
		rc = turn_sets_add(sets, weight, &job->request->go_on, &job->arena);
	return hd_go_on_explain(rc, err);
}

/* ---- routing afresh ---- */

static int grow(void *context, uint32_t destination, uint8_t *tree, struct hd_error *err)
{
	struct job *job = context;

	(void)err; /* switches that are not connected to it keep no entry */
	turn_trees_grow(&job->trees, job->list.items[destination].sw, false,
			!is_to_host(job, destination), tree);
	return 0;
}

static int route_fresh(struct job *job, unsigned lanes, struct hd_error *err)
{
	const struct turn_rounds rounds = {.request = job->request,
					   .list = &job->list,
					   .trees = &job->trees,
					   .chosen = job->chosen,
					   .grow = grow,
					   .context = job};
	int rc = route_shortest(
	    job, (unsigned)hd_options_get(job->request->options, "passes")->number, err);

	if (!rc)
		rc = choose_sets(job, lanes, err);
	return rc ? rc : turn_rounds_run(&rounds, err);
}

/* ---- tables in place ---- */

static uint8_t *home_of(const struct job *job, uint32_t destination)
{
	return job->home ? job->home + (size_t)destination * job->fabric->switch_count : NULL;
}

/* The next turn of the path that came by *link, which goes one on. False: the path has arrived. */
static bool next_turn(const struct job *job, const uint8_t *tree, uint32_t *link, uint32_t *turn)
{
	const struct hd_fabric *fabric = job->fabric;
	const uint32_t to = fabric->isl_to[*link], out = fabric->isl_base[to] + tree[to];

	if (to == job->trees.destination)
		return false;
	*turn = turns_find(&job->sets.turns, *link, out);
	*link = out;
	return true;
}

/* Notes for each lane the turns of the tree at hand, which is in place. */
static void hold_tree(const struct job *job, uint32_t destination, unsigned lanes, uint16_t *held)
{
	const uint8_t *tree = tree_of(job, destination);

	for (uint32_t i = 1; i < job->trees.reached; i++) {
		const uint32_t sw = job->trees.order[i];
		const unsigned lane =
		    hd_routes_vl(job->request->previous, sw, job->list.items[destination].lid);
		uint32_t link = job->fabric->isl_base[sw] + tree[sw], turn;

		if (!hd_has_hosts(job->fabric, sw) || lane >= lanes)
			continue;
		while (next_turn(job, tree, &link, &turn))
			held[turn] |= (uint16_t)(1u << lane);
	}
}

/* Notes the turns of the tree at hand, to which the tables return. */
static void want_tree(const struct job *job, const uint8_t *tree, uint64_t *wanted)
{
	for (uint32_t i = 1; i < job->trees.reached; i++) {
		const uint32_t sw = job->trees.order[i];
		uint32_t link = job->fabric->isl_base[sw] + tree[sw], turn;

		while (hd_has_hosts(job->fabric, sw) && next_turn(job, tree, &link, &turn))
			wanted[turn]++;
	}
}

/* Finds the turns of all trees that may stay or return. True if there are trees that can do neither. */
static bool find_held(struct job *job, unsigned lanes, const struct turn_sets_held *held)
{
	const uint32_t switches = job->fabric->switch_count;
	bool lost = false;

	for (uint32_t d = 0; d < job->list.count; d++) {
		const uint8_t *tree = tree_of(job, d), *home = home_of(job, d);
		const uint32_t sw = job->list.items[d].sw;

		if (!is_to_host(job, d))
			continue;
		const bool returns = home && turn_trees_follow(&job->trees, sw, home);
		const bool is_home = returns && !memcmp(tree, home, switches);
		if (returns && !is_home)
			want_tree(job, home, held->wanted);
		if (turn_trees_follow(&job->trees, sw, tree))
			hold_tree(job, d, lanes, is_home ? held->home : held->other);
		else
			lost |= !returns;
	}
	return lost;
}

/* Trees that grow again need turns: those of balanced shortest paths. The trees in place are loaded again then. */
static int weigh_shortest(struct job *job, uint64_t *rest, struct hd_error *err)
{
	int rc = route_shortest(job, 1, err);

	if (!rc)
		weigh(job, rest);
	load_trees(job, job->request->previous, job->chosen);
	return rc;
}

/* Whether a tree is whole and its turns are in the sets. */
static bool is_sound(struct job *job, uint32_t destination, const uint8_t *tree)
{
	return turn_trees_follow(&job->trees, job->list.items[destination].sw, tree) &&
	       (!is_to_host(job, destination) || turn_trees_find_lanes(&job->trees, tree));
}

/* Takes the tree of the baseline or, if that cannot be, leaves the one in place. False: neither is sound. */
static bool return_or_stay(struct job *job, uint32_t destination)
{
	const uint8_t *home = home_of(job, destination);

	if (home && is_sound(job, destination, home)) {
		memcpy(tree_of(job, destination), home, job->fabric->switch_count);
		return true;
	}
	return is_sound(job, destination, tree_of(job, destination));
}

/* Trees that have lost a link, or whose turns are in no set, grow again. -ENOSPC: one cannot. */
static int grow_again(struct job *job, struct hd_error *err)
{
	struct turn_trees *trees = &job->trees;
	bool *sound = hd_arena_alloc(&job->arena, job->list.count, sizeof(*sound));

	if (!sound)
		return hd_error_no_memory(err);
	for (uint32_t d = 0; d < job->list.count; d++) {
		sound[d] = return_or_stay(job, d);
		if (sound[d])
			turn_trees_count(trees, tree_of(job, d), 1);
	}
	for (uint32_t d = 0; d < job->list.count; d++) {
		if (sound[d])
			continue;
		if (hd_go_on_check(&job->request->go_on, err))
			return -ECANCELED;
		if (!turn_trees_grow(trees, job->list.items[d].sw, true, !is_to_host(job, d),
				     tree_of(job, d)))
			return hd_error_set(err, -ENOSPC, "no path without a credit loop is left");
		turn_trees_count(trees, tree_of(job, d), 1);
	}
	return 0;
}

/* Lanes that the tables in place use. */
static unsigned count_lanes(const struct job *job)
{
	const uint16_t lanes = hd_routes_lanes(job->fabric, job->request->previous);

	return lanes ? 32 - (unsigned)__builtin_clz(lanes) : 1;
}

static int route_again(struct job *job, unsigned most, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	const uint32_t turns = job->sets.turns.count;
	const unsigned before = count_lanes(job), lanes = before < most ? before : most;
	const struct turn_sets_held held = {
	    .home = hd_arena_alloc(&job->arena, turns, sizeof(*held.home)),
	    .wanted = hd_arena_alloc(&job->arena, turns, sizeof(*held.wanted)),
	    .other = hd_arena_alloc(&job->arena, turns, sizeof(*held.other)),
	    .rest = hd_arena_alloc(&job->arena, turns, sizeof(*held.rest))};

	if (request->baseline)
		job->home = hd_arena_alloc(&job->arena, job->list.count, job->fabric->switch_count);
	if (hd_arena_check(&job->arena))
		return hd_error_no_memory(err);
	load_trees(job, request->previous, job->chosen);
	if (job->home)
		load_trees(job, request->baseline, job->home);
	int rc = find_held(job, lanes, &held) ? weigh_shortest(job, held.rest, err) : 0;

	if (rc)
		return rc;
	rc = hd_go_on_explain(
	    turn_sets_keep(&job->sets, &held, lanes, most, &request->go_on, &job->arena), err);
	return rc ? rc : grow_again(job, err);
}

/* ---- tables out ---- */

/* One of the lanes of a path: that of the tables in place, or the nth of them, or the first. */
static uint8_t choose_lane(const struct job *job, uint16_t lanes, uint32_t sw, uint32_t lid)
{
	const struct hd_routes *previous = job->request->previous;
	const unsigned before = previous ? hd_routes_vl(previous, sw, lid) : HD_LANES_MAX;
	const bool needed =
	    hd_options_get(job->request->options, "spread")->number == HD_SPREAD_NEEDED;

	if (before < HD_LANES_MAX && lanes >> before & 1)
		return (uint8_t)before;
	return turn_rounds_choose(lanes, needed ? 0 : sw + lid);
}

/* Gives the paths of a tree their lanes. Returns those that they use. */
static uint16_t write_tree(struct job *job, uint32_t destination, struct hd_routes *routes)
{
	struct turn_trees *trees = &job->trees;
	const uint32_t lid = job->list.items[destination].lid;
	const uint8_t *tree = tree_of(job, destination);
	uint16_t used = 0;

	if (!is_to_host(job, destination) ||
	    !turn_trees_follow(trees, job->list.items[destination].sw, tree))
		return 0;
	turn_trees_find_lanes(trees, tree);
	for (uint32_t i = 1; i < trees->reached; i++) {
		const uint32_t sw = trees->order[i];
		if (!trees->lanes[sw] || !hd_has_hosts(job->fabric, sw))
			continue;
		const uint8_t lane = choose_lane(job, trees->lanes[sw], sw, lid);
		routes->sl[(size_t)sw * routes->stride + lid] = lane;
		used |= (uint16_t)(1u << lane);
	}
	return used;
}

/* Service level n is lane n; those above the last lane in use are lane 0. */
static int write_levels(struct job *job, struct hd_routes *routes)
{
	uint16_t used = 0;

	if (job->sets.lane_count < 2)
		return 0;
	routes->sl = calloc(routes->switch_count, routes->stride);
	if (!routes->sl)
		return -ENOMEM;
	for (uint32_t d = 0; d < job->list.count; d++)
		used |= write_tree(job, d, routes);
	for (unsigned lane = 0; used >> lane; lane++)
		routes->sl2vl[lane] = (uint8_t)lane;
	if (used >> 1)
		return 0;
	free(routes->sl);
	routes->sl = NULL;
	return 0;
}

static int write_routes(struct job *job, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes;
	int rc = tree_rows_write(job->request, &job->list, job->chosen, &routes, err);

	if (rc)
		return rc;
	if (write_levels(job, routes)) {
		hd_routes_free(routes);
		return hd_error_no_memory(err);
	}
	*out = routes;
	return 0;
}

/* ---- the engine ---- */

/* Sums of hops from all switches; a switch without hosts is as good a root as others. */
static uint64_t *sum_hops(struct job *job)
{
	const uint32_t switches = job->fabric->switch_count;
	uint64_t *hops = hd_arena_alloc(&job->arena, switches, sizeof(*hops));

	for (uint32_t i = 0; hops && job->paths.by_destination && i < switches; i++)
		for (uint32_t sw = 0; sw < switches; sw++)
			hops[sw] += job->paths.by_destination[(size_t)i * switches + sw];
	return hops;
}

static int prepare(struct job *job, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	const struct hd_fabric *fabric = job->fabric;
	uint32_t *parallel = hd_arena_alloc(&job->arena, fabric->isl_count, sizeof(*parallel));
	int rc = hd_go_on_explain(dag_paths_find(&job->paths, fabric, NULL, request->threads,
						 &request->go_on, &job->arena),
				  err);
	const uint64_t *hops = rc ? NULL : sum_hops(job);

	if (rc)
		return rc;
	if (!parallel || !hops || parallel_links_find(fabric, parallel) ||
	    balance_plan_list(fabric, &job->policy, &job->arena, &job->list) ||
	    turn_sets_begin(&job->sets, fabric, hops, &job->arena) ||
	    turn_trees_begin(&job->trees, &job->sets, parallel, job->policy.uncounted, &job->arena))
		return hd_error_no_memory(err);
	if (!request->previous && !balance_plan_is_ordered(request, &job->policy) &&
	    balance_plan_turns(fabric, &job->arena, &job->list))
		return hd_error_no_memory(err);
	job->flows = hd_arena_alloc(&job->arena, fabric->switch_count, sizeof(*job->flows));
	job->chosen = hd_arena_alloc(&job->arena, job->list.count, fabric->switch_count);
	return hd_arena_check(&job->arena) ? hd_error_no_memory(err) : 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct job job = {.request = request, .fabric = request->fabric};
	const unsigned lanes = engine_options_lanes(request);
	int rc = resolved_policy_make(request, &job.policy, err);

	if (rc)
		return rc;
	rc = prepare(&job, err);
	if (!rc)
		rc = request->previous ? route_again(&job, lanes, err)
				       : route_fresh(&job, lanes, err);
	if (!rc)
		rc = write_routes(&job, out, err);
	hd_arena_release(&job.arena);
	resolved_policy_release(&job.policy);
	return rc;
}

const struct hd_engine hd_engine_turns = {
    .name = "turns",
    .summary = "short paths on any fabric, with the lanes that there are",
    .description = "Paths that are shortest wherever the virtual lanes allow it, one lane "
		   "included. Each lane has a set of turns from link to link without a cycle, and "
		   "paths grow by these.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .own_lanes = true,
    .keeps_entries = true,
    .route = route,
};
