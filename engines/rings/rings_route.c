/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rings: paths on tori and meshes, also such with holes, on two virtual lanes at any length of the rings. The places of the
 * switches are found by the cables (rings_shape.h). Packets go through the dimensions in their order, and each service
 * level has turns by which no credit loop is possible (rings_levels.h). The tree of each destination grows by these turns,
 * balanced by conflicts (turn_tree.h). Switches that a hole cuts off from a destination get detours (rings_detour.h).
 *
 * With tables in place, their turns come first, and only trees that have lost a link grow again.
 */
#include "all_engines.h"
#include "conflicts.h"
#include "dag.h"
#include "engine_options.h"
#include "parallel_links.h"
#include "rings_detour.h"
#include "tree_rows.h"
#include "turn_rounds.h"

#include <errno.h>
#include <inttypes.h>
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
	struct destinations list;
	uint8_t *chosen; /* [list.count * switch_count] */
	struct rings_shape shape;
	struct rings_levels levels;
	struct turn_trees trees;
	struct rings_detours detours;
};

static uint8_t *tree_of(const struct job *job, uint32_t destination)
{
	return job->chosen + (size_t)destination * job->fabric->switch_count;
}

static bool is_to_host(const struct job *job, uint32_t destination)
{
	return job->list.items[destination].host != HD_NONE;
}

/* ---- trees ---- */

static int no_path(const struct job *job, struct hd_error *err)
{
	return hd_error_set(
	    err, -ENOTSUP,
	    "%" PRIu32 " switches and %" PRIu32
	    " cables are missing in the torus or mesh, and no paths around them are "
	    "free of credit loops on two virtual lanes",
	    job->shape.switches_missing, job->shape.cables_missing);
}

/* By turns in the order of dimensions, then by detours. False: neither will do. */
static bool grow(struct job *job, uint32_t destination, bool keep)
{
	struct rings_levels *levels = &job->levels;
	uint8_t *tree = tree_of(job, destination);
	const uint32_t sw = job->list.items[destination].sw;

	if (!is_to_host(job, destination))
		return turn_trees_grow(&job->trees, sw, keep, true, tree);
	levels->sets.lanes = keep ? levels->all : levels->plain;
	bool all = turn_trees_grow_some(&job->trees, sw, keep, tree);
	levels->sets.lanes = levels->all;
	if (all || rings_detours_find(&job->detours, tree))
		return true;
	return levels->sets.has_tree && turn_trees_grow(&job->trees, sw, keep, false, tree);
}

static int grow_afresh(void *context, uint32_t destination, uint8_t *tree, struct hd_error *err)
{
	struct job *job = context;

	(void)tree; /* grow() finds it by the destination */
	return grow(job, destination, false) ? 0 : no_path(job, err);
}

static int grow_all(struct job *job, struct hd_error *err)
{
	const struct turn_rounds rounds = {.request = job->request,
					   .list = &job->list,
					   .trees = &job->trees,
					   .chosen = job->chosen,
					   .grow = grow_afresh,
					   .context = job};

	return turn_rounds_run(&rounds, err);
}

/* The order of the dimensions, and how turns beside holes are chosen: where one way ends in a blind alley, another often
 * does not. */
static const struct way {
	uint32_t new_turn_hops;
	bool all_levels, backwards;
} ways[] = {{2, true, false},  {2, true, true},	 {2, false, false}, {2, false, true},
	    {8, false, false}, {8, false, true}, {0, false, false}, {0, false, true}};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Begins with the turns in the order of dimensions. */
static int begin_way(struct job *job, const struct way *way, struct hd_error *err)
{
	const uint32_t links = job->fabric->isl_count;

	job->levels.backwards = way->backwards;
	if (rings_levels_take_plain(&job->levels))
		return hd_error_no_memory(err);
	job->levels.all_levels = way->all_levels;
	job->detours.new_turn_hops = way->new_turn_hops;
	memset(job->trees.load, 0, links * sizeof(*job->trees.load));
	memset(job->trees.own, 0, links * sizeof(*job->trees.own));
	return 0;
}

/* On two lanes, or else with a third one for paths in a spanning tree. */
static int route_fresh(struct job *job, struct hd_error *err)
{
	const bool third = engine_options_lanes(job->request) > RINGS_LANES;
	int rc = -ENOTSUP;

	for (size_t i = 0; i < WAYS && rc == -ENOTSUP; i++) {
		rc = begin_way(job, &ways[i], err);
		if (!rc)
			rc = grow_all(job, err);
	}
	if (rc != -ENOTSUP || !third)
		return rc;
	int again = begin_way(job, &ways[0], err);
	if (again || !rings_levels_add_tree(&job->levels))
		return again ? again : rc;
	hd_log(job->request->log, HD_LOG_INFO,
	       "some paths around what is missing need a third virtual lane");
	return grow_all(job, err);
}

/* ---- tables in place ---- */

/* Takes the turns of paths in place that are not in the order of dimensions. */
static void take_held(struct job *job, uint32_t destination)
{
	const struct hd_routes *previous = job->request->previous;
	const struct hd_fabric *fabric = job->fabric;
	const uint8_t *tree = tree_of(job, destination);
	const uint32_t to = job->list.items[destination].sw;

	if (!is_to_host(job, destination) || !turn_trees_follow(&job->trees, to, tree))
		return;
	for (uint32_t i = 1; i < job->trees.reached; i++) {
		const uint32_t sw = job->trees.order[i];
		const unsigned level = hd_routes_sl(previous, sw, job->list.items[destination].lid);
		uint32_t link = fabric->isl_base[sw] + tree[sw];

		while (hd_has_hosts(fabric, sw) && fabric->isl_to[link] != to) {
			const uint32_t at = fabric->isl_to[link];
			const uint32_t out = fabric->isl_base[at] + tree[at];
			rings_levels_take(&job->levels, link, out, (uint16_t)(1u << level));
			link = out;
		}
	}
}

/* Whether the tree at hand leads to its destination from everywhere, and each path has a level. */
static bool is_sound(struct job *job, uint32_t destination)
{
	const uint8_t *tree = tree_of(job, destination);

	return turn_trees_follow(&job->trees, job->list.items[destination].sw, tree) &&
	       (!is_to_host(job, destination) || turn_trees_find_lanes(&job->trees, tree));
}

/* Tables in place, and those of the last routing afresh. */
struct earlier {
	uint8_t *in_place; /* as job.chosen */
	uint8_t *home; /* NULL: there are none */
	bool *sound; /* [list.count] trees that stay */
	uint32_t count; /* of them */
};

/* Each tree is that of the baseline if that is sound, else the one in place. */
static void choose_trees(struct job *job, struct earlier *earlier)
{
	const uint32_t switches = job->fabric->switch_count;

	earlier->count = 0;
	for (uint32_t d = 0; d < job->list.count; d++) {
		const size_t row = (size_t)d * switches;

		if (earlier->home)
			memcpy(tree_of(job, d), earlier->home + row, switches);
		earlier->sound[d] = earlier->home && is_sound(job, d);
		if (!earlier->sound[d]) {
			memcpy(tree_of(job, d), earlier->in_place + row, switches);
			earlier->sound[d] = is_sound(job, d);
		}
		earlier->count += earlier->sound[d];
		if (earlier->sound[d])
			turn_trees_count(&job->trees, tree_of(job, d), 1);
	}
}

/* Whether the tables in place have paths on the level that has the turns of a spanning tree: it has a lane of its own. */
static bool has_tree_level(const struct job *job)
{
	const struct hd_routes *previous = job->request->previous;
	const size_t size = (size_t)previous->switch_count * previous->stride;
	const unsigned level = 1u << job->levels.bits;

	if (!previous->sl || !previous->maps || level >= RINGS_LEVELS ||
	    engine_options_lanes(job->request) <= RINGS_LANES)
		return false;
	return hd_lane_maps_lanes(previous->maps, (uint16_t)(1u << level)) >> RINGS_LANES & 1 &&
	       memchr(previous->sl, (int)level, size);
}

/* Takes the turns in the order of dimensions and those of the tables in place. */
static int begin_again(struct job *job, struct earlier *earlier, const struct way *way,
		       struct hd_error *err)
{
	const size_t size = (size_t)job->list.count * job->fabric->switch_count;
	int rc = begin_way(job, way, err);

	if (rc)
		return rc;
	job->levels.sets.has_tree = false;
	job->levels.sets.lane_count = 1u << job->levels.bits;
	if (has_tree_level(job))
		rings_levels_add_tree(&job->levels);
	job->levels.sets.lanes = job->levels.all;
	memcpy(job->chosen, earlier->in_place, size);
	for (uint32_t d = 0; d < job->list.count; d++)
		take_held(job, d);
	choose_trees(job, earlier);
	return 0;
}

/* Trees that have lost a link, or whose turns close a cycle, grow again. -ENOSPC: one cannot. */
static int grow_again(struct job *job, const bool *sound, struct hd_error *err)
{
	for (uint32_t d = 0; d < job->list.count; d++) {
		if (sound[d])
			continue;
		if (hd_go_on_check(&job->request->go_on, err))
			return -ECANCELED;
		if (!grow(job, d, true))
			return hd_error_set(err, -ENOSPC, "no path without a credit loop is left");
		turn_trees_count(&job->trees, tree_of(job, d), 1);
	}
	return 0;
}

static int load_earlier(struct job *job, struct earlier *earlier)
{
	const struct hd_route_request *request = job->request;
	const uint32_t count = job->list.count, switches = job->fabric->switch_count;

	*earlier = (struct earlier){.count = 0};
	earlier->sound = hd_arena_alloc(&job->arena, count, sizeof(*earlier->sound));
	earlier->in_place = hd_arena_alloc(&job->arena, count, switches);
	if (request->baseline)
		earlier->home = hd_arena_alloc(&job->arena, count, switches);
	if (hd_arena_check(&job->arena))
		return -ENOMEM;
	tree_rows_read(job->fabric, &job->list, request->previous, earlier->in_place);
	if (request->baseline)
		tree_rows_read(job->fabric, &job->list, request->baseline, earlier->home);
	return 0;
}

/* By the order of dimensions by which more trees stay. */
static int route_again(struct job *job, struct hd_error *err)
{
	struct earlier earlier;
	int rc = load_earlier(job, &earlier) ? hd_error_no_memory(err) : 0;

	if (!rc)
		rc = begin_again(job, &earlier, &ways[0], err);
	const uint32_t forwards = earlier.count;
	if (!rc && forwards < job->list.count)
		rc = begin_again(job, &earlier, &ways[1], err);
	if (!rc && earlier.count < forwards)
		rc = begin_again(job, &earlier, &ways[0], err);
	return rc ? rc : grow_again(job, earlier.sound, err);
}

/* ---- tables out ---- */

/* One of the levels of a path: that of the tables in place, or the nth of them, or the first. */
static uint8_t choose_level(const struct job *job, uint16_t levels, uint32_t sw, uint32_t lid)
{
	const struct hd_routes *previous = job->request->previous;
	const bool needed =
	    hd_options_get(job->request->options, "spread")->number == HD_SPREAD_NEEDED;

	if (previous && levels >> hd_routes_sl(previous, sw, lid) & 1)
		return hd_routes_sl(previous, sw, lid);
	return turn_rounds_choose(levels, needed ? 0 : sw + lid);
}

/* Gives the paths of a tree their levels. */
static void write_tree(struct job *job, uint32_t destination, struct hd_routes *routes)
{
	struct turn_trees *trees = &job->trees;
	const uint32_t lid = job->list.items[destination].lid;
	const uint8_t *tree = tree_of(job, destination);

	if (!is_to_host(job, destination) ||
	    !turn_trees_follow(trees, job->list.items[destination].sw, tree))
		return;
	turn_trees_find_lanes(trees, tree);
	for (uint32_t i = 1; i < trees->reached; i++) {
		const uint32_t sw = trees->order[i];
		if (trees->lanes[sw] && hd_has_hosts(job->fabric, sw))
			routes->sl[(size_t)sw * routes->stride + lid] =
			    choose_level(job, trees->lanes[sw], sw, lid);
	}
}

/* The lane of each level on the links of each dimension, whatever the port by which packets come. */
static int write_maps(const struct job *job, struct hd_routes *routes)
{
	const struct hd_fabric *fabric = job->fabric;
	uint8_t lanes[HD_LANE_LEVELS];
	uint16_t number;

	for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
		routes->sl2vl[level] = level % RINGS_LANES;
	routes->maps = hd_lane_maps_new(fabric, routes->sl2vl);
	if (!routes->maps)
		return -ENOMEM;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t sw = hd_isl_from(fabric, link);
		for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
			lanes[level] = (uint8_t)rings_levels_lane(&job->levels, level, link);
		if (hd_lane_maps_number(routes->maps, lanes, &number))
			return -ENOMEM;
		for (uint32_t in = 0; in < routes->maps->ports[sw]; in++)
			routes->maps->map[hd_lane_maps_place(routes->maps, sw, in,
							     fabric->isl_port[link])] = number;
	}
	return 0;
}

static int write_levels(struct job *job, struct hd_routes *routes)
{
	if (!job->levels.bits && !job->levels.sets.has_tree)
		return 0;
	routes->sl = calloc(routes->switch_count, routes->stride);
	if (!routes->sl)
		return -ENOMEM;
	job->levels.sets.lanes = job->levels.all;
	for (uint32_t d = 0; d < job->list.count; d++)
		write_tree(job, d, routes);
	return write_maps(job, routes);
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

/* Sums of hops, for the roots of trees of which this engine uses none. */
static uint64_t *no_hops(struct job *job)
{
	return hd_arena_alloc(&job->arena, job->fabric->switch_count, sizeof(uint64_t));
}

static int prepare(struct job *job, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	const struct hd_fabric *fabric = job->fabric;
	uint32_t *parallel = hd_arena_alloc(&job->arena, fabric->isl_count + 1u, sizeof(*parallel));
	const uint64_t *hops = no_hops(job);

	if (!parallel || !hops)
		return hd_error_no_memory(err);
	if (fabric->aside_count)
		return hd_error_set(err, -ENOTSUP, "there are no paths to aggregation nodes");
	int rc = rings_shape_find(fabric, &job->arena, &job->shape, err);
	if (!rc)
		rc = rings_levels_begin(&job->levels, &job->shape, engine_options_lanes(request),
					hops, &job->arena, err);
	if (rc)
		return rc;
	if (parallel_links_find(fabric, parallel) ||
	    balance_plan_list(fabric, &job->policy, &job->arena, &job->list) ||
	    turn_trees_begin(&job->trees, &job->levels.sets, parallel, job->policy.uncounted,
			     &job->arena) ||
	    rings_detours_begin(&job->detours, &job->levels, &job->trees, &job->arena))
		return hd_error_no_memory(err);
	if (!request->previous && !balance_plan_is_ordered(request, &job->policy) &&
	    balance_plan_turns(fabric, &job->arena, &job->list))
		return hd_error_no_memory(err);
	job->chosen = hd_arena_alloc(&job->arena, job->list.count, fabric->switch_count);
	return hd_arena_check(&job->arena) ? hd_error_no_memory(err) : 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct job job = {.request = request, .fabric = request->fabric};
	int rc = resolved_policy_make(request, &job.policy, err);

	if (rc)
		return rc;
	rc = prepare(&job, err);
	if (!rc)
		rc = request->previous ? route_again(&job, err) : route_fresh(&job, err);
	if (!rc)
		rc = write_routes(&job, out, err);
	hd_arena_release(&job.arena);
	resolved_policy_release(&job.policy);
	return rc;
}

const struct hd_engine hd_engine_rings = {
    .name = "rings",
    .summary = "through the dimensions of a torus or mesh, and around holes",
    .description =
	"Paths through the dimensions of a torus or mesh in their order, balanced by "
	"conflicts. In each dimension a bit of the service level is the virtual lane, by "
	"SL2VL tables of the output port. The engine finds the dimensions by the cables; "
	"paths go around cables and switches that are missing. It refuses other fabrics.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .needs_grid = true,
    .own_lanes = true,
    .route = route,
};
