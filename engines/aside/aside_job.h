/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One computation, and what its files share. */
#ifndef ENGINES_ASIDE_JOB_H
#define ENGINES_ASIDE_JOB_H

#include "aside_turns.h"
#include <heddle/engines.h>
#include <heddle/fabric/tree.h>

/* What is asked of it. */
struct aside_way {
	unsigned lanes; /* that may be used */
	bool guarded; /* false: credit loops are left to other means */
	bool all; /* every path is needed, so tables in place are given up for one */
	bool
	    hosts_fixed; /* a policy file says which paths hosts have: these never move for others */
	bool hosts_first; /* rather what is set aside moves than paths between hosts */
	/* Tables of the same shape, or NULL: where hosts are routed afresh, their paths to adapters that are
	 * set aside come back, if they fit beside the new ones. */
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

#endif
