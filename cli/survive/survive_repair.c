/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "survive_repair.h"
#include "survive_clock.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/fabric/repair.h>
#include <stdio.h>
#include <stdlib.h>

struct repairing {
	const struct table_source *source;
	const struct table_request *request;
	struct hd_repair_base *base;
	struct survive_trees trees;
};

/* The tables of the engine for what is left, and the plan. */
static int plan_repair(struct repairing *repairing, const struct hd_fabric *damaged,
		       struct hd_repair_plan **plan, struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	const struct hd_routes *in_place = repairing->request->previous;
	struct table_request request = *repairing->request;
	struct hd_routes *carried = NULL, *repaired = NULL;
	int rc = 0;

	request.fabric = damaged;
	if (damaged->node_count < fabric->node_count) {
		rc = hd_routes_rebase(fabric, in_place, damaged, &carried, err);
		request.previous = carried;
	}
	if (!rc)
		rc = table_source_route(repairing->source, &request, &repaired, err);
	if (!rc)
		rc = hd_repair_plan_new(repairing->base, in_place, damaged, repaired, NULL, plan,
					err);
	hd_routes_free(repaired);
	hd_routes_free(carried);
	return rc;
}

static int repair_one(struct repairing *repairing, const struct hd_fabric_change *loss,
		      struct survive_repair *out, struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	struct hd_fabric *damaged = NULL;
	struct hd_repair_plan *plan = NULL;
	double begin = survive_clock_ms();
	int rc = hd_repair_fabric(fabric, loss, 1, HD_NONE, &damaged, err);

	if (rc)
		return rc;
	out->is_switch = !loss->cable;
	rc = plan_repair(repairing, damaged, &plan, err);
	out->plan_ms = survive_clock_ms() - begin;
	if (rc && rc != -ENOMEM) {
		snprintf(out->refusal, sizeof(out->refusal), "%s", err->text);
		rc = 0;
	}
	if (!rc && plan) {
		out->entries = plan->entries;
		out->switches = plan->switches;
		out->writes = plan->write_count;
		out->steps = plan->steps;
		out->left = plan->left;
		rc = hd_repair_find_loop(fabric, repairing->request->previous, damaged, plan,
					 &out->loop, err);
		if (!rc && repairing->trees.groups->count)
			rc = survive_multicast_repair(&repairing->trees, damaged, &out->multicast,
						      err);
	}
	if (!rc)
		rc = hd_fabric_changes_print(fabric, damaged, 1, out->lost, sizeof(out->lost), err);
	hd_repair_plan_free(plan);
	hd_fabric_free(damaged);
	return rc;
}

/* Chooses `wanted` of the numbers below `count`: the first of a random permutation. */
static uint32_t choose(uint32_t *numbers, uint32_t count, uint32_t wanted, uint64_t *random)
{
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	for (uint32_t i = 0; i < wanted && i < count; i++) {
		uint32_t other = i + (uint32_t)hd_random_below(random, count - i);
		uint32_t kept = numbers[i];
		numbers[i] = numbers[other];
		numbers[other] = kept;
	}
	return wanted < count ? wanted : count;
}

static uint32_t list_cables(const struct hd_fabric *fabric, uint32_t *cables)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = hd_port_index(fabric, hd_isl_from(fabric, link),
							fabric->isl_port[link]);
	return count;
}

static int repair_all(struct repairing *repairing, uint64_t seed, struct survive_repairs *repairs,
		      struct hd_error *err)
{
	const struct hd_fabric *fabric = repairing->request->fabric;
	const uint32_t most = fabric->isl_count + fabric->switch_count;
	uint32_t *cables = malloc((most + 1u) * sizeof(*cables));
	uint32_t *chosen = malloc((most + 1u) * sizeof(*chosen));
	int rc = cables && chosen ? 0 : hd_error_no_memory(err);

	if (!rc) {
		uint32_t count = list_cables(fabric, cables);
		count = choose(chosen, count, repairs->each, &seed);
		for (uint32_t i = 0; !rc && i < count; i++)
			rc = repair_one(repairing,
					&(struct hd_fabric_change){true, true, cables[chosen[i]]},
					&repairs->list[repairs->count++], err);
		/* without its only switch a fabric is none */
		count = fabric->switch_count > 1 ? fabric->switch_count : 0;
		count = choose(chosen, count, repairs->each, &seed);
		for (uint32_t i = 0; !rc && i < count; i++)
			rc = repair_one(repairing,
					&(struct hd_fabric_change){true, false, chosen[i]},
					&repairs->list[repairs->count++], err);
	}
	free(cables);
	free(chosen);
	return rc;
}

int survive_repair_run(const struct table_source *source, const struct table_request *request,
		       uint64_t seed, struct survive_repairs *repairs, struct hd_error *err)
{
	struct repairing repairing = {.source = source, .request = request};
	double begin = survive_clock_ms();
	int rc = hd_repair_base_new(request->fabric, request->previous, request->threads, NULL,
				    &repairing.base, err);

	repairs->base_ms = survive_clock_ms() - begin;
	if (rc)
		return rc;
	rc = survive_multicast_begin(&repairing.trees, request->fabric, &repairs->groups, err);
	repairs->list = calloc(2 * (size_t)repairs->each, sizeof(*repairs->list));
	if (!rc && !repairs->list)
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = repair_all(&repairing, seed, repairs, err);
	survive_multicast_end(&repairing.trees);
	hd_repair_base_free(repairing.base);
	return rc;
}

void survive_repair_release(struct survive_repairs *repairs)
{
	survive_groups_release(&repairs->groups);
	free(repairs->list);
}

bool survive_repair_has_fault(const struct survive_repairs *repairs)
{
	for (uint32_t i = 0; i < repairs->count; i++)
		if (*repairs->list[i].refusal || repairs->list[i].loop ||
		    survive_multicast_has_fault(&repairs->list[i].multicast))
			return true;
	return false;
}
