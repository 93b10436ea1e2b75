/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a job may run: hosts for a pattern, and the host of each rank, so that few phases need a key
 * because few flows share a link on the routes that are there anyway.
 */
#ifndef HEDDLE_KEYD_KEY_CHOOSE_H
#define HEDDLE_KEYD_KEY_CHOOSE_H

#include <heddle/base/go_on.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <heddle/keyd/key_pattern.h>

/* What a job on certain hosts is worth. The members are in the order in which they count; less is
 * better. */
struct hd_key_worth {
	uint32_t lost; /* flows that do not arrive */
	uint32_t keys; /* phases in which flows share a link: each needs a key */
	uint32_t contention; /* most flows of a phase, with those of others, on a directed link */
	uint64_t
	    shared; /* directed links on which a flow of a phase is not alone, over all phases */
	uint32_t leaves; /* switches with hosts of the job */
	uint32_t pods; /* subtrees, one level above the leaves, with hosts of the job */
};

/* Below 0: a is better than b; 0: they are worth the same. */
int hd_key_worth_compare(const struct hd_key_worth *a, const struct hd_key_worth *b);

struct hd_key_choose_request {
	const struct hd_fabric *fabric;
	/* The tables without keys. NULL: not known; then all flows that leave a leaf or a pod
	 * count as if they shared a link, and those that enter it, too. */
	const struct hd_routes *routes;
	/* [isl_count] flows of other jobs on each directed link between switches, or NULL: none are
	 * known. They count in each phase, on links that flows of the phase cross. Not looked at without
	 * routes. */
	const uint32_t *others;
	const struct hd_key_pattern *pattern;
	const uint32_t *free; /* [free_count] hosts of the fabric, each once */
	uint32_t free_count;
	/* Hosts of the job, 1 .. free_count. Each gets equally many of the pattern's ranks. If it is
	 * free_count, only the order of the ranks is chosen. */
	uint32_t host_count;
	uint32_t tries; /* changes to the best proposal that are tried, at most */
	uint64_t seed; /* of these changes */
	struct hd_go_on
	    go_on; /* asked between proposals and changes; false: the best so far is enough */
};

#define HD_KEY_CHOOSE_TRIES 2000u /* a good number of them */

struct hd_key_choice {
	uint32_t ranks, host_count;
	uint32_t *host_of; /* [ranks] the host of each rank */
	uint32_t *hosts; /* [host_count] the same hosts, by their lowest rank */
	struct hd_key_worth given; /* the first hosts of the request, with ranks in blocks */
	struct hd_key_worth chosen;
	bool stopped; /* go_on has ended the search */
};

/*
 * Chooses hosts and the order of ranks. The result is never worth less than the first host_count
 * hosts of the request in their order. It depends on the request and on go_on alone. Proposals are: the smallest
 * subtree with room, in few leaves, in leaves with equally many hosts, or as given; and ranks as
 * given, leaf by leaf, and grown along the flows so that few leave a leaf. The best one is then
 * changed at random. To be freed with hd_key_choice_free(). Errors: -EINVAL no hosts, a host that
 * does not exist or is there twice, or ranks that the hosts cannot share evenly; -ERANGE fewer hosts
 * are free; -ENOMEM. Cost: O(flows * hops) for each of at most 187 proposals and for each try, of
 * which there are fewer with more than a thousand flows.
 */
int hd_key_choose(const struct hd_key_choose_request *request, struct hd_key_choice **out,
		  struct hd_error *err);

/*
 * What a job is worth whose rank r runs on host_of[r]. Errors: -EINVAL a host does not exist;
 * -ENOMEM. Cost: O(flows * hops + links).
 */
int hd_key_worth_of(const struct hd_key_choose_request *request, const uint32_t *host_of,
		    struct hd_key_worth *out, struct hd_error *err);

/* NULL is allowed. */
void hd_key_choice_free(struct hd_key_choice *choice);

#endif
