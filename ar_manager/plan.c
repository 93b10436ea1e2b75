/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The choice of an algorithm. hd_ar_plan_new() is what all callers use.
 *
 * A request names an algorithm, or "auto" tries those that fit the fabric, one after another. A plan that leaves
 * much static is compared with the next algorithm's. If all are refused, the reason is that of the last, or the
 * credit loop of the tables alone if these have one.
 */
#include <heddle/ar_manager/plan.h>

#include "attempts.h"
#include "notes.h"

#include <errno.h>
#include <heddle/ar_manager/proof.h>

static int check_shapes(const struct hd_ar_request *request, struct hd_error *err)
{
	const struct hd_fabric *fabric = request->fabric;
	const struct hd_routes *routes = request->routes;

	if (routes->switch_count == fabric->switch_count && routes->lid_count == fabric->lid_count)
		return 0;
	return hd_error_set(
	    err, -EINVAL,
	    "tables of %u switches and LIDs up to %u for a fabric of %u switches and LIDs up to %u",
	    routes->switch_count, routes->lid_count - 1, fabric->switch_count,
	    fabric->lid_count - 1);
}

static bool is_refused(int rc)
{
	return rc == -ENOTSUP || rc == -ELOOP;
}

/* The reason and the loop of a refused plan become those of the tables if these have a credit loop without any group.
 * Errors: -ELOOP, with either reason; -ECANCELED, -ENOMEM. */
static int blame_tables(const struct hd_ar_request *request, struct hd_ar_loop **loop,
			struct hd_error *err)
{
	const struct hd_ar_proof_request tables = {.fabric = request->fabric,
						   .routes = request->routes,
						   .threads = request->threads,
						   .go_on = request->go_on};
	struct hd_ar_loop *own = NULL;
	struct hd_error reason = {""};
	int rc = hd_ar_prove(&tables, NULL, &own, &reason);

	if (!rc)
		return -ELOOP;
	*err = reason;
	if (rc == -ELOOP)
		hd_error_prefix(err, rc, "the tables alone can deadlock, so no plan can be right");
	if (loop) {
		hd_ar_loop_free(*loop);
		*loop = own;
	} else {
		hd_ar_loop_free(own);
	}
	return rc;
}

/* One algorithm, and why it does not make all entries adaptive that it could. */
static int plan_with(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		     struct hd_ar_plan **out, struct attempts_result *result,
		     struct hd_ar_loop **loop, struct hd_error *err)
{
	struct hd_ar_plan *plan = NULL;
	int rc = attempts_make(request, algorithm, &plan, result, loop, err), failed = 0;

	if (rc == -ELOOP)
		rc = blame_tables(request, loop, err);
	if (is_refused(rc))
		failed = notes_refused(request, algorithm->algorithm, err);
	else if (!rc && result->wide > plan->adaptive)
		failed = notes_in_part(request, plan, result->wide - plan->adaptive, &result->loop);
	if (failed) {
		hd_ar_plan_free(plan);
		if (loop && rc == -ELOOP) {
			hd_ar_loop_free(*loop);
			*loop = NULL;
		}
		return hd_error_no_memory(err);
	}
	if (!rc)
		*out = plan;
	return rc;
}

/* Takes another algorithm in place of a plan that has much left out, if as many entries are adaptive by it. On an error
 * there is no plan any more. */
static int compare_with(const struct hd_ar_request *request,
			const struct planner_algorithm *algorithm, struct hd_ar_plan **plan,
			struct hd_error *err)
{
	struct hd_ar_plan *other = NULL, *former = *plan;
	struct attempts_result result;
	int rc = attempts_make(request, algorithm, &other, &result, NULL, err);

	if (is_refused(rc))
		return 0;
	if (!rc && other->adaptive < former->adaptive) {
		hd_ar_plan_free(other);
		return 0;
	}
	if (!rc)
		notes_replaced(request, former, other);
	hd_ar_plan_free(former);
	*plan = other;
	return rc;
}

/* Tries one algorithm after another. The last reason remains. */
static int plan_auto(const struct hd_ar_request *request, struct hd_ar_plan **out,
		     struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = -ENOTSUP;

	for (size_t i = 0; i < ALGORITHMS_COUNT && is_refused(rc); i++) {
		struct hd_error reason = {""};
		struct hd_ar_plan *plan = NULL;
		struct attempts_result result;
		bool last = i + 1 == ALGORITHMS_COUNT;
		rc = plan_with(request, algorithms_all[i], &plan, &result, last ? loop : NULL,
			       &reason);
		if (!rc && result.in_part && !last)
			rc = compare_with(request, algorithms_all[i + 1], &plan, &reason);
		if (!rc)
			*out = plan;
		if (rc && err)
			*err = reason;
		if (is_refused(rc) && !last)
			hd_log(request->log, HD_LOG_INFO, "algorithm %s is not possible: %s",
			       algorithms_all[i]->name, reason.text);
	}
	return rc;
}

static int plan_named(const struct hd_ar_request *request, struct hd_ar_plan **out,
		      struct hd_ar_loop **loop, struct hd_error *err)
{
	struct attempts_result result;
	struct hd_error reason = {""};

	for (size_t i = 0; i < ALGORITHMS_COUNT; i++) {
		if (algorithms_all[i]->algorithm != request->algorithm)
			continue;
		int rc = plan_with(request, algorithms_all[i], out, &result, loop, &reason);
		if (rc && err)
			*err = reason;
		return rc;
	}
	return hd_error_set(err, -EINVAL, "no such algorithm");
}

int hd_ar_plan_new(const struct hd_ar_request *request, struct hd_ar_plan **out,
		   struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = check_shapes(request, err);

	if (!rc)
		rc = hd_routes_refuse_maps(request->routes, "plans of adaptive routing", err);
	notes_begin(request);
	if (!rc)
		rc = request->algorithm == HD_AR_AUTO ? plan_auto(request, out, loop, err)
						      : plan_named(request, out, loop, err);
	if (!rc) {
		const struct hd_ar_plan *plan = *out;
		if (plan->full)
			hd_log(request->log, HD_LOG_WARNING,
			       "%u switches have too few groups: %.1f%% of the entries are "
			       "adaptive, %.1f%% could be",
			       plan->full, 100 * hd_ar_plan_share(plan),
			       100 * hd_ar_plan_possible_share(plan));
	}
	if (!rc && !(*out)->adaptive)
		notes_none(request, *out);
	return rc;
}
