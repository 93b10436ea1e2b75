/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "excused.h"
#include "mixture.h"

#include <errno.h>
#include <heddle/ar_manager/circling.h>
#include <heddle/fabric/walk.h>

/* Dependencies whose LIDs are excused at most. */
#define ROUNDS 16

struct excusing {
	const struct hd_ar_proof_request *request;
	struct hd_columns columns;
	struct mixture mixture; /* of the tables after and before */
	bool *excused; /* [lid_count] */
};

static bool changes(const struct hd_ar_proof_request *request, uint32_t lid)
{
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++)
		if (hd_routes_port(request->routes, sw, lid) !=
		    hd_routes_port(request->before, sw, lid))
			return true;
	return false;
}

/* Packets of adapters are followed, as in the proof. */
static void excuse_round(struct excusing *excusing)
{
	const struct hd_fabric *fabric = excusing->request->fabric;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t sw;
		uint8_t port;
		excusing->excused[lid] = hd_fabric_lid_destination(fabric, lid, &sw, &port) &&
					 port && changes(excusing->request, lid) &&
					 mixture_loops(&excusing->mixture, lid, true);
	}
}

static bool has_link(const struct hd_ar_proof_request *request, uint32_t link, uint32_t lid)
{
	uint32_t sw = hd_isl_from(request->fabric, link);
	uint8_t port = request->fabric->isl_port[link];

	return hd_routes_port(request->routes, sw, lid) == port ||
	       hd_routes_port(request->before, sw, lid) == port;
}

/* Whether packets to a LID that changes, and is not excused, have the dependency. */
static bool counts(struct excusing *excusing, const struct hd_ar_circling_pair *pair, uint32_t lid)
{
	const struct hd_ar_proof_request *request = excusing->request;

	return !excusing->excused[lid] && has_link(request, pair->link, lid) &&
	       has_link(request, pair->next, lid) && changes(request, lid) &&
	       mixture_reaches(&excusing->mixture, lid, hd_isl_from(request->fabric, pair->link));
}

static uint32_t count_lids(struct excusing *excusing, const struct hd_ar_circling_pair *pair)
{
	uint32_t count = 0;

	for (uint32_t lid = 1; lid < excusing->request->fabric->lid_count; lid++)
		count += counts(excusing, pair, lid);
	return count;
}

/* Excuses the LIDs of the dependency that has the fewest. Returns how many they are. */
static uint32_t excuse_fewest(struct excusing *excusing, const struct hd_ar_circling *circling)
{
	const struct hd_ar_circling_pair *best = NULL;
	uint32_t fewest = 0;

	for (size_t i = 0; i < circling->count; i++) {
		uint32_t count = count_lids(excusing, &circling->pairs[i]);
		if (!count || (best && count >= fewest))
			continue;
		best = &circling->pairs[i];
		fewest = count;
	}
	for (uint32_t lid = 1; best && lid < excusing->request->fabric->lid_count; lid++)
		excusing->excused[lid] = excusing->excused[lid] || counts(excusing, best, lid);
	return fewest;
}

/* LIDs that lead nowhere in a circle can still close a loop together. */
static int excuse_others(struct excusing *excusing, const bool *split, bool *rest_loops,
			 struct hd_error *err)
{
	struct hd_ar_proof_request rest = *excusing->request;
	uint32_t count = 1;
	int rc = 0;

	rest.excused = excusing->excused;
	*rest_loops = true;
	for (unsigned round = 0; !rc && *rest_loops && count && round < ROUNDS; round++) {
		struct hd_ar_circling circling;
		rc = hd_ar_circling_find(&rest, false, split, &circling, err);
		*rest_loops = !rc && circling.count;
		count = *rest_loops ? excuse_fewest(excusing, &circling) : 0;
		hd_ar_circling_release(&circling);
	}
	return rc;
}

static int begin(struct excusing *excusing, struct hd_arena *arena, struct hd_error *err)
{
	const struct hd_routes *tables[] = {excusing->request->routes, excusing->request->before};
	const struct hd_fabric *fabric = excusing->request->fabric;
	struct mixture *mixture = &excusing->mixture;

	for (unsigned i = 0; i < 2; i++)
		if (tables[i]->switch_count != fabric->switch_count ||
		    tables[i]->lid_count != fabric->lid_count)
			return hd_error_set(err, -EINVAL, "the tables are not of this fabric");
	if (hd_columns_init(&excusing->columns, fabric, tables[0], arena) ||
	    mixture_init(mixture, fabric, excusing->columns.port_step, arena))
		return hd_error_no_memory(err);
	for (unsigned i = 0; i < 2; i++) {
		mixture->tables[i] = tables[i]->lft;
		mixture->stride[i] = tables[i]->stride;
	}
	return 0;
}

int excused_find(const struct hd_ar_proof_request *request, const bool *split, bool *excused,
		 bool *rest_loops, struct hd_error *err)
{
	struct excusing excusing = {.request = request, .excused = excused};
	struct hd_arena arena = {0};
	int rc = begin(&excusing, &arena, err);

	if (!rc) {
		excuse_round(&excusing);
		rc = excuse_others(&excusing, split, rest_loops, err);
	}
	hd_arena_release(&arena);
	return rc;
}
