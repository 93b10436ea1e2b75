/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "spanning_tree.h"
#include "destinations.h"

#include <inttypes.h>

struct spanning_tree {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct destinations list;
	uint32_t *group; /* [switch_count] union-find: the parent of a switch in its group */
	bool *used; /* [isl_count] scratch: links that some tables use */
	bool *in_tree; /* [isl_count] both directions of a cable */
	uint32_t *order; /* [switch_count] switches of a walk over the tree, its start first */
	uint32_t *from; /* [switch_count] the link by which the walk came */
	uint8_t *port; /* [switch_count] first port of the path to each switch, from the start */
	uint64_t *sources; /* [switch_count] hosts below a switch, seen from the start */
	uint64_t *lids; /* [switch_count] their LIDs */
};

static int allocate(struct spanning_tree *tree, const struct resolved_policy *policy)
{
	uint32_t switches = tree->fabric->switch_count, links = tree->fabric->isl_count;
	struct hd_arena *arena = &tree->arena;

	tree->group = hd_arena_alloc(arena, switches, sizeof(*tree->group));
	tree->used = hd_arena_alloc(arena, links, sizeof(*tree->used));
	tree->in_tree = hd_arena_alloc(arena, links, sizeof(*tree->in_tree));
	tree->order = hd_arena_alloc(arena, switches, sizeof(*tree->order));
	tree->from = hd_arena_alloc(arena, switches, sizeof(*tree->from));
	tree->port = hd_arena_alloc(arena, switches, 1);
	tree->sources = hd_arena_alloc(arena, switches, sizeof(*tree->sources));
	tree->lids = hd_arena_alloc(arena, switches, sizeof(*tree->lids));
	return destinations_list(tree->fabric, policy, arena, &tree->list);
}

/* ---- which cables ---- */

static void part_all(struct spanning_tree *tree)
{
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		tree->group[sw] = sw;
}

static uint32_t group_of(struct spanning_tree *tree, uint32_t sw)
{
	while (tree->group[sw] != sw) {
		tree->group[sw] = tree->group[tree->group[sw]];
		sw = tree->group[sw];
	}
	return sw;
}

/* False if the ends of the link have been in one group before. */
static bool join_ends(struct spanning_tree *tree, uint32_t link)
{
	uint32_t near = group_of(tree, hd_isl_from(tree->fabric, link));
	uint32_t far = group_of(tree, tree->fabric->isl_to[link]);

	tree->group[near] = far;
	return near != far;
}

/* Marks a link for each cable by which the tables forward to hosts or switches. Adapters that are
 * set aside have paths of their own, which may leave the tree. */
static void mark_used(struct spanning_tree *tree, const struct hd_routes *tables)
{
	const struct hd_fabric *fabric = tree->fabric;

	memset(tree->used, 0, fabric->isl_count * sizeof(*tree->used));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(tables, sw);
		for (uint32_t i = 0; i < tree->list.count; i++) {
			const struct balance_destination *to = &tree->list.items[i];
			uint32_t link =
			    to->sw == sw ? HD_NONE : hd_fabric_find_isl(fabric, sw, row[to->lid]);
			uint32_t back = link == HD_NONE ? HD_NONE : fabric->isl_reverse[link];
			if (link != HD_NONE)
				tree->used[link < back ? link : back] = true;
		}
	}
}

/* Whether the marked links close no cycle. */
static bool is_forest(struct spanning_tree *tree)
{
	part_all(tree);
	for (uint32_t link = 0; link < tree->fabric->isl_count; link++)
		if (tree->used[link] && !join_ends(tree, link))
			return false;
	return true;
}

/* Puts into the tree each marked link that joins two groups. */
static void take_marked(struct spanning_tree *tree)
{
	part_all(tree);
	for (uint32_t link = 0; link < tree->fabric->isl_count; link++)
		if (tree->in_tree[link])
			join_ends(tree, link);
	for (uint32_t link = 0; link < tree->fabric->isl_count; link++)
		if (tree->used[link] && join_ends(tree, link))
			tree->in_tree[link] = tree->in_tree[tree->fabric->isl_reverse[link]] = true;
}

static void take_tables(struct spanning_tree *tree, const struct hd_routes *tables)
{
	if (!tables)
		return;
	mark_used(tree, tables);
	if (is_forest(tree))
		take_marked(tree);
}

/* The tree by ranks: for each switch the first link to one that is a step nearer to the root. */
static void take_ranks(struct spanning_tree *tree, const uint32_t *rank)
{
	const struct hd_fabric *fabric = tree->fabric;

	memset(tree->used, 0, fabric->isl_count * sizeof(*tree->used));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (rank[fabric->isl_to[link]] + 1 == rank[sw]) {
				tree->used[link] = true;
				break;
			}
	take_marked(tree);
}

/* ---- tables ---- */

/* Walks the tree outwards from a switch. Returns how many switches it reaches. */
static uint32_t walk(struct spanning_tree *tree, uint32_t start)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t count = 0;

	memset(tree->port, HD_NO_PORT, fabric->switch_count);
	tree->order[count++] = start;
	tree->from[start] = HD_NONE;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t sw = tree->order[head], came = tree->from[sw];
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1];
		     link++) {
			uint32_t to = fabric->isl_to[link];
			if (!tree->in_tree[link] ||
			    (came != HD_NONE && link == fabric->isl_reverse[came]))
				continue;
			tree->from[to] = link;
			tree->port[to] = sw == start ? fabric->isl_port[link] : tree->port[sw];
			tree->order[count++] = to;
		}
	}
	return count;
}

static uint64_t fill_row(struct spanning_tree *tree, uint32_t sw, struct hd_routes *routes)
{
	uint8_t *row = hd_routes_row(routes, sw);
	uint64_t holes = 0;

	walk(tree, sw);
	for (uint32_t i = 0; i < tree->list.count; i++) {
		const struct balance_destination *to = &tree->list.items[i];
		row[to->lid] = to->sw == sw ? to->port : tree->port[to->sw];
		holes += to->sw != sw && tree->port[to->sw] == HD_NO_PORT;
	}
	return holes;
}

/* ---- the most loaded link ---- */

/* Sums hosts and LIDs of each subtree into its upper end. order[] has `count` switches. */
static void sum_subtrees(struct spanning_tree *tree, uint32_t count)
{
	const struct hd_fabric *fabric = tree->fabric;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t sw = tree->order[i];
		tree->sources[sw] = fabric->host_base[sw + 1] - fabric->host_base[sw];
		tree->lids[sw] = 0;
		for (uint32_t host = fabric->host_base[sw]; host < fabric->host_base[sw + 1];
		     host++)
			tree->lids[sw] += hd_port_lid_count(fabric, fabric->host_port[host]);
	}
	while (--count) {
		uint32_t sw = tree->order[count], upper = hd_isl_from(fabric, tree->from[sw]);
		tree->sources[upper] += tree->sources[sw];
		tree->lids[upper] += tree->lids[sw];
	}
}

static uint64_t largest_load(struct spanning_tree *tree)
{
	uint64_t most = 0;

	part_all(tree);
	for (uint32_t start = 0; start < tree->fabric->switch_count; start++) {
		if (tree->group[start] != start)
			continue;
		uint32_t count = walk(tree, start);
		sum_subtrees(tree, count);
		for (uint32_t i = 1; i < count; i++) {
			uint32_t sw = tree->order[i];
			uint64_t inside = tree->sources[sw], below = tree->lids[sw];
			uint64_t down = (tree->sources[start] - inside) * below;
			uint64_t up = inside * (tree->lids[start] - below);
			most = down > most ? down : most;
			most = up > most ? up : most;
			tree->group[sw] = start; /* seen */
		}
	}
	return most;
}

int spanning_tree_route(const struct ranking *ranking, uint64_t *max_load, struct hd_routes **out,
			struct hd_error *err)
{
	const struct hd_route_request *request = ranking->request;
	struct spanning_tree tree = {.fabric = ranking->fabric};
	struct hd_routes *routes = hd_routes_new(ranking->fabric);
	uint64_t holes = 0;
	int rc = !routes || allocate(&tree, &ranking->policy) ? hd_error_no_memory(err) : 0;

	if (rc) {
		hd_routes_free(routes);
	} else {
		take_tables(&tree, request->baseline);
		take_tables(&tree, request->previous);
		take_ranks(&tree, ranking->rank);
		for (uint32_t sw = 0; sw < ranking->fabric->switch_count; sw++)
			holes += fill_row(&tree, sw, routes);
		if (holes)
			hd_log(request->log, HD_LOG_WARNING,
			       "%" PRIu64 " (switch, LID) pairs have no path and get no entry",
			       holes);
		if (max_load)
			*max_load = largest_load(&tree);
		*out = routes;
	}
	hd_arena_release(&tree.arena);
	return rc;
}
