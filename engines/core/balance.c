/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "balance.h"
#include "balance_growth.h"
#include "balance_plan.h"
#include "balance_tree.h"
#include "tree_rows.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what a choice is worth ---- */

/* How good the loads of the trees are that were chosen so far. */

#define NEARLY_EVEN 1.01 /* mean of squared loads over the square of their mean */

/* Source hosts over the most loaded link. Cost: O(links). */
static uint32_t balance_largest_load(const struct balance_trees *trees)
{
	uint32_t largest = 0;

	for (uint32_t link = 0; link < trees->fabric->isl_count; link++)
		if (trees->load[link] > largest)
			largest = trees->load[link];
	return largest;
}

/*
 * The hosts of a switch send over its links to all destinations elsewhere, and the hosts elsewhere
 * send to its destinations. So at least one of its links has the mean of that.
 */
static uint32_t least_largest_load(const struct balance_trees *trees,
				   const struct destinations *list, uint32_t count)
{
	const struct hd_fabric *fabric = trees->fabric;
	uint32_t *arriving = trees->weight, least = 0;

	memset(arriving, 0, fabric->switch_count * sizeof(*arriving));
	for (uint32_t d = 0; d < count; d++)
		arriving[list->items[d].sw]++;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint64_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint64_t hosts = trees->host_load[sw], own = arriving[sw];
		uint64_t out = hosts * (count - own), in = own * (fabric->host_count - hosts);
		uint64_t most = out > in ? out : in;
		if (links && (most + links - 1) / links > least)
			least = (uint32_t)((most + links - 1) / links);
	}
	return least;
}

static bool nearly_even(const struct balance_trees *trees)
{
	double sum = 0, squares = 0, links = trees->fabric->isl_count;

	for (uint32_t link = 0; link < trees->fabric->isl_count; link++) {
		double load = trees->load[link];
		sum += load;
		squares += load * load;
	}
	return squares * links <= sum * sum * NEARLY_EVEN;
}

/*
 * True when the trees of the first `count` destinations cannot get better by much: no other trees
 * have a lower largest load, and the loads of all links are nearly even. Overwrites trees->weight.
 * Cost: O(links + count).
 */
/* Between components of the fabric there are no paths, and the bound is too high. At worst that
 * saves a pass that would have lowered the loads a little. */
static bool balance_is_ideal(struct balance_trees *trees, const struct destinations *list,
			     uint32_t count)
{
	return !trees->uncounted && nearly_even(trees) &&
	       balance_largest_load(trees) <= least_largest_load(trees, list, count);
}

/* ---- the balance ---- */

#define PARTS 2u
#define PARTS_LEAST 4096u /* LIDs of hosts, with one for each host */
#define STEPS 32u /* of a pass */

struct balance {
	const struct balance_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct destinations list;
	struct balance_part *parts;
	unsigned part_count;
	bool by_conflicts;
	uint32_t *load; /* [isl_count] of the trees of all parts, before the step at hand */
	uint8_t *chosen; /* [list.count * switch_count] */
	struct balance_siblings siblings;
};

static uint8_t *tree_of(const struct balance *balance, uint32_t destination)
{
	return balance->chosen + (size_t)destination * balance->fabric->switch_count;
}

/* ---- all destinations afresh ---- */

/* After each step the parts merge their loads. */
static uint32_t count_steps(const struct balance *balance)
{
	return balance->part_count > 1 ? STEPS : 1;
}

/* A step of a pass: each part routes a run of its destinations in a layer. */
struct step {
	struct balance *balance;
	uint32_t layer, number;
	bool first; /* pass */
};

static void route_step(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct step *step = context;
	const struct balance *balance = step->balance;
	uint32_t steps = count_steps(balance);

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct balance_part *part = &balance->parts[i];
		balance_part_route(part, balance_part_cut(part, step->layer, step->number, steps),
				   balance_part_cut(part, step->layer, step->number + 1, steps),
				   step->first);
	}
}

/* The error is that of the first part that has one. */
static int run_step(struct balance *balance, struct step *step, struct hd_error *err)
{
	hd_parallel_for(balance->plan->request->threads, balance->part_count, 1, route_step, step);
	for (unsigned i = 0; i < balance->part_count; i++) {
		const struct balance_part *part = &balance->parts[i];
		if (part->rc && err)
			*err = part->err;
		if (part->rc)
			return part->rc;
	}
	balance_parts_merge(balance->parts, balance->part_count, balance->load);
	return 0;
}

/* Routes the destinations of a layer. *changed: not all of them as before. */
static int pass_fresh(struct balance *balance, uint32_t layer, bool first, bool *changed,
		      struct hd_error *err)
{
	struct step step = {.balance = balance, .layer = layer, .first = first};
	int rc = 0;

	*changed = first;
	for (unsigned i = 0; i < balance->part_count; i++) {
		balance->parts[i].changed = false;
		if (first)
			balance_trees_begin(&balance->parts[i].trees);
	}
	for (; !rc && step.number < count_steps(balance); step.number++)
		rc = run_step(balance, &step, err);
	for (unsigned i = 0; i < balance->part_count; i++)
		*changed |= balance->parts[i].changed;
	return rc;
}

/* Passes over the hosts of one LID offset, until one more would change nothing or gain little. What it costs to keep the
 * paths to siblings apart is evened out by passes that do not lower the largest load at first. */
static int route_layer(struct balance *balance, uint32_t layer, struct hd_error *err)
{
	uint32_t largest = UINT32_MAX, end = balance->list.layer_begin[layer + 1];
	struct balance_trees *trees = &balance->parts->trees;
	bool worth = true;
	int rc = 0;

	for (unsigned pass = 0; !rc && worth && pass < balance->plan->passes; pass++) {
		uint32_t before = largest;
		rc = pass_fresh(balance, layer, pass == 0, &worth, err);
		largest = balance_largest_load(trees);
		worth =
		    worth &&
		    (balance->by_conflicts ||
		     ((!balance->plan->until_flat || balance->siblings.lid || largest < before) &&
		      !balance_is_ideal(trees, &balance->list, end)));
	}
	return rc;
}

/* The LIDs of switches carry little and come last, in one pass. */
static int route_fresh(struct balance *balance, struct hd_error *err)
{
	uint32_t last = balance->list.layer_count - 1;
	bool changed;
	int rc = 0;

	for (uint32_t layer = 0; !rc && layer < last; layer++)
		rc = route_layer(balance, layer, err);
	if (balance->plan->max_load)
		*balance->plan->max_load = balance_largest_load(&balance->parts->trees);
	if (!rc)
		rc = pass_fresh(balance, last, true, &changed, err);
	return rc;
}

/* ---- tables in place, tree by tree ---- */

/* An entry that cannot return to its baseline stays as it is in the switch, if that is valid. */
static void leave_baseline(const struct balance *balance, uint32_t lid, uint8_t *tree, uint32_t sw)
{
	const struct hd_route_request *request = balance->plan->request;
	const struct hd_fabric *fabric = balance->fabric;
	uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(request->previous, sw, lid));

	if (request->baseline && link != HD_NONE && balance->parts->dag.is_candidate[link])
		tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
}

/* Removes the entries of switches without a path. True when all others are valid. */
static bool tree_is_valid(const struct balance *balance, uint32_t lid, uint8_t *tree)
{
	const struct dag *dag = &balance->parts->dag;
	bool all = true;

	for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++)
		if (dag->distance[sw] == DAG_UNREACHED)
			tree[sw] = LINK_NUMBER_NONE;
	for (uint32_t i = 1; i < dag->reached; i++) {
		uint32_t sw = dag->order[i];
		if (!balance_tree_allows(dag, balance->fabric, tree, sw))
			leave_baseline(balance, lid, tree, sw);
		all &= balance_tree_allows(dag, balance->fabric, tree, sw);
	}
	return all;
}

/* Valid trees are counted first, so that the others are routed against their loads. */
static int route_again(struct balance *balance, struct hd_error *err)
{
	struct balance_part *part = balance->parts; /* there is one */
	uint32_t count = balance->list.count;
	bool *valid = hd_arena_alloc(&balance->arena, count, sizeof(*valid));

	if (!valid)
		return hd_error_no_memory(err);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t d = 0; d < count; d++) {
			uint8_t *tree = tree_of(balance, d);
			if (pass && valid[d])
				continue;
			int rc = balance_part_build(part, d, err);
			if (rc)
				return rc;
			if (!pass)
				valid[d] = tree_is_valid(balance, balance->list.items[d].lid, tree);
			else
				balance_part_choose(part, d, true);
			if (pass || valid[d])
				balance_part_settle(part, d);
		}
	}
	return 0;
}

/* ---- the parts ---- */

/* Few destinations are not worth it, and build() may want to know the trees before. A tree looks at that of its
 * sibling, which must be in the same part: all LIDs of a switch are. */
static unsigned count_parts(const struct balance *balance)
{
	const struct balance_plan *plan = balance->plan;

	if (plan->request->previous || plan->routed || balance->siblings.apart ||
	    balance_plan_is_ordered(plan->request, plan->policy) || balance->by_conflicts ||
	    balance->list.layer_begin[1] < PARTS_LEAST ||
	    balance_plan_hosts_everywhere(balance->fabric))
		return 1;
	return PARTS;
}

static bool take_conflicts(const struct balance *balance)
{
	const enum balance_by by = balance->plan->by;

	return by == BALANCE_BY_CONFLICTS || by == BALANCE_BY_DIMENSIONS ||
	       (by == BALANCE_BY_AUTO && balance_plan_hosts_everywhere(balance->fabric));
}

static int allocate(struct balance *balance)
{
	uint32_t switches = balance->fabric->switch_count;
	struct hd_arena *arena = &balance->arena;

	balance->by_conflicts = take_conflicts(balance);
	if (balance->by_conflicts && !balance->plan->request->previous &&
	    !balance_plan_is_ordered(balance->plan->request, balance->plan->policy) &&
	    balance_plan_turns(balance->fabric, arena, &balance->list))
		return -ENOMEM;
	balance->chosen = hd_arena_alloc(arena, balance->list.count, switches);
	if (balance_siblings_find(balance->fabric, &balance->list, balance->chosen, arena,
				  &balance->siblings))
		return -ENOMEM;
	balance->part_count = count_parts(balance);
	balance->parts = hd_arena_alloc(arena, balance->part_count, sizeof(*balance->parts));
	balance->load = hd_arena_alloc(arena, balance->fabric->isl_count, sizeof(*balance->load));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (unsigned i = 0; i < balance->part_count; i++)
		if (balance_part_allocate(&balance->parts[i], balance->plan, balance->by_conflicts,
					  balance->chosen, &balance->siblings, arena))
			return -ENOMEM;
	return balance_parts_list(balance->parts, balance->part_count, &balance->list, arena);
}

static int route_all(struct balance *balance, struct hd_error *err)
{
	const struct hd_route_request *request = balance->plan->request;

	if (allocate(balance))
		return hd_error_no_memory(err);
	if (request->previous) {
		tree_rows_read(balance->fabric, &balance->list,
			       request->baseline ? request->baseline : request->previous,
			       balance->chosen);
		return route_again(balance, err);
	}
	memset(balance->chosen, LINK_NUMBER_NONE,
	       (size_t)balance->list.count * balance->fabric->switch_count);
	return route_fresh(balance, err);
}

void balance_take_column(struct hd_routes *routes, const struct hd_routes *from, uint32_t lid)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		hd_routes_row(routes, sw)[lid] = hd_routes_port(from, sw, lid);
}

/* The whole of it, tree by tree. */
static int route_trees(struct balance *balance, struct hd_routes **out, struct hd_error *err)
{
	int rc = route_all(balance, err);

	return rc ? rc
		  : tree_rows_write(balance->plan->request, &balance->list, balance->chosen, out,
				    err);
}

int balance_route(const struct balance_plan *plan, struct hd_routes **out, struct hd_error *err)
{
	struct balance balance = {.plan = plan, .fabric = plan->request->fabric};
	struct hd_routes *routes = NULL;
	int rc = balance_plan_list(balance.fabric, plan->policy, &balance.arena, &balance.list)
		     ? hd_error_no_memory(err)
		     : 0;

	if (!rc && plan->request->previous && plan->paths && plan->paths->by_switch)
		rc = balance_repair(plan, &balance.list, &routes, err);
	if (!rc && !routes)
		rc = route_trees(&balance, &routes, err);
	if (!rc && plan->request->baseline && plan->paths && plan->paths->by_destination &&
	    plan->by != BALANCE_BY_DIMENSIONS)
		rc = balance_growth(plan, &balance.list, routes, err);
	if (rc) {
		hd_routes_free(routes);
	} else {
		*out = routes;
	}
	hd_arena_release(&balance.arena);
	return rc;
}
