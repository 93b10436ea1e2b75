/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an engine wants to be balanced, and the LIDs in the order in which they are. */
#ifndef ENGINES_BALANCE_PLAN_H
#define ENGINES_BALANCE_PLAN_H

#include "dag.h"
#include "resolved_policy.h"

/* The row for an option that engines had before their tables grew with the fabric. */
#define BALANCE_OPTION_REBALANCE                                                                   \
	{                                                                                          \
		.name = "rebalance", .summary = "no effect: tables follow the fabric as it grows", \
		.type = HD_OPTION_INT, .fallback = "0", .minimum = 0, .maximum = HD_LID_LAST       \
	}

/* The row for balance_plan.by in an engine's option table: the choices are those of enum balance_by. */
#define BALANCE_OPTION_BY                                                                          \
	{                                                                                          \
		.name = "balance",                                                                 \
		.summary = "what decides between equal paths: the loads of links, or conflicts "   \
			   "between flows; dimensions: the order of the dimensions of a torus, "   \
			   "mesh, hypercube or HyperX, then conflicts; auto: conflicts where "     \
			   "most switches have hosts",                                             \
		.type = HD_OPTION_CHOICE, .fallback = "auto",                                      \
		.choices = "loads|conflicts|auto|dimensions"                                       \
	}

enum balance_by { BALANCE_BY_LOADS, BALANCE_BY_CONFLICTS, BALANCE_BY_AUTO, BALANCE_BY_DIMENSIONS };

struct balance_destination {
	uint32_t lid;
	uint32_t sw; /* the destination switch */
	uint32_t host; /* index of the host, HD_NONE for a switch's own LID */
	uint8_t port; /* of the destination switch, to the host; 0 for the switch itself */
};

struct balance_plan {
	const struct hd_route_request *request;
	const struct resolved_policy *policy;
	unsigned passes; /* at most, over the hosts of one LID offset, 1 .. */
	/* a pass after the first that does not lower the largest load is the last */
	bool until_flat;
	enum balance_by by; /* conflicts: see conflicts.h; dimensions: see parallel_links.h */
	/*
	 * Builds the next hops towards destination->sw. Called whenever that switch changes, or for
	 * every destination where per_destination is set. May refuse with a reason.
	 */
	int (*build)(void *context, const struct balance_destination *destination, struct dag *dag,
		     struct hd_error *err);
	void *context;
	bool per_destination;
	/* NULL, or the paths from which build() takes the next hops. Then a repair need not build
	 * them for every destination. */
	const struct dag_paths *paths;
	/* with paths: [switch_count] 0 for leaves, NULL where it is no tree */
	const uint8_t *level;
	bool spread_lids; /* a repair keeps the LIDs of a host on different links */
	/*
	 * NULL, or called with each destination tree once it is routed: tree[s] is the number of
	 * the link that switch s takes among its own. The bytes stay in place and up to date while
	 * balance_route() runs, so that build() can keep later destinations away from these links.
	 */
	void (*routed)(void *context, const struct balance_destination *destination,
		       const uint8_t *tree);
	uint64_t *max_load; /* out, NULL = not wanted: source hosts over the most loaded link */
};

struct destinations {
	struct balance_destination *items;
	uint32_t count;
	/* one for each LID offset of hosts, and a last one for all switches */
	uint32_t layer_count;
	uint32_t *layer_begin; /* [layer_count + 1] */
};

/* Lists them into memory of the arena. Errors: -ENOMEM. */
int balance_plan_list(const struct hd_fabric *fabric, const struct resolved_policy *policy,
		      struct hd_arena *arena, struct destinations *out);

/* Whether the administrator says which hosts come first. */
bool balance_plan_is_ordered(const struct hd_route_request *request,
			     const struct resolved_policy *policy);

/* Whether packets mostly pass switches with hosts, as in a torus. Then paths to many destinations have links in
 * common. Cost: O(links). */
bool balance_plan_hosts_everywhere(const struct hd_fabric *fabric);

/* Lets the switches take turns in each layer: the first LID of each, then the second of each. Errors: -ENOMEM. */
int balance_plan_turns(const struct hd_fabric *fabric, struct hd_arena *arena,
		       struct destinations *list);

#endif
