/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan_copy.h"

#include <errno.h>
#include <heddle/ar_manager/narrow.h>

#define ROUNDS 16

/* While the forwarding tables change. */
static int prove_tables(const struct hd_ar_narrow_request *request, const struct hd_ar_plan *plan,
			struct hd_ar_loop **loop, struct hd_error *err)
{
	const struct hd_ar_proof_request wanted = {.fabric = request->fabric,
						   .routes = request->after,
						   .before = request->before,
						   .plan = plan,
						   .threads = request->threads};

	return hd_ar_prove(&wanted, NULL, loop, err);
}

/* While the next plan is programmed, on the new tables. */
static int prove_plans(const struct hd_ar_narrow_request *request, struct hd_ar_plan *plan,
		       struct hd_ar_loop **loop, struct hd_error *err)
{
	const struct hd_ar_proof_request wanted = {.fabric = request->fabric,
						   .routes = request->after,
						   .plan = plan,
						   .next = request->next,
						   .threads = request->threads};

	return hd_ar_prove(&wanted, &plan->proof, loop, err);
}

static int prove(const struct hd_ar_narrow_request *request, struct hd_ar_plan *plan,
		 struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = prove_tables(request, plan, loop, err);

	return rc ? rc : prove_plans(request, plan, loop, err);
}

static uint64_t make_all_static(struct plan_copy *copy)
{
	uint64_t changed = 0;

	for (uint32_t sw = 0; sw < copy->plan->switch_count; sw++)
		changed += plan_copy_make_static(copy, sw, HD_AR_NO_GROUP);
	return changed;
}

static bool has_port(const struct hd_ar_group *group, uint8_t port)
{
	return hd_port_set_has(&group->ports[0], port) || hd_port_set_has(&group->ports[1], port);
}

/* The groups by which packets can take a link of the loop. */
static uint64_t narrow_loop(struct plan_copy *copy, const struct hd_fabric *fabric,
			    const struct hd_ar_loop *loop)
{
	uint64_t changed = 0;

	for (uint32_t i = 0; i < loop->length; i++) {
		uint32_t sw = hd_isl_from(fabric, loop->links[i]);
		uint8_t port = fabric->isl_port[loop->links[i]];
		const struct hd_ar_switch *planned = &copy->switches[sw];
		for (uint32_t group = 0; group < planned->group_count; group++)
			if (has_port(&planned->groups[group], port))
				changed += plan_copy_make_static(copy, sw, group);
	}
	return changed;
}

/* Whether the tables alone have a credit loop while they change. */
static int mixture_loops(const struct hd_ar_narrow_request *request, bool *loops,
			 struct hd_error *err)
{
	int rc = prove_tables(request, NULL, NULL, err);

	*loops = rc == -ELOOP;
	return *loops ? 0 : rc;
}

static int narrow(const struct hd_ar_narrow_request *request, struct plan_copy *copy,
		  struct hd_ar_narrowing *out, struct hd_error *err)
{
	int rc = -ELOOP;

	for (unsigned round = 0; rc == -ELOOP; round++) {
		struct hd_ar_loop *loop = NULL;
		uint64_t changed = 0;
		rc = prove(request, copy->plan, &loop, err);
		if (rc == -ELOOP && round == 0) {
			int failed = mixture_loops(request, &out->off, err);
			rc = failed ? failed : rc;
		}
		if (rc == -ELOOP && !out->off && round < ROUNDS)
			changed = narrow_loop(copy, request->fabric, loop);
		hd_ar_loop_free(loop);
		if (rc == -ELOOP && !changed) {
			out->narrowed += make_all_static(copy);
			return 0;
		}
		out->narrowed += changed;
	}
	return rc;
}

/* Mixtures with private tables are not proved: all is static while anything changes. */
static int narrow_private(const struct hd_ar_narrow_request *request, struct plan_copy *copy,
			  struct hd_ar_narrowing *out)
{
	bool stays = request->next && hd_ar_plan_equal(copy->plan, request->next);

	if (!stays || !hd_routes_equal(request->before, request->after))
		out->narrowed = make_all_static(copy);
	return 0;
}

static bool is_private(const struct hd_ar_narrow_request *request)
{
	return request->plan->table_count > 1 || (request->next && request->next->table_count > 1);
}

int hd_ar_narrow(const struct hd_ar_narrow_request *request, struct hd_ar_narrowing *out,
		 struct hd_error *err)
{
	struct hd_ar_narrowing result = {0};
	struct plan_copy copy;

	if (plan_copy_new(request->plan, request->fabric, &copy))
		return hd_error_no_memory(err);
	int rc = is_private(request) ? narrow_private(request, &copy, &result)
				     : narrow(request, &copy, &result, err);
	if (rc) {
		hd_ar_plan_free(copy.plan);
		return rc;
	}
	result.plan = copy.plan;
	*out = result;
	return 0;
}
