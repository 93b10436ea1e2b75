/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run with mode=layers: the trees of all LIDs of hosts, and the lanes of their paths. */
#ifndef ENGINES_MULTIPATH_LAYERS_H
#define ENGINES_MULTIPATH_LAYERS_H

#include "layer_choice.h"
#include "layer_lanes.h"
#include "layer_plan.h"
#include "layer_settle.h"
#include "multipath_job.h"

/* What a thread needs to plan trees. */
struct layers_worker {
	struct dag dag;
	struct layer_choice choice;
	struct layer_planner planner;
	struct layer_loads change; /* of the loads, by the trees that it has planned in this step */
};

/* Rows of a host are those of its LIDs, the base LID first. */
struct layers {
	struct multipath_job *job;
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	struct hd_fabric view; /* the fabric with one LID for each host */
	struct hd_routes *base; /* of the view, with lanes */
	bool guarded; /* paths need lanes */
	struct dag_paths paths;
	struct layer_loads loads;
	struct layers_worker *workers; /* the first one is for what one thread does alone */
	unsigned worker_count;
	struct layer_lanes lanes;
	struct layer_settle settle;
	uint32_t lids_most; /* of a host */
	/* LIDs without room on the lanes for paths in place, or for those of their baseline */
	uint32_t crowded;
	/* [host_count] hosts in the policy's order; without one switches take turns */
	uint32_t *order;
	uint32_t *first; /* [host_count + 1] first row of each host */
	/* [rows], each [switch_count]; without links where the row is not settled yet */
	uint8_t **tree;
	uint8_t **lane; /* [rows], each [switch_count] */
};

static inline struct layer_trees layers_host(const struct layers *layers, uint32_t host)
{
	const uint32_t first = layers->first[host];

	return (struct layer_trees){layers->tree + first, layers->first[host + 1] - first,
				    layers->fabric->host_switch[host]};
}

static inline uint32_t layers_lid(const struct layers *layers, uint32_t host, uint32_t offset)
{
	return layers->fabric->lid[layers->fabric->host_port[host]] + offset;
}

/* Fills a tree and its lanes by tables, with links of the fabric only. */
void layers_read(const struct layers *layers, const struct hd_routes *routes, uint32_t lid,
		 uint8_t *tree, uint8_t *lane);

/* Finds the shortest paths to the switch of a host. */
void layers_aim(const struct layers *layers, struct layers_worker *worker, uint32_t host);

/*
 * Settles a row by a plan, which may be the row itself, and replaces its tree and lanes. lane: where paths are to be,
 * NULL: anywhere.
 */
void layers_settle(struct layers *layers, uint32_t host, uint32_t offset, const uint8_t *plan,
		   const uint8_t *lane, bool stays);

/* Empties the lanes, and lets base LIDs have their trees and lanes by the tables of the base. */
void layers_clear(struct layers *layers);

/* Puts all base LIDs on their lanes, which are empty. */
void layers_put_base(struct layers *layers);

/* Visits the further LIDs, offset by offset, in the order of the hosts. Ends with the first error. Errors: those of the
 * visitor, -ECANCELED. */
typedef int layers_visit(struct layers *layers, uint32_t host, uint32_t offset, void *context,
			 struct hd_error *err);
int layers_each(struct layers *layers, layers_visit *visit, void *context, struct hd_error *err);

/* Trees and lanes afresh, with base LIDs as they are. Errors: -ECANCELED. */
int layers_fresh(struct layers *layers, struct hd_error *err);

/* With tables in place: rows stay as layers_again.c says. Errors: -ECANCELED, -ENOMEM. */
int layers_again(struct layers *layers, struct hd_error *err);

/* A run up to where rows are to be filled: base LIDs are. previous: whether they keep what is in place. Released in any
 * case. Errors: those of spf, -ENOSPC, -ECANCELED, -ENOMEM. */
int layers_begin(struct layers *layers, struct multipath_job *job, bool again,
		 struct hd_error *err);
void layers_release(struct layers *layers);

#endif
