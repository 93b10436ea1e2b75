/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/plan.h>

#include "cutting.h"
#include "planner.h"

#include <errno.h>
#include <string.h>

/* In the order in which AUTO tries them. */
static const struct planner_algorithm *const algorithms[] = {&planner_dfp, &planner_tree,
							     &planner_lag};

#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

const char *hd_ar_algorithm_name(enum hd_ar_algorithm algorithm)
{
	for (size_t i = 0; i < ALGORITHMS; i++)
		if (algorithms[i]->algorithm == algorithm)
			return algorithms[i]->name;
	return "auto";
}

bool hd_ar_algorithm_find(const char *name, enum hd_ar_algorithm *out)
{
	for (size_t i = 0; i < ALGORITHMS; i++)
		if (!strcmp(algorithms[i]->name, name)) {
			*out = algorithms[i]->algorithm;
			return true;
		}
	if (strcmp(name, "auto"))
		return false;
	*out = HD_AR_AUTO;
	return true;
}

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

static int prove(const struct hd_ar_request *request, struct hd_ar_plan *plan,
		 struct hd_ar_loop **loop, struct hd_error *err)
{
	const struct hd_ar_proof_request wanted = {.fabric = request->fabric,
						   .routes = request->routes,
						   .plan = plan,
						   .threads = request->threads,
						   .go_on = request->go_on};
	int rc = hd_ar_prove(&wanted, &plan->proof, loop, err);

	if (rc == -ELOOP)
		hd_error_prefix(err, rc, "the groups of algorithm %s can deadlock",
				hd_ar_algorithm_name(plan->algorithm));
	return rc;
}

/* From then on destinations with a loop lose all their groups. */
#define CUTTING_ROUNDS 8

/* Makes the plan again and again, until what is cut leaves no loop. */
static int plan_cut(const struct planner_algorithm *algorithm, struct cutting *cutting,
		    struct hd_ar_plan **plan, struct hd_error *err)
{
	for (unsigned round = 0;; round++) {
		uint64_t count;
		int rc = cutting_find(cutting, *plan, round >= CUTTING_ROUNDS, &count);
		if (rc)
			return hd_go_on_explain(rc, err);
		if (!count)
			return 0;
		hd_ar_plan_free(*plan);
		*plan = NULL;
		rc = planner_run(cutting->request, algorithm, &cutting->cuts, plan, err);
		if (rc)
			return rc;
	}
}

/* Makes a plan that can deadlock again, with smaller groups. -ELOOP: that does not help, and *loop
 * and the reason stay. */
static int replan(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		  struct hd_ar_plan **plan, struct hd_ar_loop **loop, struct hd_error *err)
{
	struct cutting cutting;
	int rc = cutting_init(&cutting, request, *plan);

	if (!rc)
		rc = plan_cut(algorithm, &cutting, plan, err);
	else if (rc != -ELOOP)
		rc = hd_go_on_explain(rc, err);
	cutting_release(&cutting);
	if (rc)
		return rc;
	hd_ar_loop_free(*loop);
	*loop = NULL;
	return prove(request, *plan, loop, err);
}

static int plan_once(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		     struct hd_ar_plan **out, struct hd_ar_loop **loop, struct hd_error *err)
{
	struct hd_ar_plan *plan = NULL;
	struct hd_ar_loop *found = NULL;
	int rc = planner_run(request, algorithm, NULL, &plan, err);

	if (!rc && !request->unproved)
		rc = prove(request, plan, &found, err);
	if (rc == -ELOOP && plan->table_count == 1)
		rc = replan(request, algorithm, &plan, &found, err);
	if (rc)
		hd_ar_plan_free(plan);
	else
		*out = plan;
	if (rc == -ELOOP && loop)
		*loop = found;
	else
		hd_ar_loop_free(found);
	return rc;
}

/* Of two plans that can be made takes the one with more adaptive entries. */
static int plan_with(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		     struct hd_ar_plan **out, struct hd_ar_loop **loop, struct hd_error *err)
{
	struct hd_ar_plan *careful = NULL, *plain = NULL;
	struct hd_ar_loop *found = NULL;
	int rc = algorithm->careful ? plan_once(request, algorithm->careful, &careful, NULL, err)
				    : -ENOTSUP;

	if (rc && rc != -ENOTSUP && rc != -ELOOP)
		return rc;
	rc = plan_once(request, algorithm, &plain, loop ? &found : NULL, err);
	if (careful && (rc == -ENOTSUP || rc == -ELOOP))
		rc = 0;
	if (!rc && careful && (!plain || careful->adaptive >= plain->adaptive)) {
		*out = careful;
		careful = NULL;
	} else if (!rc) {
		*out = plain;
		plain = NULL;
	}
	hd_ar_plan_free(careful);
	hd_ar_plan_free(plain);
	if (rc == -ELOOP && loop)
		*loop = found;
	else
		hd_ar_loop_free(found);
	return rc;
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

/* Tries one algorithm after another. The last reason remains. */
static int plan_auto(const struct hd_ar_request *request, struct hd_ar_plan **out,
		     struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = -ENOTSUP;

	for (size_t i = 0; i < ALGORITHMS && (rc == -ENOTSUP || rc == -ELOOP); i++) {
		struct hd_error reason = {""};
		bool last = i + 1 == ALGORITHMS;
		rc = plan_with(request, algorithms[i], out, last ? loop : NULL, &reason);
		if (rc && err)
			*err = reason;
		if ((rc == -ENOTSUP || rc == -ELOOP) && !last)
			hd_log(request->log, HD_LOG_INFO, "algorithm %s is not possible: %s",
			       algorithms[i]->name, reason.text);
	}
	return rc;
}

static int plan_named(const struct hd_ar_request *request, struct hd_ar_plan **out,
		      struct hd_ar_loop **loop, struct hd_error *err)
{
	for (size_t i = 0; i < ALGORITHMS; i++)
		if (algorithms[i]->algorithm == request->algorithm)
			return plan_with(request, algorithms[i], out, loop, err);
	return hd_error_set(err, -EINVAL, "no such algorithm");
}

int hd_ar_plan_new(const struct hd_ar_request *request, struct hd_ar_plan **out,
		   struct hd_ar_loop **loop, struct hd_error *err)
{
	int rc = check_shapes(request, err);

	if (!rc)
		rc = request->algorithm == HD_AR_AUTO ? plan_auto(request, out, loop, err)
						      : plan_named(request, out, loop, err);
	if (!rc)
		remark(request, *out);
	return rc;
}
