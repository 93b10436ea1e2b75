/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "updown.h"
#include "climbing.h"
#include "lane_options.h"
#include "ranking.h"
#include "root_option.h"
#include "spanning_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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
	if (!root_option_guid(text, &choice->guid))
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
	    .rebalance = (unsigned)hd_options_get(given, "rebalance")->number,
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
static bool is_home(const struct hd_routes *baseline, const struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		const uint8_t *own = hd_routes_row(routes, sw), *home = hd_routes_row(baseline, sw);
		for (uint32_t lid = 0; lid < routes->lid_count; lid++)
			if (home[lid] != HD_NO_PORT && home[lid] != own[lid])
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

	if (!rc && moved && !is_home(request->baseline, routes)) {
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

/*
 * By the ranks of the baseline, else by those of the tables in place, else by these with as few
 * changes as all hosts need to reach each other. -ENOTSUP if no ranks are known.
 */
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
		rc = run_ranks(ranking, request->previous, request->baseline, true, out);
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
	rc = ranking_allocate(&ranking) ? hd_error_no_memory(err) : run_chosen(&ranking, out, err);
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
