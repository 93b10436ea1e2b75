/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/plan.h>

#include "algorithms.h"
#include "attempts.h"
#include "notes.h"

#include <errno.h>

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

static void remark(const struct hd_ar_request *request, const struct hd_ar_plan *plan)
{
	if (plan->full)
		hd_log(request->log, HD_LOG_WARNING,
		       "%u switches have too few groups: %.1f%% of the entries are adaptive, "
		       "%.1f%% could be",
		       plan->full, 100 * hd_ar_plan_share(plan),
		       100 * hd_ar_plan_possible_share(plan));
}

/* One algorithm, and why it does not make all entries adaptive that it could. */
static int plan_with(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		     struct hd_ar_plan **out, struct attempts_result *result,
		     struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = attempts_make(request, algorithm, out, result, loop, err);

	if (is_refused(rc))
		notes_refused(request, algorithm->algorithm, rc, err);
	else if (!rc && result->wide > (*out)->adaptive)
		notes_in_part(request, *out, result->wide - (*out)->adaptive, &result->loop);
	return rc;
}

/* Takes the next algorithm in place of a plan that has much left out, if more entries are adaptive by it. */
static int compare_next(const struct hd_ar_request *request,
			const struct planner_algorithm *algorithm, struct hd_ar_plan **plan)
{
	struct hd_ar_plan *other = NULL;
	struct attempts_result result;
	int rc = attempts_make(request, algorithm, &other, &result, NULL, NULL);

	if (!rc && other->adaptive >= (*plan)->adaptive) {
		struct hd_ar_plan *former = *plan;
		*plan = other;
		other = former;
		notes_replaced(request, other, *plan);
	}
	hd_ar_plan_free(other);
	return is_refused(rc) ? 0 : rc;
}

/* Tries one algorithm after another. The last reason remains. */
static int plan_auto(const struct hd_ar_request *request, struct hd_ar_plan **out,
		     struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = -ENOTSUP;

	for (size_t i = 0; i < ALGORITHMS_COUNT && is_refused(rc); i++) {
		struct hd_error reason = {""};
		struct attempts_result result;
		bool last = i + 1 == ALGORITHMS_COUNT;
		rc = plan_with(request, algorithms_all[i], out, &result, last ? loop : NULL,
			       &reason);
		if (!rc && result.in_part && !last)
			rc = compare_next(request, algorithms_all[i + 1], out);
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

	notes_begin(request);
	if (!rc)
		rc = request->algorithm == HD_AR_AUTO ? plan_auto(request, out, loop, err)
						      : plan_named(request, out, loop, err);
	if (!rc)
		remark(request, *out);
	if (!rc && !(*out)->adaptive)
		notes_none(request, *out);
	return rc;
}
