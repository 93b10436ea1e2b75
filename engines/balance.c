/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While they are balanced, trees are kept by destination: row d has for each switch the number of
 * the chosen link among its own, LINK_NUMBER_NONE = none. So a destination's tree is a run of bytes
 * and not one byte in every table. At the end the rows are transposed into tables.
 */
#include "balance.h"
#include "destinations.h"
#include "link_number.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK 64u /* destinations transposed together: a cache line of an LFT row */

struct balance {
	const struct balance_plan *plan;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct destinations list;
	struct dag dag;
	bool dag_to_host; /* the DAG was built for a host's LID, not for a switch's */
	uint8_t *trees; /* [list.count * switch_count] */
	uint32_t *load; /* [isl_count] source hosts over the link */
	uint32_t *host_load; /* [switch_count] hosts on a switch */
	uint32_t *weight; /* [switch_count] hosts at or behind it, of the tree at hand */
	uint32_t *rank; /* [switch_count] order of cost sequences within a level */
	struct ranked *ranked; /* [switch_count] the level being ranked */
	struct ranked *sorted; /* [switch_count] the same by rank */
	uint32_t *tied; /* [256] see list_tied() */
	uint32_t *bucket; /* [switch_count + 2] */
};

/* A switch of the level being closed: the rank of its next hop, and the link it takes. */
struct ranked {
	uint32_t sw, parent_rank, load;
};

static uint8_t *tree_of(const struct balance *balance, uint32_t destination)
{
	return balance->trees + (size_t)destination * balance->fabric->switch_count;
}

/* ---- loads ---- */

/* Adds (or, with sign -1, takes out) a tree's source hosts to the links it uses. */
static void count_tree(struct balance *balance, const uint8_t *tree, uint32_t sign)
{
	const struct hd_fabric *fabric = balance->fabric;
	const struct dag *dag = &balance->dag;
	const bool *uncounted = balance->plan->policy->uncounted;

	for (uint32_t i = 0; i < dag->reached; i++)
		balance->weight[dag->order[i]] = balance->host_load[dag->order[i]];
	for (uint32_t i = dag->reached; i-- > 1;) {
		uint32_t sw = dag->order[i], link = fabric->isl_base[sw] + tree[sw];
		uint32_t weight = balance->weight[sw];
		balance->weight[fabric->isl_to[link]] += weight;
		if (!uncounted || !uncounted[link])
			balance->load[link] += sign * weight;
	}
}

/* ---- ranks ---- */

/* One stable pass of a radix sort, by one byte of the load above `base`. */
static void sort_by_byte(const struct ranked *from, struct ranked *to, uint32_t count,
			 uint32_t base, unsigned shift)
{
	uint32_t place[257] = {0};

	for (uint32_t i = 0; i < count; i++)
		place[((from[i].load - base) >> shift & 0xFF) + 1]++;
	for (unsigned byte = 0; byte < 256; byte++)
		place[byte + 1] += place[byte];
	for (uint32_t i = 0; i < count; i++)
		to[place[(from[i].load - base) >> shift & 0xFF]++] = from[i];
}

static void sort_by_load(struct balance *balance, uint32_t count)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t load = balance->ranked[i].load;
		least = load < least ? load : least;
		most = load > most ? load : most;
	}
	for (unsigned shift = 0; shift < 32 && (most - least) >> shift; shift += 8) {
		struct ranked *sorted = balance->sorted;
		sort_by_byte(balance->ranked, sorted, count, least, shift);
		balance->sorted = balance->ranked;
		balance->ranked = sorted;
	}
}

/* Sorts the level's switches by (parent_rank, load) into balance->sorted. */
static void sort_level(struct balance *balance, uint32_t count, uint32_t lowest, uint32_t highest)
{
	uint32_t *bucket = balance->bucket, parents = highest - lowest + 1;

	sort_by_load(balance, count);
	memset(bucket, 0, (parents + 1) * sizeof(*bucket));
	for (uint32_t i = 0; i < count; i++)
		bucket[balance->ranked[i].parent_rank - lowest + 1]++;
	for (uint32_t parent = 0; parent < parents; parent++)
		bucket[parent + 1] += bucket[parent];
	for (uint32_t i = 0; i < count; i++)
		balance->sorted[bucket[balance->ranked[i].parent_rank - lowest]++] =
		    balance->ranked[i];
}

/* Gives the level's switches ranks by their sequences, from `base` on; returns the next free. */
static uint32_t rank_level(struct balance *balance, uint32_t count, uint32_t base)
{
	uint32_t lowest = UINT32_MAX, highest = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = balance->ranked[i].parent_rank;
		lowest = parent < lowest ? parent : lowest;
		highest = parent > highest ? parent : highest;
	}
	sort_level(balance, count, lowest, highest);
	const struct ranked *sorted = balance->sorted;
	for (uint32_t i = 0; i < count; i++) {
		if (i && (sorted[i].parent_rank != sorted[i - 1].parent_rank ||
			  sorted[i].load != sorted[i - 1].load))
			base++;
		balance->rank[sorted[i].sw] = base;
	}
	return base + 1;
}

/* ---- choosing ---- */

/* Candidates of least rank, as offsets into a switch's list. */
static uint32_t list_tied(struct balance *balance, const struct dag_candidate *candidates,
			  uint32_t count)
{
	uint32_t least = UINT32_MAX, tied = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t rank = balance->rank[candidates[i].to];
		if (rank < least) {
			least = rank;
			tied = 0;
		}
		if (rank == least)
			balance->tied[tied++] = i;
	}
	return tied;
}

/* The first of least load among the tied. */
static struct dag_candidate least_loaded(const struct balance *balance,
					 const struct dag_candidate *candidates, uint32_t tied)
{
	uint32_t best = balance->tied[0], least = balance->load[candidates[best].link];

	for (uint32_t i = 1; i < tied; i++) {
		uint32_t load = balance->load[candidates[balance->tied[i]].link];
		if (load < least) {
			least = load;
			best = balance->tied[i];
		}
	}
	return candidates[best];
}

/* True when the switch's entry in the tree is an allowed next hop. */
static bool entry_is_valid(const struct balance *balance, const uint8_t *tree, uint32_t sw)
{
	return tree[sw] != LINK_NUMBER_NONE &&
	       balance->dag.is_candidate[balance->fabric->isl_base[sw] + tree[sw]];
}

/* Routes the destination for which the DAG was built. With keep, valid entries stay. */
static void choose_tree(struct balance *balance, uint8_t *tree, bool keep)
{
	const uint32_t *isl_base = balance->fabric->isl_base;
	const struct dag *dag = &balance->dag;
	uint32_t next_rank = 1, tied = 0; /* tied: of the run with the same next hops */

	balance->rank[dag->destination] = 0;
	for (uint32_t level = 1; level < dag->level_count; level++) {
		uint32_t begin = dag->level_begin[level], end = dag->level_begin[level + 1];
		for (uint32_t i = begin; i < end; i++) {
			uint32_t sw = dag->order[i];
			const struct dag_candidate *candidates = dag->candidates + dag->first[i];
			struct dag_candidate taken;
			if (!dag->same_next_hops[i])
				tied = 0;
			if (keep && entry_is_valid(balance, tree, sw)) {
				taken.link = isl_base[sw] + tree[sw];
				taken.to = balance->fabric->isl_to[taken.link];
			} else {
				if (!tied)
					tied = list_tied(balance, candidates,
							 dag->first[i + 1] - dag->first[i]);
				taken = least_loaded(balance, candidates, tied);
				tree[sw] = (uint8_t)(taken.link - isl_base[sw]);
			}
			balance->ranked[i - begin] =
			    (struct ranked){.sw = sw,
					    .parent_rank = balance->rank[taken.to],
					    .load = balance->load[taken.link]};
		}
		if (level + 1 < dag->level_count)
			next_rank = rank_level(balance, end - begin, next_rank);
	}
}

/* ---- passes ---- */

static int build_next_hops(struct balance *balance, uint32_t destination, struct hd_error *err)
{
	const struct balance_destination *to = &balance->list.items[destination];
	bool to_host = to->host != HD_NONE;

	if (!balance->plan->per_destination && balance->dag.destination == to->sw &&
	    balance->dag_to_host == to_host)
		return 0;
	balance->dag_to_host = to_host;
	return balance->plan->build(balance->plan->context, to, &balance->dag, err);
}

/* Counts a tree that is final for now, and reports it. */
static void settle_tree(struct balance *balance, uint32_t destination)
{
	const struct balance_plan *plan = balance->plan;
	const uint8_t *tree = tree_of(balance, destination);

	count_tree(balance, tree, 1);
	if (plan->routed)
		plan->routed(plan->context, &balance->list.items[destination], tree);
}

static int pass_fresh(struct balance *balance, uint32_t layer, bool first, struct hd_error *err)
{
	for (uint32_t d = balance->list.layer_begin[layer];
	     d < balance->list.layer_begin[layer + 1]; d++) {
		int rc = build_next_hops(balance, d, err);
		if (rc)
			return rc;
		uint8_t *tree = tree_of(balance, d);
		if (!first)
			count_tree(balance, tree, UINT32_MAX);
		choose_tree(balance, tree, false);
		settle_tree(balance, d);
	}
	return 0;
}

static void report_max_load(const struct balance *balance)
{
	uint64_t *max_load = balance->plan->max_load;

	if (!max_load)
		return;
	*max_load = 0;
	for (uint32_t link = 0; link < balance->fabric->isl_count; link++)
		if (balance->load[link] > *max_load)
			*max_load = balance->load[link];
}

static int route_fresh(struct balance *balance, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t layer = 0; !rc && layer < balance->list.layer_count; layer++) {
		bool switches = layer + 1 == balance->list.layer_count;
		if (switches)
			report_max_load(balance);
		unsigned passes = switches ? 1 : balance->plan->passes;
		for (unsigned pass = 0; !rc && pass < passes; pass++)
			rc = pass_fresh(balance, layer, pass == 0, err);
	}
	return rc;
}

/* An entry that cannot return to its baseline stays as it is in the switch, if that is valid. */
static void leave_baseline(const struct balance *balance, uint32_t lid, uint8_t *tree, uint32_t sw)
{
	const struct hd_route_request *request = balance->plan->request;
	const struct hd_fabric *fabric = balance->fabric;
	uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(request->previous, sw, lid));

	if (request->baseline && link != HD_NONE && balance->dag.is_candidate[link])
		tree[sw] = (uint8_t)(link - fabric->isl_base[sw]);
}

/* Removes the entries of switches without a path. True when all others are valid. */
static bool tree_is_valid(const struct balance *balance, uint32_t lid, uint8_t *tree)
{
	const struct dag *dag = &balance->dag;
	bool all = true;

	for (uint32_t sw = 0; sw < balance->fabric->switch_count; sw++)
		if (dag->distance[sw] == DAG_UNREACHED)
			tree[sw] = LINK_NUMBER_NONE;
	for (uint32_t i = 1; i < dag->reached; i++) {
		uint32_t sw = dag->order[i];
		if (!entry_is_valid(balance, tree, sw))
			leave_baseline(balance, lid, tree, sw);
		all &= entry_is_valid(balance, tree, sw);
	}
	return all;
}

/* Valid trees are counted first, so that the others are routed against their loads. */
static int route_again(struct balance *balance, struct hd_error *err)
{
	uint32_t count = balance->list.count;
	bool *valid = hd_arena_alloc(&balance->arena, count, sizeof(*valid));

	if (!valid)
		return hd_error_no_memory(err);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t d = 0; d < count; d++) {
			uint8_t *tree = tree_of(balance, d);
			if (pass && valid[d])
				continue;
			int rc = build_next_hops(balance, d, err);
			if (rc)
				return rc;
			if (!pass)
				valid[d] = tree_is_valid(balance, balance->list.items[d].lid, tree);
			else
				choose_tree(balance, tree, true);
			if (pass || valid[d])
				settle_tree(balance, d);
		}
	}
	return 0;
}

/* ---- tables in, tables out ---- */

static void load_trees(struct balance *balance, const struct hd_routes *routes)
{
	const struct hd_fabric *fabric = balance->fabric;
	uint8_t number[256];

	for (uint32_t begin = 0; begin < balance->list.count; begin += BLOCK) {
		uint32_t end =
		    begin + BLOCK < balance->list.count ? begin + BLOCK : balance->list.count;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			const uint8_t *row = hd_routes_row(routes, sw);
			link_number_fill(fabric, sw, number);
			for (uint32_t d = begin; d < end; d++)
				tree_of(balance, d)[sw] = number[row[balance->list.items[d].lid]];
		}
	}
}

struct writing {
	struct balance *balance;
	struct hd_routes *routes;
};

/* Destinations begin .. end-1 of one block into their columns. */
static void write_block(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	const struct writing *writing = context;
	const struct balance *balance = writing->balance;
	const struct hd_fabric *fabric = balance->fabric;

	(void)worker;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint8_t *row = hd_routes_row(writing->routes, sw);
		const uint8_t *port = fabric->isl_port + fabric->isl_base[sw];
		for (uint32_t d = begin; d < end; d++) {
			const struct balance_destination *to = &balance->list.items[d];
			uint8_t link = tree_of(balance, d)[sw];
			if (to->sw == sw)
				row[to->lid] = to->port;
			else if (link != LINK_NUMBER_NONE)
				row[to->lid] = port[link];
		}
	}
}

static void remark_holes(const struct balance *balance, const struct hd_routes *routes)
{
	uint64_t holes = 0;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		for (uint32_t d = 0; d < balance->list.count; d++)
			holes +=
			    hd_routes_port(routes, sw, balance->list.items[d].lid) == HD_NO_PORT;
	if (holes)
		hd_log(balance->plan->request->log, HD_LOG_WARNING,
		       "%llu (switch, LID) pairs have no path and get no entry",
		       (unsigned long long)holes);
}

static int allocate(struct balance *balance)
{
	const struct hd_fabric *fabric = balance->fabric;
	struct hd_arena *arena = &balance->arena;
	uint32_t switches = fabric->switch_count;

	if (destinations_list(fabric, balance->plan->policy, arena, &balance->list) ||
	    dag_allocate(&balance->dag, fabric, arena))
		return -ENOMEM;
	balance->trees = hd_arena_alloc(arena, balance->list.count, switches);
	balance->load = hd_arena_alloc(arena, fabric->isl_count, sizeof(*balance->load));
	balance->host_load = hd_arena_alloc(arena, switches, sizeof(*balance->host_load));
	balance->weight = hd_arena_alloc(arena, switches, sizeof(*balance->weight));
	balance->rank = hd_arena_alloc(arena, switches, sizeof(*balance->rank));
	balance->ranked = hd_arena_alloc(arena, switches, sizeof(*balance->ranked));
	balance->sorted = hd_arena_alloc(arena, switches, sizeof(*balance->sorted));
	balance->tied = hd_arena_alloc(arena, HD_PORTS_MAX + 1, sizeof(*balance->tied));
	balance->bucket = hd_arena_alloc(arena, switches + 2, sizeof(*balance->bucket));
	return hd_arena_check(arena);
}

static int route_all(struct balance *balance, struct hd_error *err)
{
	const struct hd_fabric *fabric = balance->fabric;
	const struct hd_route_request *request = balance->plan->request;

	if (allocate(balance))
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		balance->host_load[sw] = fabric->host_base[sw + 1] - fabric->host_base[sw];
	if (request->previous) {
		load_trees(balance, request->baseline ? request->baseline : request->previous);
		return route_again(balance, err);
	}
	memset(balance->trees, LINK_NUMBER_NONE,
	       (size_t)balance->list.count * fabric->switch_count);
	return route_fresh(balance, err);
}

bool balance_take_column(struct hd_routes *routes, const struct hd_routes *from, uint32_t lid)
{
	bool differs = false;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		uint8_t *entry = &hd_routes_row(routes, sw)[lid];
		differs |= *entry != hd_routes_port(from, sw, lid);
		*entry = hd_routes_port(from, sw, lid);
	}
	return differs;
}

/* Moves LIDs of hosts to the trees of a routing afresh: the first plan->rebalance that differ. */
static int rebalance(const struct balance *balance, struct hd_routes *routes, struct hd_error *err)
{
	struct hd_route_request request = *balance->plan->request;
	struct balance_plan plan = *balance->plan;
	struct hd_routes *fresh = NULL;

	request.previous = request.baseline = NULL;
	plan.request = &request;
	int rc = balance_route(&plan, &fresh, err);
	if (rc)
		return rc;
	uint32_t moved = 0, hosts = balance->list.layer_begin[balance->list.layer_count - 1];
	for (uint32_t d = 0; d < hosts && moved < plan.rebalance; d++)
		moved += balance_take_column(routes, fresh, balance->list.items[d].lid);
	hd_routes_free(fresh);
	return 0;
}

static struct hd_routes *write_routes(struct balance *balance)
{
	struct hd_routes *routes = hd_routes_new(balance->fabric);
	struct writing writing = {.balance = balance, .routes = routes};

	if (routes)
		hd_parallel_for(balance->plan->request->threads, balance->list.count, BLOCK,
				write_block, &writing);
	return routes;
}

int balance_route(const struct balance_plan *plan, struct hd_routes **out, struct hd_error *err)
{
	struct balance balance = {.plan = plan, .fabric = plan->request->fabric};
	struct hd_routes *routes = NULL;
	int rc = route_all(&balance, err);

	if (!rc) {
		routes = write_routes(&balance);
		rc = routes ? 0 : hd_error_no_memory(err);
	}
	if (!rc && plan->rebalance && plan->request->previous)
		rc = rebalance(&balance, routes, err);
	if (rc) {
		hd_routes_free(routes);
	} else {
		remark_holes(&balance, routes);
		*out = routes;
	}
	hd_arena_release(&balance.arena);
	return rc;
}
