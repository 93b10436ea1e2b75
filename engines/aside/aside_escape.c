/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_escape.h"
#include "aside_adopt.h"
#include "aside_sources.h"
#include "aside_tree.h"

#include <errno.h>

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
