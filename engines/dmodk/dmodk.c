/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmodk: destination-modulo-k routing of fat trees. Regular trees have a closed form: at level l a
 * packet for the d-th host climbs by up-link (d / (w1 ... wl)) mod (w(l+1) * p(l+1)), so that each
 * host has one top switch and its own links down. All other fat trees get the same order of
 * destinations with balanced counters. A fabric that is not a fat tree is refused. Source: Zahavi,
 * D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees
 * (2010).
 */
#include "all_engines.h"
#include "climbing.h"
#include "dmodk_numbers.h"
#include "dmodk_steps.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/fabric/check.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/routes.h>
#include <stdlib.h>
#include <string.h>

/* ---- links inside a level ---- */

/* Cables between two leaves: they carry what the hosts of these leaves send to each other. */

/* One leaf, and the leaf at the other end. */
struct sideways {
	const struct hd_fabric *fabric;
	const struct hd_tree_labels *labels; /* NULL: none */
	uint32_t leaf, far;
	uint8_t ports[HD_TREE_FANOUT]; /* of the leaf: those that may lead sideways */
	uint32_t port_count;
};

static int compare_guid(const void *key, const void *item)
{
	uint64_t guid = *(const uint64_t *)key, other = ((const struct hd_tree_label *)item)->guid;

	return guid < other ? -1 : guid > other;
}

static const struct hd_tree_label *label_of(const struct sideways *sideways, uint32_t sw)
{
	const struct hd_tree_labels *labels = sideways->labels;

	return labels ? bsearch(&sideways->fabric->node_guid[sw], labels->items, labels->count,
				sizeof(*labels->items), compare_guid)
		      : NULL;
}

static bool leads_to_far(const struct sideways *sideways, uint8_t port)
{
	uint32_t link = hd_fabric_find_isl(sideways->fabric, sideways->leaf, port);

	return link != HD_NONE && sideways->fabric->isl_to[link] == sideways->far;
}

/* Ports that have no place in the tree, and those that lead to the other leaf now. */
static void list_ports(struct sideways *sideways)
{
	const struct hd_tree_label *label = label_of(sideways, sideways->leaf);

	sideways->port_count = 0;
	for (uint32_t port = 1; port <= hd_node_ports(sideways->fabric, sideways->leaf); port++) {
		bool is_free = label && !memchr(label->up_port, (int)port, HD_TREE_FANOUT) &&
			       !memchr(label->down_port, (int)port, HD_TREE_FANOUT);
		if (is_free || leads_to_far(sideways, (uint8_t)port))
			sideways->ports[sideways->port_count++] = (uint8_t)port;
	}
}

/* The number of a host on its leaf, which stays if other hosts go. */
static uint32_t slot_of(const struct sideways *sideways, uint32_t host)
{
	const struct hd_tree_label *label = label_of(sideways, sideways->far);
	uint8_t port = sideways->fabric->host_switch_port[host];
	const uint8_t *slot = label ? memchr(label->down_port, port, HD_TREE_FANOUT) : NULL;

	return slot ? (uint32_t)(slot - label->down_port)
		    : host - sideways->fabric->host_base[sideways->far];
}

static bool can_cross(const void *context, uint32_t number)
{
	const struct sideways *sideways = context;

	return leads_to_far(sideways, sideways->ports[number]);
}

static void cross(const struct sideways *sideways, struct hd_routes *routes, uint32_t host)
{
	const struct hd_fabric *fabric = sideways->fabric;
	uint32_t port = fabric->host_port[host], slot = slot_of(sideways, host);

	for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, port); offset++) {
		const struct dmodk_order order = {.count = sideways->port_count,
						  .first = (slot + offset) % sideways->port_count,
						  .key = slot + offset};
		uint32_t chosen = dmodk_choose(&order, can_cross, sideways);
		if (chosen < order.count)
			hd_routes_row(routes, sideways->leaf)[fabric->lid[port] + offset] =
			    sideways->ports[chosen];
	}
}

/*
 * Leads the entries of a leaf for the hosts of another leaf to the cables that join the two. All
 * other entries, and cables above the leaves, stay as they are. routes: tables of pruned->fabric,
 * changed in place.
 *
 * Such a hop cannot close a credit loop. What crosses a cable from leaf A to leaf B is for hosts of
 * B, and leaves B by a host's port. So no packet holds a buffer of this cable while it waits for
 * another link between switches: the cable has no dependency, and a cycle cannot pass it.
 *
 * If several cables join two leaves, the hosts spread over them. A cable that is lost moves only
 * the hosts that used it, because the choice is among all ports that the labels of the leaf leave
 * free. Cost: O(links + sideways cables * hosts of a leaf * radix).
 */
static void dmodk_sideways_use(const struct hd_fabric *fabric, const struct hd_tree_pruned *pruned,
			       struct hd_routes *routes)
{
	struct sideways sideways = {.fabric = fabric, .labels = routes->labels};

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		sideways.leaf = hd_isl_from(fabric, link);
		sideways.far = fabric->isl_to[link];
		if (pruned->level[sideways.leaf] || pruned->level[sideways.far])
			continue;
		list_ports(&sideways);
		for (uint32_t host = fabric->host_base[sideways.far];
		     sideways.port_count && host < fabric->host_base[sideways.far + 1]; host++)
			cross(&sideways, routes, host);
	}
}

/* ---- tables that are renewed ---- */

static bool has_cables(const struct hd_fabric *fabric, uint32_t sw)
{
	return sw != HD_NONE && fabric->isl_base[sw] < fabric->isl_base[sw + 1];
}

/* Whether a switch has cables but no place in the tree. */
static bool has_strays(const struct hd_regular_tree *tree)
{
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		if (tree->group[sw] == HD_NONE && has_cables(tree->fabric, sw))
			return true;
	return false;
}

/* Whether no switch that had a label is missing now. *others: whether there are others. */
static bool all_are_back(const struct hd_fabric *fabric, const struct hd_tree_labels *labels,
			 bool *others)
{
	uint32_t cabled = 0;

	for (uint32_t i = 0; i < labels->count; i++)
		if (!has_cables(fabric, hd_fabric_find_node(fabric, labels->items[i].guid)))
			return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		cabled += has_cables(fabric, sw);
	*others = cabled > labels->count;
	return true;
}

/* Whether each place of the tree has a switch, and each switch has a place. */
static bool is_full(const struct hd_regular_tree *tree)
{
	uint64_t places = 0;

	for (uint32_t level = 0; level < tree->level_count; level++)
		places += (uint64_t)hd_regular_tree_blocks(tree, level) * tree->above[level];
	for (uint32_t sw = 0; sw < tree->fabric->switch_count; sw++)
		if (tree->group[sw] == HD_NONE)
			return false;
	return places == tree->fabric->switch_count;
}

/*
 * Labels of a tree of which something was missing may be others than those of the intact tree. And
 * they may have no room for a switch that has come: if a spine of a two-level tree is missing, the
 * rest is a regular tree that is narrower. So the switches get new labels when nothing is missing
 * any more, or when only cables are and a switch would have no place.
 *
 * tree: labelled by the earlier labels. 0 and new labels in *tree, in memory of the arena;
 * HD_TREE_IRREGULAR: the earlier ones stay. Errors: -ENOMEM. Cost: that of hd_regular_tree_label()
 * if no switch that had a label is missing, else O(labels log switches).
 */
static int dmodk_renew_labels(const struct hd_fabric *fabric, const struct hd_tree *levels,
			      const struct hd_tree_labels *earlier, struct hd_arena *arena,
			      struct hd_regular_tree *tree)
{
	bool strays = has_strays(tree), others = false;
	struct hd_regular_tree renewed;

	if (!all_are_back(fabric, earlier, &others) || (earlier->whole && !others))
		return HD_TREE_IRREGULAR;
	int rc = hd_regular_tree_label(fabric, levels, arena, &renewed);
	if (!rc && (!is_full(&renewed) || (!strays && !renewed.intact)))
		rc = HD_TREE_IRREGULAR;
	if (!rc)
		*tree = renewed;
	return rc;
}

/* ---- the engine ---- */

enum { METHOD_AUTO, METHOD_BALANCED };

static const struct hd_option options[] = {DMODK_OPTIONS};

static int route_balanced(const struct hd_route_request *request,
			  const struct resolved_policy *policy, const struct hd_tree *tree,
			  struct hd_routes **out, struct hd_error *err)
{
	struct climbing climbing = {
	    .fabric = request->fabric, .policy = policy, .up = tree->up, .tree = tree};
	struct balance_plan plan = {
	    .request = request,
	    .policy = policy,
	    .passes = (unsigned)hd_options_get(request->options, "passes")->number,
	};

	return climbing_route(&plan, &climbing, out, err);
}

static bool policy_orders(const struct hd_route_request *request)
{
	return request->policy && (request->policy->order_count || request->policy->cn_count);
}

/* The slot of a host in its leaf. I/O nodes come behind all others of the leaf, so that two of them have different tops. */
static uint32_t leaf_slot(const struct hd_fabric *fabric, const struct resolved_policy *policy,
			  const struct hd_regular_tree *tree, uint32_t host)
{
	const uint32_t begin = fabric->host_base[fabric->host_switch[host]];
	const uint32_t end = fabric->host_base[fabric->host_switch[host] + 1];
	uint32_t before = 0, slot = tree->host_slot[host];

	if (!policy->parts_io)
		return slot;
	for (uint32_t other = begin; other < end; other++)
		before += policy->is_io[other] < policy->is_io[host] ||
			  (policy->is_io[other] == policy->is_io[host] &&
			   tree->host_slot[other] < tree->host_slot[host]);
	for (uint32_t other = begin; other < end; other++) { /* that with so many below it */
		uint32_t below = 0;

		for (uint32_t third = begin; third < end; third++)
			below += tree->host_slot[third] < tree->host_slot[other];
		if (below == before)
			slot = tree->host_slot[other];
	}
	return slot;
}

/* d of each host: its number in the policy's order, or in the order of the tree's leaves if the
 * policy has none. NULL: no memory. */
static uint32_t *position_hosts(const struct hd_route_request *request,
				const struct resolved_policy *policy,
				const struct hd_regular_tree *tree, struct hd_arena *arena)
{
	uint32_t hosts = request->fabric->host_count;
	uint32_t *position = hd_arena_alloc(arena, hosts, sizeof(*position));

	for (uint32_t i = 0; position && i < hosts; i++)
		if (policy_orders(request))
			position[policy->host_order[i]] = i;
		else
			position[i] =
			    tree->first_leaf[request->fabric->host_switch[i]] * tree->hosts +
			    leaf_slot(request->fabric, policy, tree, i);
	return position;
}

/* What one call of route() has found out. */
struct attempt {
	const struct hd_route_request *request;
	const struct resolved_policy *policy;
	struct hd_tree_facts facts;
	struct hd_tree levels;
	/* Stray cables or routers are left out: only regular trees are routed, because many
	 * fabrics that are no trees become irregular ones, and other engines balance those
	 * better */
	bool regular_only;
	struct hd_tree_labels *earlier; /* of the tables in place; NULL: none */
	struct hd_arena arena;
};

/* Tables of the completed tree, repaired. earlier: labels from which those of the tree come; NULL:
 * none. DMODK_CUT where counters must refuse. */
static int fill_tables(struct attempt *attempt, const struct hd_regular_tree *tree,
		       struct hd_tree_labels *earlier, struct hd_routes **out, struct hd_error *err)
{
	unsigned threads = attempt->request->threads;
	uint32_t *position =
	    position_hosts(attempt->request, attempt->policy, tree, &attempt->arena);
	struct hd_routes *routes = NULL;

	if (hd_arena_check(&attempt->arena))
		return hd_error_no_memory(err);
	int rc =
	    dmodk_closed_route(tree, position, threads, &attempt->request->go_on, &routes, err);
	if (!rc && !tree->intact)
		rc = dmodk_repair(tree, position, attempt->levels.component, attempt->request,
				  routes);
	if (!rc)
		rc = hd_regular_tree_labels(tree, earlier, &routes->labels);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc == -ECANCELED ? hd_go_on_stopped(err) : rc < 0 ? hd_error_no_memory(err) : rc;
}

static bool may_label(const struct attempt *attempt)
{
	return hd_options_get(attempt->request->options, "method")->number == METHOD_AUTO &&
	       !attempt->policy->uncounted;
}

/*
 * Tables in place without labels are another engine's, or were read from a file. Then new labels of
 * a damaged tree might number its switches otherwise than those tables do, and move most entries.
 */
static bool fits_previous(const struct attempt *attempt, const struct hd_regular_tree *tree,
			  const struct hd_routes *routes)
{
	const struct hd_routes *previous = attempt->request->previous;

	return !previous || tree->intact || hd_routes_count_changes(previous, routes) == 0;
}

/* With the labels that the switches have had so far. HD_TREE_IRREGULAR or DMODK_CUT where that
 * cannot be. */
static int route_recalled(struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	struct hd_regular_tree tree;

	if (!attempt->earlier || !may_label(attempt))
		return HD_TREE_IRREGULAR;
	int rc = hd_regular_tree_label_again(attempt->request->fabric, &attempt->levels,
					     attempt->earlier, &attempt->arena, &tree);
	int renewed = rc ? rc
			 : dmodk_renew_labels(attempt->request->fabric, &attempt->levels,
					      attempt->earlier, &attempt->arena, &tree);
	if (rc || renewed < 0)
		return renewed < 0 ? hd_error_no_memory(err) : rc;
	return fill_tables(attempt, &tree, renewed ? attempt->earlier : NULL, out, err);
}

static int label_and_fill(struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	struct hd_regular_tree tree;
	int rc = hd_regular_tree_label(attempt->request->fabric, &attempt->levels, &attempt->arena,
				       &tree);

	return rc ? rc : fill_tables(attempt, &tree, NULL, out, err);
}

/* Proves tables of a tree with shared tops from which something is missing. */
static int check_folded(const struct attempt *attempt, const struct hd_routes *routes)
{
	const struct hd_check_options how = {.threads = attempt->request->threads};
	struct hd_check_report *report = NULL;
	int rc = hd_check(attempt->request->fabric, routes, &how, &report, NULL);

	if (!rc && !hd_check_clean(report))
		rc = -ENOTSUP;
	hd_check_report_free(report);
	return rc;
}

/* Over attempt->levels, with each shared top switch in parts. -ENOTSUP: that does not help. */
static int route_shared(struct attempt *attempt, struct hd_routes **out)
{
	struct hd_route_request request = *attempt->request;
	struct attempt parts = {.request = &request,
				.policy = attempt->policy,
				.facts = {NULL, attempt->facts.is_compute},
				.regular_only = true,
				.earlier = attempt->earlier};
	struct dmodk_shared shared;
	struct hd_routes *routes = NULL, *folded = NULL;
	int rc = -ENOTSUP;

	if (!may_label(attempt) || attempt->facts.is_root)
		return rc;
	rc = dmodk_shared_split(request.fabric, &attempt->levels, &shared);
	request.fabric = shared.split;
	if (!rc)
		rc = hd_tree_find(shared.split, &parts.facts, 1, &parts.arena, &parts.levels, NULL);
	if (!rc)
		rc = route_recalled(&parts, &routes, NULL);
	if (rc > 0)
		rc = label_and_fill(&parts, &routes, NULL);
	if (!rc)
		rc = dmodk_shared_fold(&shared, routes, &folded);
	if (!rc)
		rc = check_folded(attempt, folded);
	hd_routes_free(routes);
	dmodk_shared_release(&shared);
	hd_arena_release(&parts.arena);
	if (rc)
		hd_routes_free(folded);
	else
		*out = folded;
	return rc && rc != -ENOMEM && rc != -ECANCELED ? -ENOTSUP : rc;
}

/* Over attempt->levels: labels and the closed form where the tree is regular, counters elsewhere.
 */
static int route_levels(struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	struct hd_regular_tree tree;
	int rc = HD_TREE_IRREGULAR;

	if (may_label(attempt))
		rc = hd_regular_tree_label(attempt->request->fabric, &attempt->levels,
					   &attempt->arena, &tree);
	struct hd_routes *routes = NULL;
	if (!rc)
		rc = fill_tables(attempt, &tree, NULL, &routes, err);
	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc == -ECANCELED)
		return hd_go_on_stopped(err);
	if (!rc && (attempt->regular_only || fits_previous(attempt, &tree, routes))) {
		*out = routes;
		return 0;
	}
	hd_routes_free(routes);
	if (attempt->regular_only) {
		int shared = route_shared(attempt, out);
		return shared == -ENOMEM      ? hd_error_no_memory(err)
		       : shared == -ECANCELED ? hd_go_on_stopped(err)
					      : shared;
	}
	return route_balanced(attempt->request, attempt->policy, &attempt->levels, out, err);
}

/* After several tries: the last one ended with `again`, the first one with `rc` and a reason. */
static int explain(int again, int rc, struct hd_error *err)
{
	return again == -ENOMEM	     ? hd_error_no_memory(err)
	       : again == -ECANCELED ? hd_go_on_stopped(err)
	       : again		     ? rc
				     : 0;
}

/* Tries one tree after another. If none can be routed, the error says why the first cannot. */
static int route_tree(struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_fabric *fabric = attempt->request->fabric;
	int rc = route_levels(attempt, out, err), again = rc;

	while (again == -ENOTSUP &&
	       !(again = hd_tree_try_next(fabric, &attempt->facts, &attempt->arena,
					  &attempt->levels, NULL)))
		again = route_levels(attempt, out, NULL);
	return explain(again, rc, err);
}

static int route_attempt(struct attempt *attempt, struct hd_routes **out, struct hd_error *err)
{
	int found = hd_tree_find(attempt->request->fabric, &attempt->facts, 1, &attempt->arena,
				 &attempt->levels, err);

	if (found)
		return found;
	int rc = route_recalled(attempt, out, err);
	return rc <= 0 ? rc : route_tree(attempt, out, err);
}

/* What a policy says about the links that are left. */
static int prune_policy(const struct hd_tree_pruned *pruned, struct hd_arena *arena,
			struct resolved_policy *policy)
{
	uint32_t links = pruned->fabric.isl_count;
	uint8_t *weight = hd_arena_alloc(arena, links, sizeof(*weight));
	bool *uncounted = hd_arena_alloc(arena, links, sizeof(*uncounted));

	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t link = 0; policy->link_weight && link < links; link++)
		weight[link] = policy->link_weight[pruned->original[link]];
	for (uint32_t link = 0; policy->uncounted && link < links; link++)
		uncounted[link] = policy->uncounted[pruned->original[link]];
	policy->link_weight = policy->link_weight ? weight : NULL;
	policy->uncounted = policy->uncounted ? uncounted : NULL;
	return 0;
}

/* Whether hosts that are connected stay connected without the stray cables. 0, -ENOTSUP,
 * -ENOMEM. */
static int check_connected(const struct hd_fabric *fabric, const struct hd_tree_pruned *pruned,
			   struct hd_arena *arena)
{
	uint32_t switches = fabric->switch_count;
	uint32_t *whole = hd_arena_alloc(arena, switches, sizeof(*whole));
	uint32_t *left = hd_arena_alloc(arena, switches, sizeof(*left));
	uint32_t *first = hd_arena_alloc(arena, switches, sizeof(*first));

	if (hd_arena_check(arena) || hd_tree_components(fabric, whole) ||
	    hd_tree_components(&pruned->fabric, left))
		return -ENOMEM;
	memset(first, 0xFF, switches * sizeof(*first));
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		if (first[whole[sw]] == HD_NONE)
			first[whole[sw]] = left[sw];
		if (first[whole[sw]] != left[sw])
			return -ENOTSUP;
	}
	return 0;
}

/*
 * For a fabric that dmodk has refused: routes the regular tree that is left without its stray cables, then
 * uses those between leaves. in_force: NULL or levels, see hd_tree_prune(). -ENOTSUP: that does not help.
 */
static int route_pruned_by(const struct attempt *refused, const uint8_t *in_force,
			   struct hd_routes **out)
{
	struct hd_route_request request = *refused->request;
	struct hd_tree_pruned pruned;
	struct resolved_policy policy = *refused->policy;
	struct attempt attempt = {.request = &request,
				  .policy = &policy,
				  .facts = refused->facts,
				  .regular_only = true,
				  .earlier = refused->earlier};
	int rc = hd_tree_prune(request.fabric, &refused->facts, in_force, &attempt.arena, &pruned);

	if (!rc)
		rc = check_connected(request.fabric, &pruned, &attempt.arena);
	request.fabric = &pruned.fabric;
	if (!rc)
		rc = prune_policy(&pruned, &attempt.arena, &policy);
	if (!rc)
		rc = route_attempt(&attempt, out, NULL);
	if (!rc) {
		dmodk_sideways_use(refused->request->fabric, &pruned, *out);
		hd_log(request.log, HD_LOG_INFO,
		       "cables that do not join neighbouring levels of the tree: %u; only hosts of "
		       "two leaves that such a cable joins use it",
		       pruned.strays);
	}
	hd_arena_release(&attempt.arena);
	return rc;
}

/* The levels that the labels of the tables in place give the switches. NULL: no memory. */
static uint8_t *levels_in_force(const struct hd_fabric *fabric, const struct hd_tree_labels *labels,
				struct hd_arena *arena)
{
	uint8_t *level = hd_arena_alloc(arena, fabric->switch_count, sizeof(*level));
	uint32_t at = 0;

	for (uint32_t sw = 0; level && sw < fabric->switch_count; sw++) {
		while (at < labels->count && labels->items[at].guid < fabric->node_guid[sw])
			at++;
		level[sw] = at < labels->count && labels->items[at].guid == fabric->node_guid[sw]
				? (uint8_t)labels->items[at].level
				: HD_TREE_NO_LEVEL;
	}
	return level;
}

/* Levels in force come first, so that a leaf without hosts stays one. */
static int route_pruned(const struct attempt *refused, struct hd_routes **out)
{
	struct hd_arena arena = {0};
	int rc = -ENOTSUP;

	if (refused->earlier) {
		uint8_t *level =
		    levels_in_force(refused->request->fabric, refused->earlier, &arena);

		rc = level ? route_pruned_by(refused, level, out) : -ENOMEM;
	}
	hd_arena_release(&arena);
	return rc == -ENOTSUP ? route_pruned_by(refused, NULL, out) : rc;
}

/*
 * Without the routers that are above the tree: routes the regular tree that is left, then adds the
 * routers. -ENOTSUP: there are none, or that does not help.
 */
static int route_below_routers(const struct attempt *whole, struct hd_routes **out)
{
	struct hd_arena arena = {0};
	struct dmodk_routers routers;
	struct hd_route_request request = *whole->request;
	struct attempt attempt = {.request = &request,
				  .policy = whole->policy,
				  .facts = whole->facts,
				  .regular_only = true,
				  .earlier = whole->earlier};
	int rc = dmodk_routers_leave_out(request.fabric, &arena, &routers);

	if (!rc && (!routers.count || !routers.fabric.host_count || policy_orders(&request)))
		rc = -ENOTSUP;
	request.fabric = &routers.fabric;
	struct hd_routes *routes = NULL;
	if (!rc)
		rc = route_attempt(&attempt, &routes, NULL);
	if (rc == -ENOTSUP && routers.count)
		rc = route_pruned(&attempt, &routes);
	if (!rc)
		rc = dmodk_routers_add(&routers, routes);
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	hd_arena_release(&attempt.arena);
	hd_arena_release(&arena);
	return rc;
}

/* Routers make no switch a leaf. -ENOTSUP: there are none, or that does not help. */
static int route_raised_routers(const struct attempt *refused, struct hd_routes **out)
{
	const struct hd_fabric *fabric = refused->request->fabric;
	struct resolved_policy policy = *refused->policy;
	struct attempt attempt = {
	    .request = refused->request, .policy = &policy, .earlier = refused->earlier};
	bool *is_compute = hd_arena_alloc(&attempt.arena, fabric->host_count, sizeof(bool));
	uint32_t routers = 0;

	if (!is_compute)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t node = fabric->port_node[fabric->host_port[host]];
		is_compute[host] = fabric->node_type[node] != HD_ROUTER;
		routers += !is_compute[host];
	}
	int rc = -ENOTSUP;
	if (routers && routers < fabric->host_count && !policy.is_compute) {
		policy.is_compute = is_compute;
		attempt.facts = (struct hd_tree_facts){policy.is_root, is_compute};
		rc = route_attempt(&attempt, out, NULL);
		if (rc == -ENOTSUP)
			rc = route_pruned(&attempt, out);
	}
	hd_arena_release(&attempt.arena);
	return rc;
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct resolved_policy policy;
	int rc = resolved_policy_make(request, &policy, err);

	if (rc)
		return rc;
	if (resolved_policy_part_io(request, &policy)) {
		resolved_policy_release(&policy);
		return hd_error_no_memory(err);
	}
	struct attempt attempt = {
	    .request = request,
	    .policy = &policy,
	    .facts = {.is_root = policy.is_root, .is_compute = policy.is_compute},
	    .earlier = request->previous ? request->previous->labels : NULL};
	int again = route_below_routers(&attempt, out);
	if (again && again != -ENOMEM && again != -ECANCELED)
		again = rc = route_attempt(&attempt, out, err);
	if (again == -ENOTSUP)
		again = route_pruned(&attempt, out);
	if (again == -ENOTSUP)
		again = route_raised_routers(&attempt, out);
	rc = explain(again, rc, err);
	hd_arena_release(&attempt.arena);
	resolved_policy_release(&policy);
	return rc;
}

const struct hd_engine hd_engine_dmodk = {
    .name = "dmodk",
    .summary = "destination modulo k on fat trees: one top switch for each host",
    .description =
	"D-mod-K: all paths to a host pass one top switch and come down by the same links. "
	"Regular trees (XGFT, RLFT, parallel links) have a closed form; counters balance uneven "
	"and damaged trees. If a fabric is not a fat tree, dmodk refuses it and says why, and "
	"OpenSM tries the next engine.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = DMODK_POLICIES,
    .needs_tree = true,
    .one_lane = true,
    .route = route,
};
