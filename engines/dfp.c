/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dfp: minimal paths of a Dragonfly+. A path climbs to a spine, crosses at most one link to another
 * island, and descends. Adaptive routing of the kind DFP stands on these tables.
 *
 * The channels of minimal paths have an order: links that climb, links between islands, links that
 * descend. So one lane is enough on an intact fabric. Where cables are missing, a path may have to
 * descend, climb again by another spine and cross once more. Packets stay on one lane for their
 * whole path in these tables, so hd_lanes_assign() gives lanes to paths with such a turn.
 *
 * A link between islands is taken only to a spine that descends from there: two such links one
 * after the other have no order among the islands.
 */
#include "all_engines.h"
#include "balance.h"
#include "engine_options.h"

#include <errno.h>
#include <heddle/fabric/dragonfly_plus.h>

static const struct hd_option options[] = {
    {.name = "passes",
     .summary = "most rounds of balancing over all destinations",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = 16},
    BALANCE_OPTION_REBALANCE,
    LANE_OPTIONS,
};

struct islands {
	const struct hd_fabric *fabric;
	bool found; /* else all paths are shortest ones */
	struct hd_dragonfly_plus shape;
	struct dag_paths shortest; /* if no islands were found */
	struct hd_arena arena;
};

/* Whether a packet at the near end may take the link, in the direction of a switch whose path is
 * known. goes_down[] is 1 for a spine that descends next, and for the destination. */
static bool may_take(const struct islands *islands, const struct dag *dag, uint32_t from,
		     uint32_t to)
{
	const bool *is_spine = islands->shape.is_spine;

	return !is_spine[from] || !is_spine[to] || dag->goes_down[to];
}

static bool descends(const struct islands *islands, uint32_t from, uint32_t to)
{
	return islands->shape.is_spine[from] && !islands->shape.is_spine[to];
}

static void start(struct dag *dag, const struct hd_fabric *fabric, uint32_t destination)
{
	memset(dag->distance, 0xFF, fabric->switch_count * sizeof(*dag->distance));
	memset(dag->is_candidate, 0, fabric->isl_count);
	memset(dag->goes_down, 0, fabric->switch_count);
	memset(dag->count, 0, fabric->switch_count);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		dag->targets[sw] = DAG_TARGETS_NONE;
	dag->destination = destination;
	dag->by_cost = false;
	dag->row = NULL;
	dag->distance[destination] = 0;
	dag->goes_down[destination] = 1;
	dag->order[0] = destination;
	dag->reached = dag->level_count = 1;
	dag->level_begin[0] = 0;
	dag->level_begin[1] = 1;
}

/* Reaches the switches one hop before a level: by descending links, or by all others. */
static void reach(const struct islands *islands, struct dag *dag, uint32_t level, bool descending)
{
	const struct hd_fabric *fabric = islands->fabric;

	for (uint32_t i = dag->level_begin[level]; i < dag->level_begin[level + 1]; i++) {
		uint32_t to = dag->order[i];
		for (uint32_t link = fabric->isl_base[to]; link < fabric->isl_base[to + 1];
		     link++) {
			uint32_t from = fabric->isl_to[link];
			if (dag->distance[from] != DAG_UNREACHED ||
			    descends(islands, from, to) != descending ||
			    !may_take(islands, dag, from, to))
				continue;
			dag->goes_down[from] = descending;
			dag->distance[from] = level + 1;
			dag->order[dag->reached++] = from;
		}
	}
}

static void list_candidates(const struct islands *islands, struct dag *dag, uint32_t sw)
{
	const struct hd_fabric *fabric = islands->fabric;
	uint32_t base = fabric->isl_base[sw];

	for (uint32_t link = base; link < fabric->isl_base[sw + 1]; link++) {
		uint32_t to = fabric->isl_to[link];
		if (dag->distance[to] + 1 != dag->distance[sw] ||
		    descends(islands, sw, to) != dag->goes_down[sw] ||
		    !may_take(islands, dag, sw, to))
			continue;
		dag->number[base + dag->count[sw]++] = (uint8_t)(link - base);
		dag->is_candidate[link] = 1;
		dag->targets[sw] = dag_targets_add(dag->targets[sw], to);
	}
}

static void build_minimal(const struct islands *islands, struct dag *dag, uint32_t destination)
{
	start(dag, islands->fabric, destination);
	for (uint32_t level = 0;; level++) {
		reach(islands, dag, level, true);
		reach(islands, dag, level, false);
		if (dag->level_begin[level + 1] == dag->reached)
			break;
		dag->level_begin[++dag->level_count] = dag->reached;
	}
	for (uint32_t i = 1; i < dag->reached; i++)
		list_candidates(islands, dag, dag->order[i]);
	dag->legal = dag->reached;
	dag_extend(dag, islands->fabric, islands->fabric->switch_count, true);
}

static int build(void *context, const struct balance_destination *destination, struct dag *dag,
		 struct hd_error *err)
{
	const struct islands *islands = context;

	(void)err;
	if (islands->found)
		build_minimal(islands, dag, destination->sw);
	else
		dag_build(dag, &islands->shortest, destination->sw);
	return 0;
}

static int find_islands(const struct hd_route_request *request, struct islands *islands,
			struct hd_error *err)
{
	struct hd_error reason = {""};
	int rc = hd_dragonfly_plus_find(request->fabric, &islands->arena, &islands->shape, &reason);

	islands->found = !rc;
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (!rc)
		return 0;
	hd_log(request->log, HD_LOG_WARNING, "dfp: %s; all paths are shortest paths", reason.text);
	rc = dag_paths_find(&islands->shortest, request->fabric, NULL, request->threads,
			    &request->go_on, &islands->arena);
	return rc ? hd_error_no_memory(err) : 0;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct islands islands = {.fabric = request->fabric};
	struct resolved_policy policy;
	int rc = resolved_policy_make(request, &policy, err);

	if (rc)
		return rc;
	struct balance_plan plan = {
	    .request = request,
	    .policy = &policy,
	    .passes = (unsigned)hd_options_get(request->options, "passes")->number,
	    .build = build,
	    .context = &islands,
	};
	rc = find_islands(request, &islands, err);
	if (!islands.found)
		plan.paths = &islands.shortest;
	if (!rc)
		rc = balance_route(&plan, out, err);
	hd_arena_release(&islands.arena);
	resolved_policy_release(&policy);
	return rc;
}

const struct hd_engine hd_engine_dfp = {
    .name = "dfp",
    .summary = "minimal paths of a Dragonfly+: climb, cross to another island, descend",
    .description =
	"A path climbs to a spine, crosses at most one link to another island, and descends; an "
	"intact Dragonfly+ needs one lane. Where cables are missing, a path may descend and climb "
	"again, on another lane if necessary. On any other fabric all paths are shortest paths. "
	"Adaptive routing of the kind DFP stands on these tables.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .route = route,
};
