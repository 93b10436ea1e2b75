/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * updown: Up*-Down* routing. Switches are ranked from the roots. A path climbs towards them, then
 * descends, and never climbs again. So it is free of deadlock on one virtual lane, on any fabric.
 * All links are used, or with links=tree those of a spanning tree alone. Source: Schroeder et al.
 * (Autonet); Kim, Yum, Das et al., section 3.1.
 */
#include "all_engines.h"
#include "balance_plan.h"
#include "bisections.h"
#include "climbing.h"
#include "engine_options.h"
#include "ranking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the spanning tree ---- */

/*
 * Tables that use the cables of a spanning tree alone. So there is one path between two switches,
 * it climbs towards the root and then descends, and all other cables stay idle. This is the
 * original Up/Down routing. It is there to compare with, not for use.
 * Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, section 3.1.
 */

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
	return balance_plan_list(tree->fabric, policy, arena, &tree->list);
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

static void fill_row(struct spanning_tree *tree, uint32_t sw, struct hd_routes *routes)
{
	uint8_t *row = hd_routes_row(routes, sw);

	walk(tree, sw);
	for (uint32_t i = 0; i < tree->list.count; i++) {
		const struct balance_destination *to = &tree->list.items[i];
		row[to->lid] = to->sw == sw ? to->port : tree->port[to->sw];
	}
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

/*
 * The tree: each switch has the cable with the lowest link index to a switch that is one step
 * nearer to the root by ranking->rank. If ranking->request has tables in place whose cables are a
 * forest, that forest stays: the cables of the baseline first, then those of the previous tables.
 * The tree above then joins only what they leave apart.
 *
 * *max_load is the number of source hosts that cross the most loaded link, over all LIDs of hosts;
 * NULL: not wanted. Each component has a tree; between components there are no entries. Errors: -ENOMEM. Cost: O(switches * (switches + LIDs)).
 */
static int spanning_tree_route(const struct ranking *ranking, uint64_t *max_load,
			       struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request *request = ranking->request;
	struct spanning_tree tree = {.fabric = ranking->fabric};
	struct hd_routes *routes = hd_routes_new(ranking->fabric);
	int rc = !routes || allocate(&tree, &ranking->policy) ? hd_error_no_memory(err) : 0;

	if (rc) {
		hd_routes_free(routes);
	} else {
		take_tables(&tree, request->baseline);
		take_tables(&tree, request->previous);
		take_ranks(&tree, ranking->rank);
		for (uint32_t sw = 0; sw < ranking->fabric->switch_count; sw++)
			fill_row(&tree, sw, routes);
		if (max_load)
			*max_load = largest_load(&tree);
		*out = routes;
	}
	hd_arena_release(&tree.arena);
	return rc;
}

/* ---- the engine ---- */

#define TRIES_MAX 64
#define TREE_TRIES 3 /* roots of a spanning tree, as in the paper */

enum { LINKS_ALL, LINKS_TREE }; /* option `links` */

enum root_kind { ROOT_AUTO, ROOT_GUID, ROOT_BEST };

struct root_choice {
	enum root_kind kind;
	uint64_t guid; /* ROOT_GUID */
	uint32_t tries; /* ROOT_BEST */
};

static int parse_root(const char *text, struct root_choice *choice, struct hd_error *err)
{
	char *end;

	*choice = (struct root_choice){.kind = ROOT_AUTO};
	if (!strcmp(text, "auto"))
		return 0;
	if (!strncmp(text, "best:", 5)) {
		unsigned long tries = strtoul(text + 5, &end, 10);
		if (end == text + 5 || *end || tries < 1 || tries > TRIES_MAX)
			return hd_error_set(err, -EINVAL, "'%s' is not best:N with N 1..%d", text,
					    TRIES_MAX);
		*choice = (struct root_choice){.kind = ROOT_BEST, .tries = (uint32_t)tries};
		return 0;
	}
	*choice = (struct root_choice){.kind = ROOT_GUID};
	if (!engine_options_guid(text, &choice->guid))
		return hd_error_set(err, -EINVAL, "'%s' is neither auto, best:N nor a GUID", text);
	return 0;
}

static int validate_root(const char *text, struct hd_error *err)
{
	struct root_choice choice;

	return parse_root(text, &choice, err);
}

static const struct hd_option options[] = {
    {.name = "passes",
     .summary = "most rounds of balancing over all destinations",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = 16},
    {.name = "root",
     .summary = "auto (the top of a tree, else the centre), a switch GUID, or best:N (tries N "
		"roots and keeps the one whose busiest link has the least load)",
     .type = HD_OPTION_STRING,
     .fallback = "auto",
     .validate = validate_root},
    {.name = "links",
     .summary = "links that packets use: all of them, or those of one spanning tree alone (tree, "
		"for comparison; from the best of three roots unless root is given)",
     .type = HD_OPTION_CHOICE,
     .fallback = "all",
     .choices = "all|tree"},
    BALANCE_OPTION_BY,
    BALANCE_OPTION_REBALANCE,
    LANE_OPTIONS,
};

static bool uses_spanning_tree(const struct ranking *ranking)
{
	return hd_options_get(ranking->request->options, "links")->number == LINKS_TREE;
}

/* With the tree, or by the directions of the ranking. Strict: without steps of data traffic against
 * these, else -ENOTSUP. */
static int run_strictly(struct ranking *ranking, const struct hd_tree *tree, bool strict,
			uint64_t *max_load, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_options *given = ranking->request->options;
	struct climbing climbing = {.fabric = ranking->fabric,
				    .policy = &ranking->policy,
				    .up = tree ? tree->up : ranking->up,
				    .tree = tree,
				    .strict = strict};
	struct balance_plan plan = {
	    .request = ranking->request,
	    .policy = &ranking->policy,
	    .passes = (unsigned)hd_options_get(given, "passes")->number,
	    .until_flat = true,
	    .by = (enum balance_by)hd_options_get(given, "balance")->number,
	    .max_load = max_load,
	};
	struct hd_routes *routes = NULL;
	int rc = climbing_route(&plan, &climbing, &routes, err);

	if (!rc && ranking_store(ranking, tree, routes)) {
		hd_routes_free(routes);
		return hd_error_no_memory(err);
	}
	if (!rc)
		*out = routes;
	return rc;
}

static int run(struct ranking *ranking, const struct hd_tree *tree, uint64_t *max_load,
	       struct hd_routes **out, struct hd_error *err)
{
	if (uses_spanning_tree(ranking))
		return spanning_tree_route(ranking, max_load, out, err);
	return run_strictly(ranking, tree, tree != NULL, max_load, out, err);
}

/* The best of the first roots in ranking->centres. */
static int run_first(struct ranking *ranking, uint32_t tries, struct hd_routes **out,
		     struct hd_error *err)
{
	int rc = 0;
	uint64_t least = UINT64_MAX;
	struct hd_routes *best = NULL;

	for (uint32_t i = 0; !rc && i < tries && i < ranking->fabric->switch_count; i++) {
		struct hd_routes *routes = NULL;
		uint64_t load = 0;
		ranking_from_root(ranking, ranking->centres[i]);
		rc = run(ranking, NULL, &load, &routes, err);
		/* with tables in place the best root is that which changes the fewest entries */
		if (!rc && ranking->request->previous)
			load = hd_routes_count_changes(ranking->request->previous, routes);
		if (!rc && load < least) {
			least = load;
			hd_routes_free(best);
			best = routes;
		} else {
			hd_routes_free(routes);
		}
	}
	if (rc)
		hd_routes_free(best);
	else
		*out = best;
	return rc;
}

static int run_best(struct ranking *ranking, uint32_t tries, struct hd_routes **out,
		    struct hd_error *err)
{
	int rc = ranking_find_centres(ranking, err);

	return rc ? rc : run_first(ranking, tries, out, err);
}

/* A spanning tree has one root: the best of those that the policy names, else of the centres. */
static int run_spanning_tree(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	const bool *is_root = ranking->policy.is_root;
	uint32_t given = 0;

	for (uint32_t sw = 0; is_root && sw < ranking->fabric->switch_count; sw++)
		if (is_root[sw] && given < TRIES_MAX)
			ranking->centres[given++] = sw;
	return given ? run_first(ranking, given, out, err)
		     : run_best(ranking, TREE_TRIES, out, err);
}

/* A tree is ranked by its levels, so that all its top switches are roots. Any other fabric is
 * ranked by its centre. */
static int run_auto(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_tree_facts facts = {.is_root = ranking->policy.is_root,
					    .is_compute = ranking->policy.is_compute};
	struct hd_tree tree = {.leaf_hosts = HD_NONE};
	int rc = hd_tree_find(ranking->fabric, &facts, 1, &ranking->arena, &tree, err);

	if (!rc)
		rc = run(ranking, &tree, NULL, out, err);
	while (rc == -ENOTSUP &&
	       !(rc = hd_tree_try_next(ranking->fabric, &facts, &ranking->arena, &tree, err)))
		rc = run(ranking, &tree, NULL, out, err);
	if (rc != -ENOTSUP)
		return rc;
	rc = ranking_find_centres(ranking, err);
	if (rc)
		return rc;
	ranking_from_root(ranking, ranking_steady_centre(ranking));
	return run(ranking, NULL, NULL, out, err);
}

/* Whether every entry that the baseline has is as there. */
static bool is_home(const struct hd_fabric *fabric, const struct hd_routes *baseline,
		    const struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		const uint8_t *own = hd_routes_row(routes, sw), *home = hd_routes_row(baseline, sw);
		for (uint32_t lid = 0; lid < routes->lid_count; lid++)
			if (fabric->lid_owner[lid] != HD_NONE && home[lid] != HD_NO_PORT &&
			    home[lid] != own[lid])
				return false;
	}
	return true;
}

/* By ranks in tables. -ENOTSUP if there are none, or not all hosts reach each other by them. */
static int run_ranks(struct ranking *ranking, const struct hd_routes *tables,
		     const struct hd_routes *others, bool join, struct hd_routes **out)
{
	struct hd_error ignored = {""};

	if (!ranking_from_tables(ranking, tables, others))
		return -ENOTSUP;
	if (join && ranking_join(ranking))
		return -ENOMEM;
	return run_strictly(ranking, NULL, true, NULL, out, &ignored);
}

/* By the ranks of the baseline, unless others are in place: then all entries have to go home. */
static int run_home(struct ranking *ranking, bool moved, struct hd_routes **out)
{
	const struct hd_route_request *request = ranking->request;
	struct hd_routes *routes = NULL;
	int rc = run_ranks(ranking, request->baseline, request->previous, false, &routes);

	if (!rc && moved && !is_home(request->fabric, request->baseline, routes)) {
		hd_routes_free(routes);
		return -ENOTSUP;
	}
	if (!rc)
		*out = routes;
	return rc;
}

/* Whether the tables in place have other ranks than the baseline. */
static bool ranks_moved(const struct hd_route_request *request)
{
	const struct hd_routes *home = request->baseline, *previous = request->previous;

	if (!home || !home->rank || !previous->rank)
		return false;
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++)
		if (home->rank[sw] != HD_NONE && previous->rank[sw] != HD_NONE &&
		    home->rank[sw] != previous->rank[sw])
			return true;
	return false;
}

/* By the ranks of the tables in place, with as few changes as all hosts need to reach each other, or by those of a routing
 * afresh where that gives clearly more bandwidth: a single root that is low in the tree can be narrow. */
static int run_joined(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request *request = ranking->request;
	struct hd_routes *joined = NULL, *other = NULL;
	double worth[2];
	int rc = run_ranks(ranking, request->previous, request->baseline, true, &joined);

	if (rc)
		return rc;
	rc = run_auto(ranking, &other, err);
	const struct hd_routes *const both[] = {joined, other};
	if (!rc)
		rc = bisections_worth(request->fabric, both, 2, request->threads, &request->go_on,
				      worth);
	const bool better = !rc && worth[1] > BISECTIONS_GAIN * worth[0];
	hd_routes_free(better ? joined : other);
	if (rc == -ENOMEM || rc == -ECANCELED)
		hd_routes_free(joined);
	else
		*out = better ? other : joined;
	return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
}

/* By the ranks of the baseline, else by those of the tables in place, else by run_joined(). -ENOTSUP if no ranks are
 * known. */
static int run_kept(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request *request = ranking->request;
	int rc = -ENOTSUP;

	if (ranking->policy.is_io || !request->previous)
		return rc;
	if (request->baseline)
		rc = run_home(ranking, ranks_moved(request), out);
	if (rc == -ENOTSUP)
		rc = run_ranks(ranking, request->previous, request->baseline, false, out);
	if (rc == -ENOTSUP)
		rc = run_joined(ranking, out, err);
	return rc == -ENOMEM	  ? hd_error_no_memory(err)
	       : rc == -ECANCELED ? hd_go_on_stopped(err)
				  : rc;
}

/* The switch with the root's GUID. Routing goes on without a root that is gone. */
static uint32_t find_root(const struct ranking *ranking, uint64_t guid)
{
	uint32_t node = hd_fabric_find_node(ranking->fabric, guid);

	if (node != HD_NONE && hd_is_switch(ranking->fabric, node))
		return node;
	hd_log(ranking->request->log, HD_LOG_WARNING,
	       "updown: root 0x%016" PRIx64
	       " is not a switch of the fabric; going on as with root=auto",
	       guid);
	return HD_NONE;
}

/* The roots of the policy. If they are not the top of a tree, paths from one to another would close
 * a credit loop: then the first alone is the root, and the others are near the top. */
static int run_given(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_fabric *fabric = ranking->fabric;
	uint32_t first = 0;

	ranking_from_roots(ranking, ranking->policy.is_root);
	int rc = run(ranking, NULL, NULL, out, err);
	if (rc != -ENOTSUP || ranking->policy.is_io)
		return rc;
	while (!ranking->policy.is_root[first])
		first++;
	hd_log(ranking->request->log, HD_LOG_WARNING,
	       "updown: not all of root_guid_file can be roots; '%s' 0x%016" PRIx64
	       " alone is the root (%s)",
	       fabric->node_name[first], fabric->node_guid[first], err ? err->text : "");
	ranking_from_root(ranking, first);
	return run(ranking, NULL, NULL, out, err);
}

static int run_chosen(struct ranking *ranking, struct hd_routes **out, struct hd_error *err)
{
	struct root_choice choice;
	const char *text = hd_options_get(ranking->request->options, "root")->text;
	int rc = parse_root(text, &choice, err);

	if (rc)
		return rc;
	if (choice.kind == ROOT_BEST)
		return run_best(ranking, choice.tries, out, err);
	uint32_t root = choice.kind == ROOT_GUID ? find_root(ranking, choice.guid) : HD_NONE;
	if (root != HD_NONE)
		ranking_from_root(ranking, root);
	else if (uses_spanning_tree(ranking))
		return run_spanning_tree(ranking, out, err);
	else if (ranking->policy.is_root)
		return run_given(ranking, out, err);
	else {
		rc = run_kept(ranking, out, err);
		return rc == -ENOTSUP ? run_auto(ranking, out, err) : rc;
	}
	return run(ranking, NULL, NULL, out, err);
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct ranking ranking = {.fabric = request->fabric, .request = request};
	int rc = resolved_policy_make(request, &ranking.policy, err);

	if (rc)
		return rc;
	if (ranking_allocate(&ranking) || resolved_policy_part_io(request, &ranking.policy))
		rc = hd_error_no_memory(err);
	else
		rc = run_chosen(&ranking, out, err);
	hd_arena_release(&ranking.arena);
	resolved_policy_release(&ranking.policy);
	return rc;
}

const struct hd_engine hd_engine_updown = {
    .name = "updown",
    .summary = "climb towards the root, then descend: free of deadlock on any fabric",
    .description = "Up*-Down*: a path climbs towards the roots, then descends, and never climbs "
		   "again. All links are used, or with links=tree those of a spanning tree alone. "
		   "The roots of a fat tree are its "
		   "top switches; any "
		   "other fabric has one root, by default its centre.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |
		HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .one_lane = true,
    .route = route,
};
