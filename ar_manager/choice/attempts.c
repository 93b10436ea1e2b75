/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plan of one algorithm that has no credit loop. plan.c calls attempts_make() for each algorithm that a request
 * allows.
 *
 * In this order: the plan as it is; its careful variant; if groups could deadlock, the links that cutting.h finds
 * are left out, and the plan is made again until no loop is left; then the variants whose paths climb, then
 * descend. Of two plans without a loop the one with more adaptive entries is kept. A plan that is handed out is
 * proved.
 */
#include "attempts.h"

#include "cutting.h"
#include "levels.h"

#include <errno.h>
#include <string.h>

/* ---- algorithms ---- */

const struct planner_algorithm *const algorithms_all[ALGORITHMS_COUNT] = {
    &planner_dfp, &planner_tree, &planner_lag};

const char *hd_ar_algorithm_name(enum hd_ar_algorithm algorithm)
{
	for (size_t i = 0; i < ALGORITHMS_COUNT; i++)
		if (algorithms_all[i]->algorithm == algorithm)
			return algorithms_all[i]->name;
	return "auto";
}

bool hd_ar_algorithm_find(const char *name, enum hd_ar_algorithm *out)
{
	for (size_t i = 0; i < ALGORITHMS_COUNT; i++)
		if (!strcmp(algorithms_all[i]->name, name)) {
			*out = algorithms_all[i]->algorithm;
			return true;
		}
	if (strcmp(name, "auto"))
		return false;
	*out = HD_AR_AUTO;
	return true;
}

/* ---- attempts ---- */

/* ---- one variant ---- */

/* A plan that was tried. Zero-initialise before use. */
struct attempt {
	struct hd_ar_plan *plan;
	struct hd_ar_loop *loop; /* of a plan that is refused */
	uint64_t wide; /* adaptive entries before ports were left out */
	struct hd_error err;
	struct hd_error first; /* why ports had to be left out; "" if none had */
};

static int attempts_prove(const struct hd_ar_request *request, struct attempt *attempt)
{
	struct hd_ar_plan *plan = attempt->plan;
	const struct hd_ar_proof_request wanted = {.fabric = request->fabric,
						   .routes = request->routes,
						   .plan = plan,
						   .threads = request->threads,
						   .go_on = request->go_on};
	int rc = hd_ar_prove(&wanted, &plan->proof, &attempt->loop, &attempt->err);

	if (rc == -ELOOP && !*attempt->first.text)
		attempt->first = attempt->err;
	if (rc == -ELOOP)
		hd_error_prefix(&attempt->err, rc, "the groups of algorithm %s can deadlock",
				hd_ar_algorithm_name(plan->algorithm));
	return rc;
}

/* From then on destinations with a loop lose all their groups. */
#define CUTTING_ROUNDS 8

/* Makes the plan again and again, until what is cut leaves no loop. */
static int plan_cut(const struct planner_algorithm *algorithm, struct cutting *cutting,
		    struct attempt *attempt)
{
	for (unsigned round = 0;; round++) {
		uint64_t count;
		int rc = cutting_find(cutting, attempt->plan, round >= CUTTING_ROUNDS, &count);
		if (rc)
			return hd_go_on_explain(rc, &attempt->err);
		if (!count)
			return 0;
		hd_ar_plan_free(attempt->plan);
		attempt->plan = NULL;
		rc = planner_run(cutting->request, algorithm, &cutting->cuts, &attempt->plan,
				 &attempt->err);
		if (rc)
			return rc;
	}
}

/* Makes a plan that can deadlock again, with smaller groups. -ELOOP: that does not help, and the loop
 * and the reason stay. */
static int replan(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		  const uint8_t *order, struct attempt *attempt)
{
	struct cutting cutting;
	int rc = cutting_init(&cutting, request, attempt->plan, order);

	if (!rc)
		rc = plan_cut(algorithm, &cutting, attempt);
	else if (rc != -ELOOP)
		rc = hd_go_on_explain(rc, &attempt->err);
	cutting_release(&cutting);
	if (rc)
		return rc;
	hd_ar_loop_free(attempt->loop);
	attempt->loop = NULL;
	return attempts_prove(request, attempt);
}

static void attempts_release(struct attempt *attempt)
{
	hd_ar_plan_free(attempt->plan);
	hd_ar_loop_free(attempt->loop);
	attempt->plan = NULL;
	attempt->loop = NULL;
}

/* order[isl_count]: hosts lose ports, too, if they alone have a loop, see cutting.h; NULL: the plan is refused
 * then. */
static int try(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
	       const uint8_t *order, struct attempt *attempt)
{
	int rc = planner_run(request, algorithm, NULL, &attempt->plan, &attempt->err);

	if (!rc) {
		attempt->wide = attempt->plan->adaptive;
		if (!request->unproved)
			rc = attempts_prove(request, attempt);
	}
	if (rc == -ELOOP && attempt->plan->table_count == 1)
		rc = replan(request, algorithm, order, attempt);
	if (rc) {
		hd_ar_plan_free(attempt->plan);
		attempt->plan = NULL;
	}
	return rc;
}

static bool is_refused(int rc)
{
	return rc == -ENOTSUP || rc == -ELOOP;
}

/* ---- variants ---- */

/* Of two plans that can be made takes the one with more adaptive entries; of equal ones that with stray cables left
 * out. */
static int try_both(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		    struct attempt *best, struct attempts_result *result)
{
	struct attempt careful = {.plan = NULL};
	int rc = algorithm->careful ? try(request, algorithm->careful, NULL, &careful) : -ENOTSUP;

	if (rc && !is_refused(rc)) {
		*best = careful;
		return rc;
	}
	hd_ar_loop_free(careful.loop);
	careful.loop = NULL;
	rc = try(request, algorithm, NULL, best);
	result->wide = best->wide;
	result->loop = best->first;
	result->refused = rc == -ELOOP;
	if (rc && !is_refused(rc)) {
		attempts_release(&careful);
		return rc;
	}
	if (careful.plan && (!best->plan || careful.plan->adaptive >= best->plan->adaptive)) {
		attempts_release(best);
		*best = careful;
		return 0;
	}
	attempts_release(&careful);
	return rc;
}

/* ---- fabrics that are trees in part ---- */

#define FULL_SHARE(entries)                                                                        \
	((entries) / 10 * 9) /* with so many entries no other plan is looked for */

struct search {
	const struct hd_ar_request *request;
	struct attempt *best;
	struct attempts_result *result;
};

static bool is_full(const struct search *search)
{
	return search->best->plan &&
	       search->best->plan->adaptive >= FULL_SHARE(search->result->wide);
}

/* Takes the plan of a variant if more of its entries are adaptive. */
static int try_also(struct search *search, const struct planner_algorithm *variant,
		    const uint8_t *order)
{
	struct attempt other = {.plan = NULL};

	if (is_full(search))
		return 0;
	int rc = try(search->request, variant, order, &other);
	if (rc && !is_refused(rc)) {
		search->best->err = other.err;
	} else if (!rc &&
		   other.plan->adaptive > (search->best->plan ? search->best->plan->adaptive : 0)) {
		attempts_release(search->best);
		*search->best = other;
		other = (struct attempt){.plan = NULL};
		search->result->in_part = true;
	}
	attempts_release(&other);
	return is_refused(rc) ? 0 : rc;
}

static int search_more(struct search *search, const struct planner_algorithm *algorithm,
		       struct hd_arena *arena)
{
	struct hd_error reason;
	struct levels levels;
	int rc = levels_find(search->request->fabric, arena, &levels, &reason);

	if (rc == -ENOMEM)
		search->best->err = reason;
	if (rc)
		return (is_refused(rc) ? 0 : rc);
	/* If cables are stray, also with hosts that pass them last. */
	uint8_t *up, *order, *crossing;
	if (levels_directions(&levels, arena, &up) || levels_order(&levels, up, arena, &order) ||
	    levels_order_crossing(&levels, arena, &crossing))
		return hd_error_no_memory(&search->best->err);
	rc = try_also(search, algorithm->climbing, order);
	if (!rc)
		rc = try_also(search, algorithm->united, order);
	return rc || !levels.strays ? rc : try_also(search, algorithm, crossing);
}

/* Looks for more where the definition is refused, and much is left out or nothing has come of it. */
static int try_in_part(const struct hd_ar_request *request,
		       const struct planner_algorithm *algorithm, struct attempt *best,
		       struct attempts_result *result, int rc)
{
	struct search search = {.request = request, .best = best, .result = result};
	struct hd_arena arena = {0};

	if ((rc && !is_refused(rc)) || !algorithm->climbing || !result->refused)
		return rc;
	int failed = is_full(&search) ? 0 : search_more(&search, algorithm, &arena);
	if (failed)
		attempts_release(best);
	hd_arena_release(&arena);
	return failed ? failed : best->plan ? 0 : rc;
}

int attempts_make(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		  struct hd_ar_plan **out, struct attempts_result *result, struct hd_ar_loop **loop,
		  struct hd_error *err)
{
	struct attempt best = {.plan = NULL};

	*result = (struct attempts_result){.wide = 0};
	int rc = try_both(request, algorithm, &best, result);
	rc = try_in_part(request, algorithm, &best, result, rc);
	if (!rc) {
		*out = best.plan;
		best.plan = NULL;
	} else if (err) {
		*err = best.err;
	}
	if (rc == -ELOOP && loop) {
		*loop = best.loop;
		best.loop = NULL;
	}
	attempts_release(&best);
	return rc;
}
