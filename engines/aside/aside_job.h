/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One computation, and what its files share. */
#ifndef ENGINES_ASIDE_JOB_H
#define ENGINES_ASIDE_JOB_H

#include "aside_turns.h"

#include <heddle/engines.h>
#include <heddle/fabric/tree.h>

/* ---- the computation ---- */

/* What is asked of it. */
struct aside_way {
	unsigned lanes; /* that may be used */
	bool guarded; /* false: credit loops are left to other means */
	bool all; /* every path is needed, so tables in place are given up for one */
	/* a policy file says which paths hosts have: these never move for others */
	bool hosts_fixed;
	bool hosts_first; /* rather what is set aside moves than paths between hosts */
	/* Tables of the same shape, or NULL: where hosts are routed afresh, their paths to adapters that are
	 * set aside come back, if they fit beside the new ones. With other tables in place, after these. */
	const struct hd_routes *replaced;
};

struct aside_job {
	const struct hd_route_request *request;
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct aside_paths paths;
	struct aside_turns turns;
	bool hosts_fixed; /* paths between hosts stay, whatever they are in the way of */
	bool had_levels; /* the paths between hosts have service levels */
	bool thorough; /* path by path */
	bool turning; /* turns only where `turns` says */
	enum aside_up up;
	unsigned choice; /* see aside_turns_find() */
	bool stay; /* entries in place are wanted */
	bool apart; /* on a lane of their own, where every path climbs, then descends */
	bool last_way; /* what cannot be routed is given up */
	struct aside_host_block *block; /* of aside_hosts.c */
	uint32_t *component; /* [switch_count] equal for switches with a path between them */
	uint32_t *waiting; /* [switch_count] sources of the column that have no path yet */
	uint32_t waiting_count;
	uint64_t unserved; /* sources that got none, over all columns */
	uint64_t lost; /* of these, sources that had one in the tables in place */
	uint64_t moved; /* entries for hosts that made room for others */
};

/* ---- sources ---- */

/* The switches that send to the LID of a column, until each has a path on a lane. */

/* Gives the waiting sources that have a path in the column its first lane. Errors: -ENOMEM. */
int aside_sources_settle(struct aside_job *job);

/* The graphs get the paths of the waiting sources, on the lanes that these have in the job's routes. All
 * of them are whole or missing, and free of credit loops together. */
void aside_sources_note(struct aside_job *job);

/* Looks for other next hops for the waiting sources on a lane; some may wait on. Errors: -ENOMEM. */
int aside_sources_grow(struct aside_job *job, unsigned lane);

/* Finds the others next hops on lane `first` or later ones, also new ones; the rest gets none.
 * Errors: -ENOSPC, -ENOMEM. */
int aside_sources_finish(struct aside_job *job, unsigned first, struct hd_error *err);

/* Whether tables in place have no entry for the source, though they have paths to the switch: then
 * it may stay so. */
bool aside_sources_is_spared(const struct aside_job *job, uint32_t source);

/* The waiting sources get no next hop, and are counted. Errors: -ENOSPC others use the entry. */
int aside_sources_give_up(struct aside_job *job, struct hd_error *err);

/* A source that was given up waits again. */
void aside_sources_take_back(struct aside_job *job, uint32_t source);

/* ---- copies of tables ---- */

/* A copy of the entries and service levels of routes, to try something and take it back. */

struct aside_tables {
	size_t bytes; /* of lft, and of sl if it is not NULL */
	uint8_t *lft, *sl, sl2vl[16]; /* as in struct hd_routes */
};

/* *out is released with aside_tables_release(), on success only. Errors: -ENOMEM. */
int aside_tables_copy(const struct hd_routes *routes, struct aside_tables *out,
		      struct hd_error *err);

/* The routes, from which the copy was made, get its content again. Errors: -ENOMEM, for service
 * levels that the routes lack by now. */
int aside_tables_put_back(struct hd_routes *routes, const struct aside_tables *tables,
			  struct hd_error *err);

void aside_tables_release(struct aside_tables *tables);

/* What a job has made, and left out. */
struct aside_result {
	struct aside_tables tables;
	uint64_t unserved, lost;
};

/* Errors: -ENOMEM. Released with aside_tables_release(&out->tables), on success only. */
int aside_result_save(const struct aside_job *job, struct aside_result *out, struct hd_error *err);

/* The job has made this, and nothing since. Errors: -ENOMEM. */
int aside_result_take_back(struct aside_job *job, const struct aside_result *result,
			   struct hd_error *err);

/* ---- columns that are taken over ---- */

/* Columns one by one, whose entries are taken over from tables. */

/* A LID that packets of the adapters that are set aside go to, or come from. */
struct aside_target {
	uint32_t lid, sw; /* sw: destination switch */
	uint8_t port; /* by which packets leave it */
	bool host; /* only switches without hosts are sources, and entries that hosts use stay */
};

struct aside_adopter {
	struct aside_job *job;
	bool *broken; /* [switch_count] the path by the tables in hand does not arrive */
};

/* Memory from the arena of the job's paths. Errors: -ENOMEM. */
int aside_adopt_init(struct aside_adopter *adopter, struct aside_job *job);

/* All columns: first those of hosts, unless credit loops are left to other means, then those of
 * adapters that are set aside. Memory from the arena of the job's paths. Errors: -ENOMEM. */
int aside_adopt_list(struct aside_job *job, const struct aside_target **out, uint32_t *count);

/* Whether the switch sends to the target. */
bool aside_adopt_is_source(const struct aside_job *job, const struct aside_target *target,
			   uint32_t sw);

/* Starts on a column: the entries that paths between hosts take, and the sources, which wait for a
 * path. Cost: O(switches). */
void aside_adopt_begin(struct aside_adopter *adopter, const struct aside_target *target);

/* Takes over the entries of the path from a switch to `lid` by the tables, if it is whole; up to where
 * there is a next hop already. */
void aside_adopt_path(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid,
		      uint32_t sw);

/* The same from all switches without a next hop. NULL, or LID 0: from none. Cost: O(switches). */
void aside_adopt(struct aside_adopter *adopter, const struct hd_routes *tables, uint32_t lid);

/* The column goes to the job's routes. Switches that send nothing get some next hop, too. */
void aside_adopt_write(struct aside_adopter *adopter, const struct aside_target *target);

/* The lanes get to know the paths in the job's routes. */
void aside_adopt_note(struct aside_adopter *adopter, const struct aside_target *targets,
		      uint32_t count);

/* ---- hosts ---- */

/* The paths to hosts: between hosts, and from switches that have other adapters only. */

/*
 * Collects dependencies. Without job->thorough: those of all entries for hosts, from any source;
 * for one lane. With it: those of the paths between hosts. Errors: -ENOMEM. Cost: O(switches *
 * LIDs).
 */
int aside_hosts_collect(struct aside_job *job, struct hd_error *err);

/*
 * Gives the paths to hosts from switches that have only adapters that are set aside a lane of the
 * ordered graphs. With job->turning, entries that hosts do not use may change; sources for which
 * that does not help get none. Errors: -ENOSPC, -ENOMEM.
 */
int aside_hosts_settle(struct aside_job *job, struct hd_error *err);

/*
 * Whether a switch that has only adapters that are set aside lacks an entry for a host of its component,
 * as where io_guid_file lets the engine leave some out. mark: [LIDs], gets true at these LIDs; or NULL.
 * Cost: O(switches * hosts).
 */
bool aside_hosts_find_holes(const struct hd_fabric *fabric, const struct hd_routes *routes,
			    const uint32_t *component, bool *mark);

/* In the column of a host's LID: the entries that paths between hosts use are fixed. */
void aside_hosts_fix(struct aside_job *job);

/* ---- trees ---- */

/*
 * The quick way, for trees: columns of adapters that are set aside are copies of their switches'
 * columns, and only paths that do not climb, then descend, are turned at one leaf.
 */

/*
 * Writes all entries for adapters that are set aside, and those for hosts of switches without hosts
 * that must turn, on lane 0. *done is false where that is not possible, or cannot be proved free of
 * credit loops; then the entries for hosts are as before. With `keep`, and previous tables, an entry
 * changes only if its path is broken or goes back to the baseline. `guarded`: see aside_route().
 * Errors: -ENOMEM. Cost: O(switches * LIDs) on `threads` threads, about a nanosecond each, and
 * O(links * radix).
 */
int aside_bulk_route(const struct hd_route_request *request, bool guarded, bool keep,
		     struct hd_routes *routes, bool *done, struct hd_error *err);

/* ---- spanning tree ---- */

/*
 * Paths for all, on one lane: a source without another path takes that of a spanning tree. If the
 * lane does not take the tree's paths beside those between hosts, the few paths between hosts that are
 * in the way move.
 */

/*
 * Routes all columns. Lane 0 is ordered, guarded, and knows the paths between hosts. *done is
 * false, and the routes are as before, where paths between hosts would move though job->hosts_fixed. Errors: -ENOMEM, -ECANCELED. Cost: O(switches * LIDs), and for each column
 * with a path that the lane refuses O(links) more, a few times.
 */
int aside_escape(struct aside_job *job, bool *done, struct hd_error *err);

/* The same for tables that are whole but for sources without a path: these get one, others move
 * only where they meet it, and paths between hosts not at all. *done is false, and the routes are as
 * before, where the lane takes no tree's paths beside all that are there. Errors, cost: as above. */
int aside_escape_beside(struct aside_job *job, bool *done, struct hd_error *err);

/* The same for such tables, but whatever is in the way of the tree's paths moves. *done is true. */
int aside_escape_in_place(struct aside_job *job, bool *done, struct hd_error *err);

/* ---- all columns ---- */

/* Routing all columns without tables in place: one way after the other is tried. Its parts also serve
 * to route with tables in place. */

/* Lanes that the routes use. */
unsigned aside_ways_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* Memory of the job's paths, for aside_paths_release(), on so many lanes. Errors: -ENOMEM. */
int aside_ways_init(struct aside_job *job, unsigned lanes, unsigned most, bool guarded);

/* The same, after clearing what the lane assignment left where it has no traffic. */
int aside_ways_begin(struct aside_job *job, unsigned lanes, bool guarded);

/* Orders what the paths between hosts depend on. *done is false where that is a credit loop which
 * other paths may have closed. Errors: -ENOMEM. */
int aside_ways_order(struct aside_job *job, bool *done, struct hd_error *err);

/* All columns in bulk, if that serves all. Errors: -ENOMEM. */
int aside_ways_bulk(struct aside_job *job, bool guarded, bool *done, struct hd_error *err);

/* Whether sources without a path may get that of a spanning tree. */
bool aside_ways_may_escape(const struct aside_job *job, const struct aside_way *way);

/* A function of aside_escape.c. */
typedef int aside_escape_fn(struct aside_job *job, bool *done, struct hd_error *err);

/* Calls it with paths between hosts that are collected and ordered. *done is false, too, if these have
 * a credit loop. */
int aside_ways_escape(struct aside_job *job, aside_escape_fn *escape, bool *done,
		      struct hd_error *err);

/* In bulk, then path by path. hosts_stay: no path between hosts makes room for others. Errors: -ENOSPC,
 * -ENOMEM, -ECANCELED. */
int aside_ways_afresh(struct aside_job *job, const struct aside_way *way, bool hosts_stay,
		      struct hd_error *err);

/* ---- tables in place ---- */

/*
 * With tables in place: what is whole stays, and only what is cut gets other paths, one by one.
 *
 * Each column begins with the entries of the baseline whose paths are whole, and with those in place
 * elsewhere. Where the lanes do not take these together, columns give up their return to the
 * baseline, then single sources get other next hops. A column is routed afresh as a whole only if
 * that gives a path to a source that would lose its own. A source that had no path may stay so.
 */

/*
 * Writes all entries for adapters that are set aside, and those for hosts of switches without hosts.
 * Entries that hosts use stay. The graphs of the job are ordered ones with the paths between hosts.
 * Adds to job->unserved and job->lost. Errors: -ENOMEM, -ENOSPC. Cost: O(switches * LIDs) for each
 * of a few rounds, and for each step that the graph does not know a search among links.
 */
int aside_repair(struct aside_job *job, struct hd_error *err);

#endif
