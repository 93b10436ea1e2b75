/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans on fabrics with aggregation nodes: every adapter sends, not only hosts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_testing.h"
#include "climbs.h"
#include "levels.h"

#include "cases.h"
#include "oracle_ar.h"

#define TRIALS CASES(60, 20)

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	uint64_t wide; /* entries that the definition of TREE makes adaptive */
};

static struct hd_fabric *with_aggregation(struct hd_fabric *fabric)
{
	struct hd_fabric *changed = NULL;

	CHECK(hd_fabric_add_aggregation(fabric, &changed, &err));
	hd_fabric_free(fabric);
	return changed;
}

/* A damaged tree; some of its spines reach some leaves only by a turn. */
static struct hd_fabric *damaged_tree(uint64_t *random)
{
	char settings[128];
	unsigned levels = 2 + below(random, 2);

	if (levels == 2)
		snprintf(settings, sizeof(settings), "children=2,%u parents=1,%u",
			 3 + below(random, 3), 2 + below(random, 3));
	else
		snprintf(settings, sizeof(settings), "children=2,2,%u parents=1,2,%u",
			 2 + below(random, 3), 2 + below(random, 2));
	return with_aggregation(
	    damaged(generate("xgft", settings), 4 + below(random, 16), hd_random_next(random)));
}

static struct hd_ar_request request_of(const struct trial *trial, unsigned threads)
{
	return (struct hd_ar_request){.fabric = trial->fabric,
				      .routes = trial->routes,
				      .algorithm = HD_AR_TREE,
				      .mode = HD_AR_FREE,
				      .threads = threads};
}

static void trial_begin(struct trial *trial, uint64_t number)
{
	uint64_t random = number;
	struct hd_ar_loop *loop = NULL;
	struct hd_error err = {""};

	*trial = (struct trial){.fabric = damaged_tree(&random)};
	trial->routes = route(number % 2 ? "updown" : "spf", trial->fabric);
	struct hd_ar_request request = request_of(trial, 1);
	int rc = hd_ar_plan_new(&request, &trial->plan, &loop, &err);
	/* hosts alone may have a loop */
	if (rc && rc != -ELOOP)
		fail_msg("trial %d: %s", (int)number, err.text);
	assert_int_equal(rc == -ELOOP, loop != NULL);
	hd_ar_loop_free(loop);
}

static void trial_end(struct trial *trial)
{
	hd_ar_plan_free(trial->plan);
	hd_routes_free(trial->routes);
	hd_fabric_free(trial->fabric);
}

static void assert_no_loop(const struct trial *trial)
{
	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		assert_false(oracle_ar_cycle(trial->fabric, trial->routes, NULL, trial->plan, NULL,
					     lane, &graph));
		oracle_dependencies_free(&graph);
	}
}

#define STRIDE 64u /* more switches than any trial has */

static void find_climbs(const struct trial *trial, struct hd_arena *arena, struct climbs *climbs)
{
	const struct hd_go_on always = {NULL, NULL};
	struct levels levels;
	uint8_t *up;

	assert_true(trial->fabric->switch_count <= STRIDE);
	assert_int_equal(levels_find(trial->fabric, arena, &levels, NULL), 0);
	assert_int_equal(levels_directions(&levels, arena, &up), 0);
	assert_int_equal(climbs_find(climbs, trial->fabric, up, STRIDE, 1, &always, arena), 0);
}

/* Adds the ports on paths that climb, then descend: where hosts alone would close a loop, groups have these. */
static void add_climbs(const struct trial *trial, const struct climbs *climbs, uint32_t sw,
		       uint32_t lid, struct hd_port_set *ports)
{
	const struct hd_fabric *fabric = trial->fabric;
	uint8_t plane[STRIDE], last_port;
	uint32_t to;

	if (!hd_fabric_lid_destination(fabric, lid, &to, &last_port) || to == sw)
		return;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		memset(plane, 0, sizeof(plane));
		climbs_compare(climbs, sw, link, fabric->isl_to[link], plane, 1);
		if (plane[to])
			hd_port_set_add(ports, fabric->isl_port[link]);
	}
}

/* Groups have ports of the definition, two or more, and the static one. */
static void compare_entries(struct trial *trial)
{
	struct hd_arena arena = {0};
	struct climbs climbs;

	find_climbs(trial, &arena, &climbs);
	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < trial->fabric->lid_count; lid++) {
			uint32_t group = hd_ar_plan_group(trial->plan, sw, 0, lid);
			struct hd_port_set wide =
			    oracle_ar_ports(trial->fabric, trial->routes, HD_AR_TREE, sw, lid);
			trial->wide += !hd_port_set_is_empty(&wide);
			if (group == HD_AR_NO_GROUP)
				continue;
			const struct hd_port_set *ports =
			    &trial->plan->switches[sw].groups[group].ports[0];
			add_climbs(trial, &climbs, sw, lid, &wide);
			hd_port_set_intersect(&wide, ports);
			assert_true(hd_port_set_equal(&wide, ports));
			assert_true(hd_port_set_count(ports) > 1);
			assert_true(hd_port_set_has(ports, hd_routes_port(trial->routes, sw, lid)));
		}
	hd_arena_release(&arena);
}

/* Property: no plan has a credit loop of packets that any adapter sends; and groups are narrowed for
 * that, not given up. */
static void all_senders_count(void **state)
{
	unsigned planned = 0, narrowed = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct trial trial;
		trial_begin(&trial, number);
		if (trial.plan) {
			assert_no_loop(&trial);
			compare_entries(&trial);
			assert_true(trial.plan->adaptive > 0);
			planned++;
			narrowed += trial.plan->adaptive < trial.wide;
		}
		trial_end(&trial);
	}
	print_message("%u of %d planned, %u narrowed\n", planned, TRIALS, narrowed);
	assert_true(planned > TRIALS / 2);
	assert_true(narrowed > TRIALS / 10);
}

/* Property: what is narrowed does not depend on the number of threads. */
static void threads_do_not_matter(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < TRIALS / 4; number++) {
		struct trial trial;
		struct hd_ar_plan *other = NULL;
		trial_begin(&trial, number);
		struct hd_ar_request request = request_of(&trial, 3);
		int rc = hd_ar_plan_new(&request, &other, NULL, NULL);
		assert_int_equal(!rc, trial.plan != NULL);
		if (!rc)
			assert_same_plan(trial.plan, other, true);
		hd_ar_plan_free(other);
		trial_end(&trial);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_senders_count),
	    cmocka_unit_test(threads_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
