/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The graphs of a proof: what is searched for credit loops. */
#ifndef AR_MANAGER_PROVING_H
#define AR_MANAGER_PROVING_H

#include "next_hops.h"

#include <heddle/ar_manager/proof.h>
#include <heddle/fabric/dependencies.h>

#define PROOF_LANES 16u

/* Memory of one thread. */
struct proof_graphs_worker {
	struct hd_dependencies graphs[PROOF_LANES]; /* of the lanes in use */
	uint16_t *passing; /* [switch_count] lanes on which packets reach the switch */
	uint32_t *queue; /* [switch_count] a ring of switches whose lanes have changed */
	bool *queued; /* [switch_count] */
	const uint64_t **links; /* [switch_count] next hops to the destination at hand */
	uint64_t *sets; /* [switch_count * words] the same, LID by LID */
	uint32_t followed; /* the LID whose sets these are, HD_NONE: none */
};

struct proof_graphs {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes, *before; /* whose lanes count; before may be NULL */
	const struct next_hops *next;
	uint16_t used; /* bit v: VL v is in use */
	/* [switch_count * destinations] lanes of the packets from a switch to a destination switch;
	 * NULL: `used` for all */
	uint16_t *lanes;
	struct proof_graphs_worker *workers;
	unsigned worker_count;
	bool hosts_only; /* adapters that are set aside do not send */
	const struct hd_go_on *go_on; /* NULL: always */
};

/* Collects the dependencies: of all LIDs of a destination switch together, or of each by itself.
 * The sum is in workers[0].graphs. Errors: -ECANCELED, without a reason. */
int proof_graphs_collect(struct proof_graphs *graphs, bool by_lid, unsigned threads);

/* Says in workers[0] by which links packets to a LID may leave the switches, and on which lanes they
 * reach them. Its graphs stay as they are. */
void proof_graphs_follow(struct proof_graphs *graphs, uint32_t lid);

/* Number of dependencies of all lanes. */
uint64_t proof_graphs_count(const struct proof_graphs *graphs);

struct proving {
	const struct hd_ar_proof_request *request;
	struct hd_arena arena;
	struct host_lids lids;
	struct next_hops_entries *entries;
	struct next_hops next;
	struct proof_graphs graphs; /* filled by proof_graphs_collect() */
};

/* Whether the shapes of the request fit together. Errors: -EINVAL with a reason. */
int proving_check(const struct hd_ar_proof_request *request, struct hd_error *err);

/* Prepares the graphs of a request that was checked; without `groups` those of the static ports
 * alone. proving_release() must be called in any case. Errors: -ECANCELED, -ENOMEM; without a
 * reason. */
int proving_init(struct proving *proving, const struct hd_ar_proof_request *request, bool groups);

void proving_release(struct proving *proving);

#endif
