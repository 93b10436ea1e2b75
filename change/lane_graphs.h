/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The incremental dependency graph of this room: for each virtual lane the channel dependencies of
 * the tables in force, ordered, so that it never has a cycle. A change adds what packets depend on
 * after it, or while it is under way; what would close a credit loop is refused.
 *
 * The packets that count are those between adapters: hosts, and such as are set aside. Those that do
 * not arrive count, too: they hold buffers until they are dropped.
 */
#ifndef CHANGE_LANE_GRAPHS_H
#define CHANGE_LANE_GRAPHS_H

#include <heddle/base/go_on.h>
#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/walk.h>

struct hd_ar_plan;

#define LANE_GRAPHS_LANES 16u

struct lane_graphs {
	const struct hd_fabric *fabric;
	struct hd_dependencies lanes[LANE_GRAPHS_LANES]; /* those in `used` have memory */
	uint16_t used; /* lanes of the tables' traffic, one bit each */
	bool ordered; /* false: they are being collected */
	uint16_t
	    *passing; /* [switch_count] lanes of packets to the LID at hand that were followed */
	uint32_t *step; /* [switch_count] where the entries for the LID at hand lead */
	struct hd_columns columns; /* whose port_step fits all tables of the fabric */
	struct hd_dependency_workspace workspace;
	struct hd_arena arena;
};

/*
 * The graphs of tables, which `name` names in messages; lane_graphs_release() must be called in any
 * case. The fabric must outlive the graphs; the tables need not. `go_on` (NULL: never stop) is asked
 * for each block of LIDs. Errors: -ELOOP the tables have a credit loop, -ECANCELED, -ENOMEM. Cost:
 * O(switches * LIDs / threads + links * radix). Memory: links * radix bits for each lane and thread.
 */
int lane_graphs_init(struct lane_graphs *graphs, const struct hd_fabric *fabric,
		     const struct hd_routes *tables, const char *name, unsigned threads,
		     const struct hd_go_on *go_on, struct hd_error *err);

/*
 * The same with the dependencies of all ports of the groups of a plan, which stands on these tables. Errors: also those
 * of hd_ar_collect().
 */
int lane_graphs_init_adaptive(struct lane_graphs *graphs, const struct hd_fabric *fabric,
			      const struct hd_routes *tables, const struct hd_ar_plan *plan,
			      const char *name, unsigned threads, struct hd_error *err);

void lane_graphs_release(struct lane_graphs *graphs);

/* Finds where the entries of tables for a LID lead: step[switch_count]. */
void lane_graphs_look(struct lane_graphs *graphs, const struct hd_routes *tables, uint32_t lid);

/* The same for two tables in one pass: former[switch_count] has where those before lead, step[] where those after do. */
void lane_graphs_look_both(struct lane_graphs *graphs, const struct hd_routes *before,
			   const struct hd_routes *after, uint32_t lid, uint32_t *former);

/* Adds all that packets to the LID depend on which lane_graphs_look() has seen last. False: it would
 * close a cycle. Cost: O(switches * lanes), and what the order of the graphs takes. */
bool lane_graphs_add_lid(struct lane_graphs *graphs, const struct hd_routes *tables, uint32_t lid);

/* Adds a dependency on each of the lanes, one bit each. False: it would close a cycle on one. */
bool lane_graphs_add(struct lane_graphs *graphs, uint16_t lanes, uint32_t link, uint32_t next);

/* What is added between the two counts only if it is kept. */
void lane_graphs_begin(struct lane_graphs *graphs);
void lane_graphs_end(struct lane_graphs *graphs, bool keep);

#endif
