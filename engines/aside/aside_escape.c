/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_job.h"
#include "aside_paths.h"

#include <errno.h>

/* ---- the tree ---- */

/*
 * A spanning tree whose paths are free of credit loops together with others. A source without another
 * path takes the tree's. Nue calls these escape paths (J. Domke, T. Hoefler, S. Matsuoka,
 * "Routing on the Channel Dependency Graph: A New Approach to Deadlock-Free, Destination-Based,
 * High-Performance Routing for Lossless Interconnection Networks", 2016).
 */

struct aside_tree {
	uint32_t *up; /* [switch_count] link towards the root of the component */
	uint32_t *towards; /* [switch_count] see aside_tree_point() */
	uint32_t *queue; /* [switch_count] scratch */
	uint32_t *root; /* [switch_count] of a component, by its number; scratch */
	bool *tried; /* [switch_count] as a root; scratch */
	uint32_t missing; /* switches that no path beside the others reaches */
};

#define ROOTS_TRIED 16u

/* In `up`: the root. HD_NONE: not in the tree. */
#define ROOT (HD_NONE - 1)

/* Memory from the arena of `paths`. Errors: -ENOMEM. */
static int aside_tree_init(struct aside_tree *tree, struct aside_paths *paths)
{
	struct hd_arena *arena = &paths->arena;
	uint32_t switches = paths->fabric->switch_count;

	*tree = (struct aside_tree){
	    .up = hd_arena_alloc(arena, switches, sizeof(*tree->up)),
	    .towards = hd_arena_alloc(arena, switches, sizeof(*tree->towards)),
	    .queue = hd_arena_alloc(arena, switches, sizeof(*tree->queue)),
	    .root = hd_arena_alloc(arena, switches, sizeof(*tree->root)),
	    .tried = hd_arena_alloc(arena, switches, sizeof(*tree->tried)),
	};
	return hd_arena_check(arena);
}

/* ---- growing ---- */

/* Whether the link is one of the tree, in either direction. */
static bool is_branch(const struct hd_fabric *fabric, const uint32_t *up, uint32_t link)
{
	return up[hd_isl_from(fabric, link)] == link ||
	       up[fabric->isl_to[link]] == fabric->isl_reverse[link];
}

/* Whether the lane takes the paths between a new branch, which leads to switch `to`, and the other
 * branches there. */
static bool takes_branch(struct aside_paths *paths, const uint32_t *up, uint32_t branch)
{
	const struct hd_fabric *fabric = paths->fabric;
	struct hd_dependencies *graph = &paths->graph[0];
	uint32_t to = fabric->isl_to[branch], back = fabric->isl_reverse[branch];

	for (uint32_t link = fabric->isl_base[to]; link < fabric->isl_base[to + 1]; link++)
		if (link != back && is_branch(fabric, up, link) &&
		    (!hd_dependencies_add(graph, branch, link) ||
		     !hd_dependencies_add(graph, fabric->isl_reverse[link], back)))
			return false;
	return true;
}

/* Adds switches that are next to the tree, breadth first. `queue` holds those in it. */
static uint32_t spread(struct aside_paths *paths, uint32_t *up, uint32_t *queue, uint32_t count,
		       bool forced)
{
	const struct hd_fabric *fabric = paths->fabric;

	for (uint32_t head = 0; head < count; head++) {
		uint32_t at = queue[head];
		for (uint32_t link = fabric->isl_base[at]; link < fabric->isl_base[at + 1];
		     link++) {
			uint32_t far = fabric->isl_to[link], branch = fabric->isl_reverse[link];
			if (up[far] != HD_NONE || (!forced && !takes_branch(paths, up, branch)))
				continue;
			up[far] = branch;
			queue[count++] = far;
		}
	}
	return count;
}

static uint32_t links_of(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->isl_base[sw + 1] - fabric->isl_base[sw];
}

/* In each component the switch with the most links that has not been tried. */
static void choose_roots(struct aside_tree *tree, const struct hd_fabric *fabric,
			 const uint32_t *component)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		tree->root[i] = HD_NONE;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t *root = &tree->root[component[sw]];
		if (*root == HD_NONE || (tree->tried[*root] && !tree->tried[sw]) ||
		    (tree->tried[*root] == tree->tried[sw] &&
		     links_of(fabric, sw) > links_of(fabric, *root)))
			*root = sw;
	}
}

static uint32_t begin_tree(struct aside_tree *tree, uint32_t *up, const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		up[sw] = HD_NONE;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		uint32_t root = tree->root[i];
		if (root == HD_NONE)
			continue;
		tree->tried[root] = true;
		up[root] = ROOT;
		tree->queue[count++] = root;
	}
	return count;
}

/* Switches that the tree misses take any link to it. */
static void complete(struct aside_tree *tree, struct aside_paths *paths)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		if (tree->up[sw] != HD_NONE)
			tree->queue[count++] = sw;
	spread(paths, tree->up, tree->queue, count, true);
}

/*
 * Looks for a tree whose paths lane 0 takes beside those that it knows already, from several roots.
 * Then tree->missing is 0, and the lane knows the paths of the tree. Otherwise the lane is as
 * before, and the tree is the one with the fewest paths that are refused. Cost: O(links * radix)
 * additions to the graph for each root.
 */
static void aside_tree_find(struct aside_tree *tree, struct aside_paths *paths,
			    const uint32_t *component)
{
	uint32_t switches = paths->fabric->switch_count, *up = tree->towards;

	tree->missing = HD_NONE;
	for (unsigned i = 0; tree->missing && i < ROOTS_TRIED && i < switches; i++) {
		choose_roots(tree, paths->fabric, component);
		uint32_t roots = begin_tree(tree, up, paths->fabric);
		aside_paths_try(paths);
		uint32_t missing = switches - spread(paths, up, tree->queue, roots, false);
		if (missing < tree->missing) {
			tree->missing = missing;
			memcpy(tree->up, up, switches * sizeof(*up));
		}
		if (missing)
			aside_paths_undo(paths);
		else
			aside_paths_keep(paths);
	}
	if (tree->missing)
		complete(tree, paths);
}

/* Lane 0 forgets what it knows, and takes the paths of the tree. */
static void aside_tree_impose(const struct aside_tree *tree, struct aside_paths *paths)
{
	hd_dependencies_clear(&paths->graph[0]);
	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		if (tree->up[sw] != ROOT)
			takes_branch(paths, tree->up, tree->up[sw]);
}

/* ---- towards a destination ---- */

/* tree->towards becomes the next link of each switch towards a destination in its component. */
static void aside_tree_point(struct aside_tree *tree, const struct hd_fabric *fabric,
			     uint32_t destination)
{
	memcpy(tree->towards, tree->up, fabric->switch_count * sizeof(*tree->towards));
	for (uint32_t sw = destination; tree->up[sw] != ROOT;) {
		uint32_t above = fabric->isl_to[tree->up[sw]];
		tree->towards[above] = fabric->isl_reverse[tree->up[sw]];
		sw = above;
	}
}

/* ---- the escape ---- */

struct escape {
	struct aside_job *job;
	struct aside_adopter adopter;
	struct aside_tree tree;
	const struct aside_target *targets; /* [count] hosts first */
	uint32_t count;
	uint32_t *before; /* [switch_count] the column's links until now, HD_NONE: none */
	bool *forced; /* [switch_count] takes the tree's link in this column */
	bool in_place; /* columns have entries of their own */
	bool may_move; /* paths between hosts may */
	uint64_t moved; /* entries for hosts */
};

static int begin(struct escape *escape, struct aside_job *job)
{
	struct hd_arena *arena = &job->paths.arena;
	uint32_t switches = job->fabric->switch_count;

	*escape =
	    (struct escape){.job = job,
			    .before = hd_arena_alloc(arena, switches, sizeof(*escape->before)),
			    .forced = hd_arena_alloc(arena, switches, sizeof(*escape->forced))};
	if (hd_arena_check(arena) || aside_adopt_init(&escape->adopter, job) ||
	    aside_tree_init(&escape->tree, &job->paths))
		return -ENOMEM;
	return aside_adopt_list(job, &escape->targets, &escape->count);
}

/* ---- a column ---- */

/* The column's entries; afresh, those for its switch instead where it is no host's. */
static void load(struct escape *escape, const struct aside_target *target)
{
	const struct aside_job *job = escape->job;
	const struct hd_fabric *fabric = job->fabric;
	uint32_t lid = target->host || escape->in_place
			   ? target->lid
			   : fabric->lid[fabric->port_base[target->sw]];

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		escape->before[sw] =
		    lid ? aside_paths_link(&job->paths, sw, hd_routes_port(job->routes, sw, lid))
			: HD_NONE;
	memset(escape->forced, 0, fabric->switch_count * sizeof(*escape->forced));
}

/* All sources wait, or those with hosts. */
static void propose(struct escape *escape, const struct aside_target *target, bool all)
{
	struct aside_job *job = escape->job;
	struct aside_paths *paths = &job->paths;

	aside_paths_begin(paths, target->lid, target->sw);
	job->waiting_count = 0;
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++) {
		if (sw == target->sw || job->component[sw] != job->component[target->sw])
			continue;
		paths->next[sw] =
		    escape->forced[sw] ? escape->tree.towards[sw] : escape->before[sw];
		if (all ? paths->sends[sw] : hd_has_hosts(job->fabric, sw))
			job->waiting[job->waiting_count++] = sw;
	}
}

/* The waiting sources take the tree's links, up to the destination. */
static void force(struct escape *escape)
{
	const struct aside_job *job = escape->job;

	for (uint32_t i = 0; i < job->waiting_count; i++) {
		uint32_t sw = job->waiting[i];
		while (sw != job->paths.destination && !escape->forced[sw]) {
			escape->forced[sw] = true;
			sw = job->fabric->isl_to[escape->tree.towards[sw]];
		}
	}
}

/* Switches that send nothing themselves, and through which nothing passes, stay. */
static void leave_unused(struct escape *escape)
{
	struct aside_job *job = escape->job;
	struct aside_paths *paths = &job->paths;

	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		if (!paths->fixed[sw] && !paths->sends[sw] && sw != paths->destination)
			paths->next[sw] = escape->before[sw];
}

static void count_moves(struct escape *escape, const struct aside_target *target)
{
	const struct aside_paths *paths = &escape->job->paths;

	for (uint32_t sw = 0; sw < paths->fabric->switch_count; sw++)
		escape->moved += escape->may_move && target->host && sw != target->sw &&
				 escape->before[sw] != HD_NONE &&
				 paths->next[sw] != escape->before[sw];
}

/* Paths that the lane takes stay; then others are looked for; what still waits takes the tree's, and
 * those that meet these come again. Each round has more switches that take the tree's. */
static int serve(struct escape *escape, const struct aside_target *target, struct hd_error *err)
{
	struct aside_job *job = escape->job;
	const bool may_force = !target->host || escape->may_move;
	int rc = hd_go_on_check(&job->request->go_on, err);

	if (rc)
		return rc;
	load(escape, target);
	aside_tree_point(&escape->tree, job->fabric, target->sw);
	job->waiting_count = 0;
	do {
		force(escape);
		propose(escape, target, true);
		rc = aside_sources_settle(job);
		if (!rc && job->waiting_count)
			rc = aside_sources_grow(job, 0);
	} while (!rc && job->waiting_count && may_force);
	if (rc)
		return hd_error_no_memory(err);
	rc = aside_sources_give_up(job, err);
	if (rc)
		return rc;
	leave_unused(escape);
	aside_adopt_write(&escape->adopter, target);
	count_moves(escape, target);
	return 0;
}

/* ---- all of it ---- */

/* The lane takes the paths in place that fit: those between hosts, or all. */
static int keep(struct escape *escape, bool all)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < escape->count; i++) {
		if (!all && !escape->targets[i].host)
			break;
		load(escape, &escape->targets[i]);
		propose(escape, &escape->targets[i], all);
		rc = aside_sources_settle(escape->job);
	}
	return rc;
}

/* Lane 0 forgets what it knows, takes the tree's paths, and then those of hosts that fit. */
static int impose(struct escape *escape)
{
	aside_tree_impose(&escape->tree, &escape->job->paths);
	return keep(escape, false);
}

static int serve_all(struct escape *escape, struct hd_error *err)
{
	struct aside_job *job = escape->job;
	int rc = 0;

	job->unserved = job->lost = 0;
	for (uint32_t i = 0; !rc && i < escape->count; i++)
		rc = serve(escape, &escape->targets[i], err);
	if (escape->moved > job->moved)
		job->moved = escape->moved;
	return rc;
}

int aside_escape(struct aside_job *job, bool *done, struct hd_error *err)
{
	struct escape escape;

	*done = false;
	if (begin(&escape, job))
		return hd_error_no_memory(err);
	aside_tree_find(&escape.tree, &job->paths, job->component);
	escape.may_move = !job->hosts_fixed;
	if (escape.tree.missing && !escape.may_move)
		return 0;
	if (escape.tree.missing && impose(&escape))
		return hd_error_no_memory(err);
	*done = true;
	return serve_all(&escape, err);
}

static int begin_in_place(struct escape *escape, struct aside_job *job, struct hd_error *err)
{
	if (begin(escape, job))
		return hd_error_no_memory(err);
	escape->in_place = true;
	aside_adopt_note(&escape->adopter, escape->targets, escape->count);
	aside_tree_find(&escape->tree, &job->paths, job->component);
	return 0;
}

int aside_escape_beside(struct aside_job *job, bool *done, struct hd_error *err)
{
	struct escape escape;
	int rc = begin_in_place(&escape, job, err);

	*done = !rc && !escape.tree.missing;
	return *done ? serve_all(&escape, err) : rc;
}

int aside_escape_in_place(struct aside_job *job, bool *done, struct hd_error *err)
{
	struct escape escape;
	int rc = begin_in_place(&escape, job, err);

	*done = true;
	escape.may_move = true;
	if (!rc && escape.tree.missing && (impose(&escape) || keep(&escape, true)))
		rc = hd_error_no_memory(err);
	return rc ? rc : serve_all(&escape, err);
}
