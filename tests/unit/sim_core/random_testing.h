/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random networks, settings and messages. Include after <cmocka.h>. */
#ifndef RANDOM_TESTING_H
#define RANDOM_TESTING_H

#include "sim_testing.h"

#include <heddle/engines/multicast.h>

/* A plan of any algorithm that can be had, or none. */
static inline struct hd_ar_plan *random_plan(const struct hd_fabric *fabric,
					     const struct hd_routes *routes, uint64_t *random)
{
	struct hd_ar_request request = {.fabric = fabric,
					.routes = routes,
					.algorithm = (enum hd_ar_algorithm)below(random, 4),
					.mode = below(random, 2) ? HD_AR_BOUNDED : HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	return hd_ar_plan_new(&request, &plan, NULL, NULL) ? NULL : plan;
}

static inline struct hd_multicast_tree *
random_tree(struct hd_multicast *multicast, const struct hd_fabric *fabric, uint64_t *random)
{
	uint32_t members[6], count = 2 + below(random, 5);
	struct hd_multicast_group group = {members, count, HD_NONE};
	struct hd_multicast_tree *tree = NULL;

	for (uint32_t i = 0; i < count; i++)
		members[i] = fabric->host_port[below(random, fabric->host_count)];
	CHECK(hd_multicast_plan(multicast, &group, &tree, &err));
	return tree;
}

static inline int compare_entries(const void *a, const void *b)
{
	const struct hd_mft_entry *left = a, *right = b;

	if (left->mlid != right->mlid)
		return left->mlid < right->mlid ? -1 : 1;
	return left->sw < right->sw ? -1 : left->sw > right->sw;
}

#define GROUPS 3u

/* Trees of three groups, from HD_MLID_FIRST on. */
static inline struct hd_mfts *random_mfts(const struct hd_fabric *fabric, uint64_t *random)
{
	struct hd_mfts *mfts = calloc(1, sizeof(*mfts));
	struct hd_multicast *multicast = NULL;

	mfts->entries = calloc(GROUPS * fabric->switch_count, sizeof(*mfts->entries));
	CHECK(hd_multicast_new(fabric, NULL, &multicast, &err));
	for (uint32_t g = 0; g < GROUPS; g++) {
		struct hd_multicast_tree *tree = random_tree(multicast, fabric, random);
		for (uint32_t i = 0; i < tree->branch_count; i++)
			mfts->entries[mfts->count++] = (struct hd_mft_entry){
			    HD_MLID_FIRST + g, tree->branches[i].sw, tree->branches[i].ports};
		free(tree);
	}
	hd_multicast_free(multicast);
	qsort(mfts->entries, mfts->count, sizeof(*mfts->entries), compare_entries);
	return mfts;
}

static inline void random_settings(struct hd_sim_settings *settings, uint32_t lanes,
				   uint64_t *random)
{
	settings->lanes = lanes;
	settings->mtu = 256u << below(random, 4);
	settings->buffer = (settings->mtu + settings->header) * (1 + below(random, 4));
	settings->central_buffer = (settings->mtu + settings->header) * (1 + below(random, 8));
	settings->host_buffer = settings->buffer;
	settings->link_latency = below(random, 3) * 50 * NANOSECOND;
	settings->switch_latency = below(random, 3) * 70 * NANOSECOND;
	settings->forced_rate = below(random, 2) ? 40 * GIGABIT : 0;
	settings->bit_rate = 30 * GIGABIT;
	settings->store_and_forward = !below(random, 4);
	settings->queueing = (enum hd_sim_queueing)below(random, 2);
	settings->selection = (enum hd_sim_selection)below(random, 5);
	settings->flowlet_gap = below(random, 3) * HD_SIM_MICROSECOND;
	settings->replication = (enum hd_sim_replication)below(random, 3);
	settings->ageing_time = below(random, 3) * HD_SIM_MICROSECOND;
	settings->seed = hd_random_next(random);
	if (!below(random, 3))
		settings->head_lifetime = (1 + below(random, 8)) * HD_SIM_MICROSECOND;
	if (!below(random, 3))
		settings->switch_lifetime = (1 + below(random, 8)) * HD_SIM_MICROSECOND;
	if (!below(random, 2)) {
		settings->deadlock_check = 7 * HD_SIM_MICROSECOND;
	}
	for (uint32_t lane = 0; lanes > 1 && lane < lanes; lane++) {
		settings->arbitration.low[lane].lane = (uint8_t)lane;
		settings->arbitration.low[lane].weight = (uint8_t)(1 + below(random, 60));
	}
	settings->arbitration.low_count = lanes > 1 ? lanes : 0;
	settings->arbitration.high_count = lanes > 1;
	settings->arbitration.high[0].lane = (uint8_t)(lanes - 1);
	settings->arbitration.high[0].weight = 20;
	settings->arbitration.high_limit = (uint8_t)below(random, 3);
}

static inline void random_flows(struct bed *bed, uint64_t *random, bool adaptive)
{
	for (uint32_t i = 0; i < bed->traffic.count; i++) {
		struct flow *flow =
		    bed_flow(bed, i, below(random, 4) ? POISSON : GREEDY,
			     below(random, 2) ? HD_NONE : below(random, bed->traffic.count));
		if (flow->pace == GREEDY && flow->to == i)
			flow->pace = ONE; /* it would send for ever, in no time */
		flow->message.bytes = 1 + below(random, 6000);
		flow->message.sl = below(random, 2) ? HD_SIM_SL_OF_ROUTES : 0;
		flow->message.dropping = (uint8_t)below(random, 3);
		flow->message.routing = (uint8_t)(adaptive ? below(random, 3) : 0);
		if (!below(random, 8))
			flow->message.lane = 15;
		flow->gap = (double)(1 + below(random, 6)) * 3e5;
		if (bed->mfts && !below(random, 3)) {
			flow->pace = POISSON;
			flow->message.destination = HD_NONE;
			flow->message.mlid =
			    bed->mfts->entries[below(random, bed->mfts->count)].mlid & 0xFFFF;
		}
	}
}

/* `adaptive`: with a plan and path bits, and multicast. */
static inline void random_bed(struct bed *bed, uint64_t *random, bool adaptive)
{
	struct hd_fabric *fabric = random_fabric(random, 2);
	uint32_t lanes = 1 + below(random, 3);
	struct hd_routes *routes = below(random, 2)
				       ? route("updown", fabric)
				       : random_routes(fabric, random, !below(random, 4), lanes);

	bed_init(bed, fabric, routes);
	random_settings(&bed->settings, lanes, random);
	bed->traffic.end = 60 * HD_SIM_MICROSECOND;
	if (adaptive) {
		bed->plan = random_plan(fabric, routes, random);
		bed->mfts = random_mfts(fabric, random);
		if (!bed->mfts->count) {
			hd_mfts_free(bed->mfts);
			bed->mfts = NULL;
		}
		if (bed->plan && bed->plan->table_count > 1 && lanes < 2)
			random_settings(&bed->settings, 2, random);
	}
	random_flows(bed, random, adaptive);
}

#endif
